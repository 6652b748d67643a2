#include "tuning-db/sqlite.h"

#include <cstring>

namespace sous::tuning_db {
namespace {

constexpr int busy_milliseconds = 5000, patient_milliseconds = 60'000;

// Budgets, since the file may come from anyone. Interior pages that all lead to the same page make of a small file a
// table of any number of rows: each statement may take this many steps of SQLite's machine (a row of the largest query
// takes about 100). No value is longer than a nest may be as JSON, and a little.
constexpr std::int64_t most_instructions = 30'000'000;
constexpr int instructions_between_looks = 10'000;
constexpr int longest_value = 17 << 20;
constexpr std::size_t most_bytes = std::size_t{1} << 30;  // that one statement reads

// Of the outermost statement that runs in this thread; SQLite counts per connection and resets nothing.
thread_local int statements_alive = 0;
thread_local std::int64_t looks = 0;
thread_local std::size_t bytes_read = 0;

int over_budget(void*) { return ++looks > most_instructions / instructions_between_looks ? 1 : 0; }

}  // namespace

Statement::Statement(sqlite3* db, const char* sql) : db_(db) {
  if (statements_alive++ == 0) looks = 0, bytes_read = 0;
  if (sqlite3_prepare_v2(db, sql, -1, &statement_, nullptr) != SQLITE_OK) broken_ = true;
}

Statement::~Statement() {
  sqlite3_finalize(statement_);
  --statements_alive;
}

Statement& Statement::bind(const std::string& text) {
  check(sqlite3_bind_text64(statement_, next_++, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}
Statement& Statement::bind(double value) {
  check(sqlite3_bind_double(statement_, next_++, value));
  return *this;
}
Statement& Statement::bind(std::int64_t value) {
  check(sqlite3_bind_int64(statement_, next_++, value));
  return *this;
}
Statement& Statement::bind(const FeatureVector& vector) {
  check(sqlite3_bind_blob64(statement_, next_++, vector.data(), vector.size() * sizeof(float), SQLITE_TRANSIENT));
  return *this;
}

Result<bool> Statement::step() {
  const auto over = [] { return fail("db.budget", "a query takes more than one on a sound database would"); };
  if (bytes_read > most_bytes) return over();
  const int code = broken_ ? SQLITE_ERROR : sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  if (sqlite3_errcode(db_) == SQLITE_INTERRUPT) return over();
  if (sqlite3_errcode(db_) == SQLITE_CORRUPT)
    return fail("db.corrupt", "the database is damaged inside; it is left as it is", sqlite3_db_filename(db_, "main"));
  return fail("db.io", sqlite3_errmsg(db_));
}

Result<void> Statement::run() {
  TRY([[maybe_unused]] const bool row, step());
  return {};
}

std::string Statement::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  const auto bytes = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  bytes_read += bytes;
  return data ? std::string(data, bytes) : "";
}

FeatureVector Statement::vector(int column) const {
  const auto bytes = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  bytes_read += bytes;
  FeatureVector result(bytes / sizeof(float));
  if (!result.empty())
    std::memcpy(result.data(), sqlite3_column_blob(statement_, column), result.size() * sizeof(float));
  return result;
}

Result<void> execute(sqlite3* db, const char* sql) {
  if (statements_alive == 0) looks = 0;
  if (sqlite3_exec(db, sql, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return fail("db.io", sqlite3_errmsg(db));
}

Result<std::int64_t> number(sqlite3* db, const char* sql) {
  Statement statement(db, sql);
  TRY(const bool row, statement.step());
  return row ? statement.integer(0) : 0;
}

PatientConnection::PatientConnection(sqlite3* db) : db_(db) { sqlite3_busy_timeout(db_, patient_milliseconds); }
PatientConnection::~PatientConnection() { sqlite3_busy_timeout(db_, busy_milliseconds); }

Result<Handle> open_file(const std::filesystem::path& path, int flags) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &raw, flags, nullptr);
  Handle db(raw);
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
  TRY_VOID(execute(raw, "PRAGMA cell_size_check = ON"));
  return db;
}

}  // namespace sous::tuning_db
