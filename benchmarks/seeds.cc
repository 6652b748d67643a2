#include "benchmarks/seeds.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "client/process.h"

namespace sous::benchmarks {

namespace fs = std::filesystem;
using std::string;

string seed_folder(const string& wanted) {
  if (!wanted.empty()) return wanted;
  if (const char* folder = std::getenv("SOUS_SEED_DIR"); folder != nullptr && *folder != '\0') return folder;
  return SOUS_DEFAULT_SEED_DIR;
}

Result<std::vector<fs::path>> seed_files(const string& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(folder, error))
    if (file.path().extension() == ".jsonl") files.push_back(file.path());
  if (error || files.empty()) return fail("bench.recipes", "no *.jsonl is there", folder);
  std::ranges::sort(files);
  return files;
}

Result<std::vector<tuning_db::Entry>> seed_entries(const std::vector<fs::path>& files) {
  std::vector<tuning_db::Entry> entries;
  for (const fs::path& file : files) {
    TRY(const string text, client::read_file(file.string()));
    std::istringstream lines(text);
    for (string line; std::getline(lines, line);) {
      if (line.find_first_not_of(" \t\r") == string::npos) continue;
      TRY(auto entry, tuning_db::entry_from_json(line));
      entries.push_back(std::move(entry));
    }
  }
  return entries;
}

}  // namespace sous::benchmarks
