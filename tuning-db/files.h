// Small files, read whole and written whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "sdfg/result.h"

namespace sous::tuning_db {

// Errors: file.read (missing, unreadable, no regular file, or longer than `longest`).
Result<std::string> read_file(const std::filesystem::path& path, std::size_t longest);
// Writes beside the target and renames; makes the folders that are missing. Nothing is left behind on failure.
// Errors: file.write.
Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view text);

}  // namespace sous::tuning_db
