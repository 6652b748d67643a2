// The tables of a PostgreSQL database. The libraries of a build without libpq's headers have another file behind this
// (postgres_absent.cc), which says db.driver.
#pragma once

#include <memory>
#include <string>

#include "tuning-db/connection.h"

namespace sous::tuning_db {

// Connects when it is first asked, and whenever the connection was lost. `any_schema`: also to a database of an older
// schema, or of none.
Result<std::unique_ptr<Connection>> postgres_at(const std::string& url, bool any_schema = false);
// Where there are none. Those of an older schema stay as they are, since other servers may use them. Errors:
// db.foreign, db.schema-older, db.schema-newer, db.unreachable, db.io.
Result<void> create_tables(const std::string& url);
// Brings them to another schema: an older one loses what that cannot say.
Result<void> migrate_tables(const std::string& url, int to);

}  // namespace sous::tuning_db
