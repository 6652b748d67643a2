// Whether a database file is still the file that was opened. SQLite does not say: it goes on with one that was deleted
// or replaced, and may answer from its cache for one that was cut off.
#pragma once

#include <cstdint>
#include <filesystem>

#include "sdfg/result.h"

namespace sous::tuning_db {

struct FileIdentity {
  std::uint64_t device = 0, inode = 0;
  bool operator==(const FileIdentity&) const = default;
};

// All zeros where there is no such file.
FileIdentity identity_of(const std::filesystem::path& path);

// Errors: db.gone, db.replaced, db.corrupt (no SQLite file any more, or shorter than its head says).
Result<void> check_file(const std::filesystem::path& path, const FileIdentity& identity);

}  // namespace sous::tuning_db
