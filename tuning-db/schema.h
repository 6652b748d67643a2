// Databases that are there: opened, brought to the newest schema where that is ours to do, and made.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "tuning-db/connection.h"
#include "tuning-db/sqlite.h"

namespace sous::tuning_db {

using Handle = std::unique_ptr<Connection>;

// `place`: a file, or the URL of a PostgreSQL database (tuning-db/places.h). The latter is connected to when it is
// first asked, and whenever the connection was lost. Errors: those of open_file; of PostgreSQL, then from every
// function, db.unreachable, db.foreign, db.schema-newer, db.schema-older.
Result<Handle> open_existing(const std::filesystem::path& place);

// Opens a file that exists, brings it to the newest schema, and says whether it is ours.
// Errors: db.corrupt, db.foreign, db.schema-newer, db.open, db.io.
Result<std::unique_ptr<SqliteConnection>> open_file(const std::filesystem::path& path);

// Fills a new database under a name of its own and puts it in place, unless someone else was faster.
Result<void> create_file(const std::filesystem::path& path, const std::function<Result<void>(Handle)>& fill);

// The tables of a file in which there is nothing, as a schema of this version has them.
Result<void> fill_file(SqliteConnection& db, int version);

// Brings a database to another schema, 1 to newest_schema: an older one loses what that cannot say. Errors: those of
// opening it.
Result<void> migrate_database(const std::filesystem::path& place, int to);

}  // namespace sous::tuning_db
