#include "tuning-db/sqlite.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstring>

namespace sous::tuning_db {
namespace {

constexpr int busy_milliseconds = 5000, patient_milliseconds = 60'000;

// Budgets, since the file may come from anyone. Interior pages that all lead to the same page make of a small file a
// table of any number of rows: each statement may take this many steps of SQLite's machine (a row of the largest query
// takes about 100). No value is longer than a nest may be as JSON, and a little.
constexpr std::int64_t most_instructions = 30'000'000;
constexpr int instructions_between_looks = 10'000;
constexpr std::size_t most_idle = 8;  // statements
constexpr int longest_value = 17 << 20;
constexpr std::size_t most_bytes = std::size_t{1} << 30;  // that one statement reads

// Of the outermost statement that runs in this thread; SQLite counts per connection and resets nothing.
thread_local int statements_alive = 0;
thread_local std::int64_t looks = 0;
thread_local std::size_t bytes_read = 0;

int over_budget(void*) { return ++looks > most_instructions / instructions_between_looks ? 1 : 0; }

// What went wrong in the last call. Who waited in vain for others who write may come again.
Error error_of(sqlite3* db) {
  const bool busy = sqlite3_errcode(db) == SQLITE_BUSY;
  return {busy ? "db.busy" : "db.io",
          (busy ? "others have what is to be written: " : "") + std::string(sqlite3_errmsg(db)), ""};
}

// One statement: SQLite's own, with the budgets.
class SqliteStatement final : public DriverStatement {
 public:
  SqliteStatement(SqliteConnection& connection, const std::string& sql)
      : connection_(connection), sql_(sql), db_(connection.raw()) {
    if (statements_alive++ == 0) looks = 0, bytes_read = 0;
    statement_ = connection.take(sql);
    broken_ = statement_ == nullptr;
  }
  ~SqliteStatement() override {
    connection_.give_back(sql_, statement_);
    --statements_alive;
  }

  void bind(std::string_view text) override {
    check(sqlite3_bind_text64(statement_, next_++, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  }
  void bind(double value) override { check(sqlite3_bind_double(statement_, next_++, value)); }
  void bind(std::int64_t value) override { check(sqlite3_bind_int64(statement_, next_++, value)); }
  void bind(const FeatureVector& vector) override {
    check(sqlite3_bind_blob64(statement_, next_++, vector.data(), vector.size() * sizeof(float), SQLITE_TRANSIENT));
  }

  Result<bool> step() override {
    const auto over = [] { return fail("db.budget", "a query takes more than one on a sound database would"); };
    if (bytes_read > most_bytes) return over();
    const int code = broken_ ? SQLITE_ERROR : sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    if (sqlite3_errcode(db_) == SQLITE_INTERRUPT) return over();
    if (sqlite3_errcode(db_) == SQLITE_CORRUPT)
      return fail("db.corrupt", "the database is damaged inside; it is left as it is",
                  sqlite3_db_filename(db_, "main"));
    return std::unexpected(error_of(db_));
  }
  std::int64_t changed() const override { return sqlite3_changes64(db_); }

  std::string text(int column) const override {
    const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    const auto bytes = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
    bytes_read += bytes;
    return data ? std::string(data, bytes) : "";
  }
  double real(int column) const override { return sqlite3_column_double(statement_, column); }
  std::int64_t integer(int column) const override { return sqlite3_column_int64(statement_, column); }
  FeatureVector vector(int column) const override {
    const auto bytes = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
    bytes_read += bytes;
    FeatureVector result(bytes / sizeof(float));
    if (!result.empty())
      std::memcpy(result.data(), sqlite3_column_blob(statement_, column), result.size() * sizeof(float));
    return result;
  }

 private:
  void check(int code) {
    if (code != SQLITE_OK) broken_ = true;
  }
  SqliteConnection& connection_;
  const std::string sql_;
  sqlite3* db_;
  sqlite3_stmt* statement_ = nullptr;
  int next_ = 1;
  bool broken_ = false;
};

}  // namespace

std::unique_ptr<DriverStatement> SqliteConnection::prepare(const std::string& sql, Rows) {
  return std::make_unique<SqliteStatement>(*this, sql);
}

SqliteConnection::~SqliteConnection() {
  for (const auto& one : idle_) sqlite3_finalize(one.second);
  sqlite3_close_v2(db_);
}

sqlite3_stmt* SqliteConnection::take(const std::string& sql) {
  const auto known = std::ranges::find(idle_, sql, [](const auto& one) -> const std::string& { return one.first; });
  sqlite3_stmt* statement = nullptr;
  if (known != idle_.end()) {
    statement = known->second;
    idle_.erase(known);
  } else if (sqlite3_prepare_v2(db_, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
    return nullptr;
  }
  return statement;
}

void SqliteConnection::give_back(const std::string& sql, sqlite3_stmt* statement) {
  if (statement == nullptr) return;
  // What went wrong the last time is said once more here, and means nothing.
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
  idle_.emplace_back(sql, statement);
  if (idle_.size() <= most_idle) return;
  sqlite3_finalize(idle_.front().second);
  idle_.erase(idle_.begin());
}

Result<void> SqliteConnection::execute(const std::string& sql) {
  if (statements_alive == 0) looks = 0;
  if (sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return std::unexpected(error_of(db_));
}

void SqliteConnection::be_patient(bool patient) {
  sqlite3_busy_timeout(db_, patient ? patient_milliseconds : busy_milliseconds);
}

void SqliteConnection::lift_budgets() { sqlite3_progress_handler(db_, 0, nullptr, nullptr); }

Result<std::int64_t> SqliteConnection::bytes() {
  return number(*this, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size");
}

Result<std::int64_t> SqliteConnection::clock() {
  using namespace std::chrono;
  return floor<seconds>(system_clock::now()).time_since_epoch().count();
}

Result<void> SqliteConnection::wait_for_change(std::chrono::milliseconds most, int wake) {
  pollfd file{wake, POLLIN, 0};
  ::poll(&file, 1, static_cast<int>(most.count()));
  return {};
}

Result<std::string> SqliteConnection::other_changes() {
  TRY(const std::int64_t others, number(*this, "PRAGMA data_version"));
  return std::to_string(others) + "." + std::to_string(sqlite3_total_changes64(db_));
}

Result<std::vector<std::string>> SqliteConnection::damage() {
  std::vector<std::string> found;
  for (const char* check : {"PRAGMA integrity_check", "PRAGMA foreign_key_check"}) {
    Statement rows(*this, check);
    while (true) {
      TRY(const bool row, rows.step());
      if (!row) break;
      if (rows.text(0) != "ok") found.push_back(rows.text(0));
    }
  }
  return found;
}

Result<std::unique_ptr<SqliteConnection>> SqliteConnection::open(const std::filesystem::path& path, int flags) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &raw, flags, nullptr);
  std::unique_ptr<SqliteConnection> db(new SqliteConnection(raw));
  if (code != SQLITE_OK) return fail("db.open", raw ? sqlite3_errmsg(raw) : "out of memory", path.string());
  sqlite3_busy_timeout(raw, busy_milliseconds);
  sqlite3_extended_result_codes(raw, 0);
  // What a file may bring besides data is off: views and triggers, functions in its schema that have effects, editing
  // the schema as a table. The checks of cells cost little.
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_limit(raw, SQLITE_LIMIT_LENGTH, longest_value);
  sqlite3_limit(raw, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_progress_handler(raw, instructions_between_looks, over_budget, nullptr);
  TRY_VOID(db->execute("PRAGMA cell_size_check = ON"));
  return db;
}

}  // namespace sous::tuning_db
