#include "tuning-db/connection.h"

namespace sous::tuning_db {

Result<std::int64_t> Statement::change() {
  TRY([[maybe_unused]] const bool row, step());
  return statement_->changed();
}

Result<void> Statement::run() {
  TRY([[maybe_unused]] const bool row, step());
  return {};
}

Result<std::int64_t> number(Connection& db, const std::string& sql) {
  Statement statement(db, sql);
  TRY(const bool row, statement.step());
  return row ? statement.integer(0) : 0;
}

}  // namespace sous::tuning_db
