// SQLite as the store uses it: a file, which may come from anyone. So there are budgets, and neither its schema nor its
// size can do anything.
#pragma once

#include <sqlite3.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tuning-db/connection.h"

namespace sous::tuning_db {

class SqliteConnection final : public Connection {
 public:
  // No views, triggers or functions with effects, no statement beyond the budget. `flags`: of sqlite3_open_v2. Errors:
  // db.open, db.io.
  static Result<std::unique_ptr<SqliteConnection>> open(const std::filesystem::path& path, int flags);
  ~SqliteConnection() override;

  sqlite3* raw() const { return db_; }

  // A statement that nobody uses, null where it is none that SQLite understands; and what is used no more. The last few
  // are kept: a query asks for many rows one by one, and parsing what it asks took half of its time.
  sqlite3_stmt* take(const std::string& sql);
  void give_back(const std::string& sql, sqlite3_stmt* statement);

  // All of it is looked at, however large it is.
  void lift_budgets();

  std::unique_ptr<DriverStatement> prepare(const std::string& sql, Rows rows) override;
  Result<void> execute(const std::string& sql) override;
  Result<void> begin(Turn turn) override { return execute(turn == Turn::read ? "BEGIN" : "BEGIN IMMEDIATE"); }
  Result<void> commit() override { return execute("COMMIT"); }
  void rollback() override { sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr); }
  bool is_read_only() override { return sqlite3_db_readonly(db_, "main") == 1; }
  Result<std::int64_t> schema_version() override { return number(*this, "PRAGMA user_version"); }
  Result<std::int64_t> bytes() override;
  Result<std::int64_t> clock() override;
  Result<void> make_durable() override { return execute("PRAGMA synchronous = FULL"); }
  void be_patient(bool patient) override;
  // Who waits looks into the file.
  Result<void> announce_change() override { return {}; }
  Result<void> wait_for_change(std::chrono::milliseconds most, int wake) override;
  Result<std::string> other_changes() override;
  // A transaction that writes has the whole file.
  const char* lock_free_rows() const override { return ""; }
  const char* lock_rows() const override { return ""; }
  std::string joined(const std::string& column) const override { return "group_concat(" + column + ")"; }
  Result<std::vector<std::string>> damage() override;

 private:
  explicit SqliteConnection(sqlite3* db) : db_(db) {}
  sqlite3* db_;
  std::vector<std::pair<std::string, sqlite3_stmt*>> idle_;  // the one that was used last comes last
};

}  // namespace sous::tuning_db
