// The database file: its tables, and which file is one of ours.
#pragma once

#include <filesystem>
#include <functional>

#include "tuning-db/sqlite.h"

namespace sous::tuning_db {

// Opens a file that exists, brings it to the newest schema, and says whether it is ours.
// Errors: db.corrupt, db.foreign, db.schema-newer, db.open, db.io.
Result<Handle> open_existing(const std::filesystem::path& path);

// Fills a new database under a name of its own and puts it in place, unless someone else was faster.
Result<void> create_database(const std::filesystem::path& path, const std::function<Result<void>(Handle)>& fill);

}  // namespace sous::tuning_db
