#include "tuning-db/places.h"

#include <algorithm>
#include <cstdlib>

namespace sous::tuning_db {
namespace {

namespace fs = std::filesystem;

const char* environment(const char* name) {
  const char* value = std::getenv(name);
  return value && *value ? value : nullptr;
}

}  // namespace

bool is_postgres(const fs::path& place) {
  const std::string& text = place.native();
  return text.starts_with("postgres://") || text.starts_with("postgresql://");
}

// What a URL may hold a password in: its authority, and its parameters. As libpq reads it: of the authority everything
// up to an @ may be a password's, a question mark as well. What libpq refuses, since there is a / in it, is one, too.
std::string shown(const fs::path& place) {
  std::string text = place.native();
  if (!is_postgres(place)) return text;
  const std::size_t host = text.find("://") + 3;
  const std::size_t user_end = text.substr(0, text.find('/', host)).rfind('@');
  const std::size_t question = text.find('?', user_end == std::string::npos ? host : user_end);
  if (question != std::string::npos) text.resize(question);
  const std::size_t at = text.rfind('@'), colon = text.find(':', host);
  if (at != std::string::npos && colon < at) text.erase(colon, at - colon);
  return text;
}

fs::path default_database_path() {
  if (const char* path = environment("SOUS_DB")) return path;
  if (const char* data = environment("XDG_DATA_HOME")) return fs::path(data) / "sous" / "tuning.db";
  if (const char* home = environment("HOME")) return fs::path(home) / ".local" / "share" / "sous" / "tuning.db";
  return {};
}

std::vector<fs::path> seed_files() {
  std::error_code error;
  std::vector<fs::path> folders;
  if (const char* folder = environment("SOUS_SEED_DIR")) {
    folders = {folder};
  } else {
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    folders.push_back(program.parent_path().parent_path() / "share" / "sous" / "seed");
    folders.emplace_back(SOUS_DEFAULT_SEED_DIR);  // not installed, but built
  }
  for (const fs::path& folder : folders) {
    std::vector<fs::path> files;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
      if (it->path().extension() == ".jsonl") files.push_back(it->path());
    std::ranges::sort(files);
    if (!files.empty()) return files;
  }
  return {};
}

fs::path gain_model_file() {
  const auto files = seed_files();
  return files.empty() ? fs::path() : files[0].parent_path() / "gain_model.json";
}

}  // namespace sous::tuning_db
