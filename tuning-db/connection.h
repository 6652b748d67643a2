// A database as the store uses it, whichever it is: statements that return Results, transactions that roll back. SQL is
// written once, for all of them, as standard as SQLite and PostgreSQL agree on; what they do not agree on is a function
// here. Two drivers: tuning-db/sqlite.h, tuning-db/postgres.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sdfg/result.h"
#include "tuning-db/features.h"

namespace sous::tuning_db {

// What a transaction keeps others from.
enum class Turn : std::uint8_t {
  read,   // nothing: it sees one moment
  write,  // changing entries or what is wanted: one at a time does, over all processes and machines
  rows,   // changing the rows that it changes or locks (in SQLite, as `write`)
};

// How many rows a statement may have.
enum class Rows : std::uint8_t {
  few,   // they may be held in memory, all of them
  many,  // in a transaction they come in pieces, however many there are
};

// A statement of a driver.
class DriverStatement {
 public:
  virtual ~DriverStatement() = default;
  virtual void bind(std::string_view text) = 0;
  virtual void bind(double value) = 0;
  virtual void bind(std::int64_t value) = 0;
  virtual void bind(const FeatureVector& vector) = 0;
  virtual Result<bool> step() = 0;
  virtual std::int64_t changed() const = 0;
  virtual std::string text(int column) const = 0;
  virtual double real(int column) const = 0;
  virtual std::int64_t integer(int column) const = 0;
  virtual FeatureVector vector(int column) const = 0;
};

// One of them at a time uses a connection, unless it says otherwise.
class Connection {
 public:
  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  virtual ~Connection() = default;

  virtual std::unique_ptr<DriverStatement> prepare(const std::string& sql, Rows rows) = 0;
  // One or several statements without parameters or results.
  virtual Result<void> execute(const std::string& sql) = 0;
  virtual Result<void> begin(Turn turn) = 0;
  virtual Result<void> commit() = 0;
  virtual void rollback() = 0;

  virtual bool is_read_only() = 0;
  virtual Result<std::int64_t> schema_version() = 0;
  virtual Result<std::int64_t> bytes() = 0;
  // Seconds since 1970, by the clock that all who use the database have in common.
  virtual Result<std::int64_t> clock() = 0;
  // Whatever becomes of the machine, what is committed from now on is on the disk.
  virtual Result<void> make_durable() = 0;
  // Waits a minute for its turn, and for an answer, not seconds.
  virtual void be_patient(bool patient) = 0;
  // Tells all who wait for it, when the transaction is committed, that entries changed.
  virtual Result<void> announce_change() = 0;
  // Waits until others may have changed entries, `most` is over, or `wake` can be read: not longer than it takes to be
  // told, where one is told. Error: db.unreachable; of a database that hangs it is noticed here, within seconds.
  virtual Result<void> wait_for_change(std::chrono::milliseconds most, int wake) = 0;
  // What changes with every change of the entries that announce_change does not speak of: of a file that an earlier
  // version made.
  virtual Result<std::string> other_changes() = 0;
  // Behind a SELECT of one table's rows: whoever has the transaction's turn locks them; those that another transaction
  // has locked are left out, or waited for.
  virtual const char* lock_free_rows() const = 0;
  virtual const char* lock_rows() const = 0;
  // The values of a column, in order of the rows, with commas.
  virtual std::string joined(const std::string& column) const = 0;
  // Damage that it finds by itself.
  virtual Result<std::vector<std::string>> damage() = 0;
};

// One statement: bound left to right ("?"; "?1" … by number), read column by column.
class Statement {
 public:
  Statement(Connection& db, const std::string& sql, Rows rows = Rows::few) : statement_(db.prepare(sql, rows)) {}

  Statement& bind(std::string_view text) { return statement_->bind(text), *this; }
  Statement& bind(const std::string& text) { return bind(std::string_view(text)); }
  Statement& bind(const char* text) { return bind(std::string_view(text)); }
  Statement& bind(double value) { return statement_->bind(value), *this; }
  Statement& bind(int value) { return bind(std::int64_t{value}); }
  Statement& bind(std::int64_t value) { return statement_->bind(value), *this; }
  Statement& bind(const FeatureVector& vector) { return statement_->bind(vector), *this; }

  // Whether there is a (further) row. Errors: db.budget, db.corrupt, db.io, db.busy, db.unreachable.
  Result<bool> step() { return statement_->step(); }
  // How many rows it changed.
  Result<std::int64_t> change();
  Result<void> run();

  std::string text(int column) const { return statement_->text(column); }
  double real(int column) const { return statement_->real(column); }
  std::int64_t integer(int column) const { return statement_->integer(column); }
  FeatureVector vector(int column) const { return statement_->vector(column); }

 private:
  std::unique_ptr<DriverStatement> statement_;
};

// The first column of the first row, which is a number; 0 without rows.
Result<std::int64_t> number(Connection& db, const std::string& sql);

// Rolls back unless committed.
class Transaction {
 public:
  static Result<Transaction> begin(Connection& db, Turn turn) {
    TRY_VOID(db.begin(turn));
    return Transaction(db);
  }
  Transaction(Transaction&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction() {
    if (db_) db_->rollback();
  }
  Result<void> commit() {
    TRY_VOID(db_->commit());
    db_ = nullptr;
    return {};
  }

 private:
  explicit Transaction(Connection& db) : db_(&db) {}
  Connection* db_;
};

// Waits a minute for its turn, and for an answer, not seconds, as long as this lives.
class PatientConnection {
 public:
  explicit PatientConnection(Connection& db) : db_(db) { db_.be_patient(true); }
  PatientConnection(const PatientConnection&) = delete;
  PatientConnection& operator=(const PatientConnection&) = delete;
  ~PatientConnection() { db_.be_patient(false); }

 private:
  Connection& db_;
};

}  // namespace sous::tuning_db
