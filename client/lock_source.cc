#include "client/lock_source.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "client/process.h"
#include "tuning-db/size_class.h"

namespace sous::client {
namespace {

using nlohmann::json;
using std::string;
using transforms::Evidence;
using transforms::Match;

constexpr int version = 1;

json to_json(const Evidence& e) {
  return {{"size_class", e.size_class},
          {"baseline_seconds", e.baseline_seconds},
          {"tuned_seconds", e.tuned_seconds},
          {"baseline_spread", e.baseline_spread},
          {"tuned_spread", e.tuned_spread},
          {"work", e.work},
          {"threads", e.threads},
          {"hardware", e.hardware},
          {"compiler", e.compiler}};
}

// Throws json::exception: called inside `read` only.
Evidence evidence_from(const json& j) {
  Evidence e;
  j.at("size_class").get_to(e.size_class);
  j.at("baseline_seconds").get_to(e.baseline_seconds);
  j.at("tuned_seconds").get_to(e.tuned_seconds);
  j.at("baseline_spread").get_to(e.baseline_spread);
  j.at("tuned_spread").get_to(e.tuned_spread);
  j.at("work").get_to(e.work);
  j.at("threads").get_to(e.threads);
  j.at("hardware").get_to(e.hardware);
  j.at("compiler").get_to(e.compiler);
  return e;
}

// Held while the file is read, merged and renamed into place. The folder is what gets locked: the file itself is
// replaced.
class FolderLock {
 public:
  explicit FolderLock(const string& folder) : fd_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (fd_ >= 0) ::flock(fd_, LOCK_EX);
  }
  ~FolderLock() {
    if (fd_ >= 0) ::close(fd_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int fd_;
};

}  // namespace

Result<LockSource::Entries> LockSource::read(const string& path) {
  Entries entries;
  if (!std::filesystem::exists(path)) return entries;
  TRY(const string text, read_file(path));
  const auto corrupt = [&](const string& why) {
    return fail("lock.corrupt", "the lock file cannot be read (" + why + "); delete it or restore it", path);
  };
  try {
    const json j = json::parse(text);
    if (j.at("version") != version) return corrupt("its version is not 1");
    for (const auto& entry : j.at("nests")) {
      Match match;
      auto recipe = transforms::recipe_from_json(entry.at("recipe").dump());
      if (!recipe) return corrupt(recipe.error().why);
      match.recipe = std::move(*recipe);
      match.evidence = evidence_from(entry.at("evidence"));
      entry.at("distance").get_to(match.distance);
      entry.at("id").get_to(match.id);
      entry.at("name").get_to(match.name);
      match.source = "lock";
      entries[{entry.at("hash").get<string>(), entry.at("size_class").get<string>()}] = std::move(match);
    }
  } catch (const json::exception& e) {
    return corrupt(e.what());
  }
  return entries;
}

Result<LockSource> LockSource::open(const string& path) {
  LockSource source;
  source.path_ = path;
  TRY(source.entries_, read(path));
  return source;
}

Result<std::vector<std::vector<Match>>> LockSource::query(const std::vector<transforms::NestQuery>& nests, int) {
  std::vector<std::vector<Match>> out(nests.size());
  for (std::size_t k = 0; k < nests.size(); ++k) {
    const auto& nest = nests[k];
    const auto found = entries_.find({nest.structural_hash, to_string(tuning_db::size_class(nest.nest, nest.sizes))});
    if (found == entries_.end()) continue;
    out[k].push_back(found->second);
    out[k].back().nest = nest.nest;
  }
  return out;
}

void LockSource::put(const string& structural_hash, const string& size_class, Match match) {
  match.nest = {};
  added_[{structural_hash, size_class}] = std::move(match);
}

Result<void> LockSource::save() const {
  if (added_.empty()) return {};
  const FolderLock lock(folder_of(path_));
  TRY(Entries all, read(path_));
  for (const auto& [key, match] : added_) all[key] = match;
  json nests = json::array();
  for (const auto& [key, match] : all) {
    nests.push_back({{"hash", key.first},
                     {"size_class", key.second},
                     {"recipe", json::parse(transforms::to_json(match.recipe))},
                     {"evidence", to_json(match.evidence)},
                     {"distance", match.distance},
                     {"id", match.id},
                     {"name", match.name}});
  }
  const string text = json{{"version", version}, {"nests", nests}}.dump(1) + "\n";
  if (const auto old = read_file(path_); old && *old == text) return {};
  return write_file(path_, text);
}

string lock_path(const string& source) { return folder_of(source) + "/sous.lock"; }

}  // namespace sous::client
