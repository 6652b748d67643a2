// PostgreSQL as the store uses it: the store of a team's servers, at a URL. Its tables lie in a schema of their own
// ("sous") of that database. A connection that was lost is made again by whoever asks next, outside of a transaction;
// no function waits for longer than ten seconds for an answer, or than four for a PostgreSQL that hangs, unless it is
// patient.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuning-db/connection.h"

struct pg_conn;
struct pg_result;

namespace sous::tuning_db {

class PostgresConnection final : public Connection {
 public:
  // Connects when it is first asked. `checked`: only to a database of the newest schema. Errors of every function:
  // db.driver (no libpq), db.unreachable, db.busy, db.io; where it is checked db.foreign, db.schema-older,
  // db.schema-newer.
  explicit PostgresConnection(std::string url, bool checked = true) : url_(std::move(url)), checked_(checked) {}
  ~PostgresConnection() override { drop(); }

  std::unique_ptr<DriverStatement> prepare(const std::string& sql, Rows rows) override;
  Result<void> execute(const std::string& sql) override;
  Result<void> begin(Turn turn) override;
  Result<void> commit() override;
  void rollback() override;
  bool is_read_only() override;
  Result<std::int64_t> schema_version() override;
  Result<std::int64_t> bytes() override;
  Result<std::int64_t> clock() override;
  Result<void> make_durable() override;
  void be_patient(bool patient) override { patient_ = patient; }
  Result<void> announce_change() override;
  Result<void> wait_for_change(std::chrono::milliseconds most, int wake) override;
  Result<std::string> other_changes() override { return std::string(); }
  const char* lock_free_rows() const override { return "FOR NO KEY UPDATE SKIP LOCKED"; }
  const char* lock_rows() const override { return "FOR NO KEY UPDATE"; }
  std::string joined(const std::string& column) const override { return "string_agg(" + column + ", ',')"; }
  Result<std::vector<std::string>> damage() override { return std::vector<std::string>(); }

  struct Parameter {
    std::string bytes;
    bool is_binary = false;
  };
  using Reply = std::shared_ptr<pg_result>;
  // What a statement of the driver answers; its parameters as $1 ….
  Result<Reply> ask(const std::string& sql, const std::vector<Parameter>& parameters);

  // The rows of a statement in pieces, as the transaction sees them when it begins; others may be asked in between.
  struct Cursor {
    std::string name;
    std::int64_t transaction = 0;
  };
  // Nothing: there is no transaction, and so no cursor.
  Result<std::optional<Cursor>> open_cursor(const std::string& sql, const std::vector<Parameter>& parameters);
  static constexpr int rows_of_a_piece = 500;
  Result<Reply> next_piece(const Cursor& cursor);
  void close(const Cursor& cursor);

 private:
  Result<void> ready();
  Result<void> connect();
  Result<void> check_schema();
  void drop();
  bool lives() const;
  bool wait_for_answer(short events, std::chrono::steady_clock::time_point end);
  Result<Reply> finish_exchange(bool sent);
  Result<Reply> try_once(const std::string& sql, const std::vector<Parameter>& parameters);
  Result<Reply> plain(const std::string& sql);
  std::unexpected<Error> lost(std::string why);
  std::unexpected<Error> hangs();

  const std::string url_;
  const bool checked_;
  pg_conn* connection_ = nullptr;
  std::map<std::string, std::string> prepared_;  // names by text
  bool in_transaction_ = false, patient_ = false, durable_ = false, listens_ = false;
  std::int64_t transactions_ = 0;  // that were begun
  int cursors_ = 0;                // that are open
  std::optional<Error> failed_;    // the last try to connect
  std::chrono::steady_clock::time_point failed_at_;
};

}  // namespace sous::tuning_db
