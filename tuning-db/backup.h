// Copies of a tuning database, while others read and write it. A copy is a file, whatever the database is: that of a
// file can be restored into a PostgreSQL database, and the other way round.
#pragma once

#include <filesystem>

#include "sdfg/result.h"

namespace sous::tuning_db {

// The database as it is at one moment, as one file. Errors: db.exists (there is a file already), those of opening a
// database.
Result<void> back_up(const std::filesystem::path& database, const std::filesystem::path& to);

// Puts what such a file holds in the place of what the database holds: for all who have it open it is one change, and
// no writer is in between. What was there is kept as <database>.before-restore-<n>, which is returned (empty: there was
// none); of a PostgreSQL database as <from>.before-restore-<n>. A file that is damaged itself gives way. The copy stays
// as it is, and may be of an older schema.
// Errors: those of opening a database, of either; db.busy (others write all the time).
Result<std::filesystem::path> restore(const std::filesystem::path& from, const std::filesystem::path& database);

}  // namespace sous::tuning_db
