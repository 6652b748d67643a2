// SQLite as the store uses it: statements that return Results, transactions that roll back, and budgets, since a file
// may come from anyone.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "sdfg/result.h"
#include "tuning-db/features.h"

namespace sous::tuning_db {

struct Close {
  void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
};
using Handle = std::unique_ptr<sqlite3, Close>;

// One statement: bound left to right, read column by column.
class Statement {
 public:
  Statement(sqlite3* db, const char* sql);
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();

  Statement& bind(const std::string& text);
  Statement& bind(std::string_view text) { return bind(std::string(text)); }
  Statement& bind(const char* text) { return bind(std::string(text)); }
  Statement& bind(double value);
  Statement& bind(int value) { return bind(std::int64_t{value}); }
  Statement& bind(std::int64_t value);
  Statement& bind(const FeatureVector& vector);

  // Whether there is a (further) row. Errors: db.budget, db.corrupt, db.io.
  Result<bool> step();
  Result<void> run();

  std::string text(int column) const;
  double real(int column) const { return sqlite3_column_double(statement_, column); }
  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  FeatureVector vector(int column) const;

 private:
  void check(int code) {
    if (code != SQLITE_OK) broken_ = true;
  }
  sqlite3* db_;
  sqlite3_stmt* statement_ = nullptr;
  int next_ = 1;
  bool broken_ = false;
};

Result<void> execute(sqlite3* db, const char* sql);
// The first column of the first row, which is a number; 0 without rows.
Result<std::int64_t> number(sqlite3* db, const char* sql);

// Rolls back unless committed.
class Transaction {
 public:
  static Result<Transaction> begin(sqlite3* db, const char* how = "BEGIN IMMEDIATE") {
    TRY_VOID(execute(db, how));
    return Transaction(db);
  }
  Transaction(Transaction&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction() {
    if (db_) sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
  }
  Result<void> commit() {
    TRY_VOID(execute(db_, "COMMIT"));
    db_ = nullptr;
    return {};
  }

 private:
  explicit Transaction(sqlite3* db) : db_(db) {}
  sqlite3* db_;
};

// Waits a minute for the file, not seconds, as long as this lives.
class PatientConnection {
 public:
  explicit PatientConnection(sqlite3* db);
  PatientConnection(const PatientConnection&) = delete;
  PatientConnection& operator=(const PatientConnection&) = delete;
  ~PatientConnection();

 private:
  sqlite3* db_;
};

// A connection on which neither the schema of the file nor its size can do anything: no views, triggers or functions
// with effects, no statement beyond the budget. `flags`: of sqlite3_open_v2. Errors: db.open, db.io.
Result<Handle> open_file(const std::filesystem::path& path, int flags);

}  // namespace sous::tuning_db
