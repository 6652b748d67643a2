// The entries that Sous brings along, and files like them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tuning-db/entry.h"

namespace sous::benchmarks {

// `wanted`, or $SOUS_SEED_DIR, or the folder that this build brings along.
std::string seed_folder(const std::string& wanted);
// Its *.jsonl, sorted. Error: bench.recipes.
Result<std::vector<std::filesystem::path>> seed_files(const std::string& folder);
// An entry a line, in the order of the files. Errors: client.read; those of entry_from_json.
Result<std::vector<tuning_db::Entry>> seed_entries(const std::vector<std::filesystem::path>& files);

}  // namespace sous::benchmarks
