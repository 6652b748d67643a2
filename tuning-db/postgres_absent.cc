#include "tuning-db/postgres_schema.h"

namespace sous::tuning_db {
namespace {

std::unexpected<Error> absent() {
  return fail("db.driver", "this build of Sous does not speak to PostgreSQL: it was configured without libpq-dev");
}

}  // namespace

Result<std::unique_ptr<Connection>> postgres_at(const std::string&, bool) { return absent(); }
Result<void> create_tables(const std::string&) { return absent(); }
Result<void> migrate_tables(const std::string&, int) { return absent(); }

}  // namespace sous::tuning_db
