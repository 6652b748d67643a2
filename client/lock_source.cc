#include "client/lock_source.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <thread>

#include "client/process.h"
#include "tuning-db/evidence.h"
#include "tuning-db/files.h"
#include "tuning-db/json_reader.h"
#include "tuning-db/size_class.h"

namespace sous::client {
namespace {

using std::string;
using transforms::Match;
using tuning_db::Json;
using tuning_db::ObjectReader;

constexpr int version = 1;
// The file comes with the source, whoever wrote that.
constexpr std::size_t longest = std::size_t{16} << 20;
constexpr int deepest = 16;
constexpr std::size_t most_nests = 100'000;
constexpr std::size_t most_places = 1000;  // of one nest

Result<Match> match_from(const Json& json, const string& where) {
  TRY(auto in, ObjectReader::of(json, "lock", where));
  Match match;
  match.origin = transforms::Origin::Lock;
  TRY(const Json* recipe, in.object("recipe"));
  TRY(match.recipe, transforms::recipe_from_json(tuning_db::dump(*recipe)));
  TRY(const Json* evidence, in.object("evidence"));
  TRY(match.evidence, tuning_db::evidence_from_json(*evidence, "lock", where + ".evidence"));
  TRY(match.distance, in.number("distance", 0, 1e9));
  if (in.has("embedding")) {  // not in those of older versions
    TRY(match.embedding, in.line("embedding", 64));
    TRY(match.reach, in.number("reach", 0, 1e9));
  }
  TRY(match.id, in.line("id", 64));
  TRY(match.name, in.line("name", 256));
  return match;
}

// Held while the file is read, merged and renamed into place. The folder is what gets locked: the file itself is
// replaced.
class FolderLock {
 public:
  explicit FolderLock(const string& folder) : fd_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}
  // Others hold it for milliseconds, or hold the folder for reasons of their own, and for as long as they like. A file
  // system without locks gives none.
  bool taken_within(std::chrono::milliseconds wait) const {
    const auto end = std::chrono::steady_clock::now() + wait;
    while (fd_ >= 0 && ::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR) return true;
      if (std::chrono::steady_clock::now() >= end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
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

Result<LockSource::Entries> LockSource::entries_of(std::string_view text) {
  TRY(const Json json, tuning_db::parse_json(text, "lock", {.bytes = longest, .depth = deepest}));
  TRY(auto in, ObjectReader::of(json, "lock", ""));
  TRY(const std::int64_t found, in.integer("version", 0, 1 << 20));
  if (found != version) return fail("lock.corrupt", "its version is not 1");
  TRY(const Json* nests, in.array("nests", most_nests));
  Entries entries;
  for (std::size_t k = 0; k < nests->size(); ++k) {
    const string where = "nests[" + std::to_string(k) + "]";
    TRY(Match match, match_from((*nests)[k], where));
    TRY(auto one, ObjectReader::of((*nests)[k], "lock", where));
    TRY(string hash, one.line("hash", 64));
    TRY(string size_class, one.line("size_class", 64));
    Pinned pinned{.match = std::move(match)};
    if (one.has("places")) {
      TRY(const Json* places, one.array("places", most_places));
      for (const Json& place : *places) {
        if (!place.is_string() || !tuning_db::is_one_line(place.get<string>())) {
          return fail("lock.corrupt", "\"places\" must hold strings of one line", where);
        }
        pinned.places.insert(place.get<string>());
      }
    }
    entries[{std::move(hash), std::move(size_class)}] = std::move(pinned);
  }
  return entries;
}

Result<LockSource::Entries> LockSource::read(const string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return Entries{};
  const auto corrupt = [&](const string& why) {
    return fail("lock.corrupt", "the lock file cannot be read (" + why + "); delete it or restore it", path);
  };
  // A pipe that stands there under its name would be waited for.
  if (!std::filesystem::is_regular_file(path, error)) return corrupt("it is no regular file");
  const auto text = tuning_db::read_file(path, longest);
  if (!text) return corrupt(text.error().why);
  auto entries = entries_of(*text);
  if (!entries) return corrupt(tuning_db::as_one_line(entries.error().to_string()));
  return std::move(*entries);
}

Result<LockSource> LockSource::from_text(std::string_view text) {
  LockSource source;
  TRY(source.entries_, entries_of(text));
  return source;
}

Result<LockSource> LockSource::open(const string& path) {
  LockSource source;
  source.path_ = path;
  TRY(source.entries_, read(path));
  return source;
}

std::optional<Match> LockSource::pinned(const transforms::NestQuery& nest) {
  const auto found = entries_.find({nest.structural_hash, to_string(tuning_db::size_class(nest.nest, nest.sizes))});
  if (found == entries_.end()) return std::nullopt;
  Match match = found->second.match;
  match.nest = nest.nest;
  return match;
}

Result<std::vector<std::vector<Match>>> LockSource::query(const std::vector<transforms::NestQuery>& nests, int) {
  std::vector<std::vector<Match>> out(nests.size());
  for (std::size_t k = 0; k < nests.size(); ++k)
    if (auto match = pinned(nests[k])) out[k].push_back(std::move(*match));
  return out;
}

void LockSource::put(const string& structural_hash, const string& size_class, Match match, const string& place) {
  match.nest = {};
  Pinned& pinned = added_[{structural_hash, size_class}];
  pinned.match = std::move(match);
  if (!place.empty()) pinned.places.insert(place);
}

std::vector<LockSource::Key> LockSource::pinned_at(const string& place) const {
  std::vector<Key> out;
  for (const auto& [key, pinned] : entries_) {
    if (pinned.places.contains(place)) out.push_back(key);
  }
  return out;
}

string LockSource::text_of(const Entries& entries) {
  Json nests = Json::array();
  for (const auto& [key, pinned] : entries) {
    const Match& match = pinned.match;
    Json one{{"hash", key.first},
             {"size_class", key.second},
             {"places", pinned.places},
             {"recipe", Json::parse(transforms::to_json(match.recipe), nullptr, false)},
             {"evidence", tuning_db::evidence_json(match.evidence)},
             {"distance", match.distance},
             {"id", match.id},
             {"name", match.name}};
    if (!match.embedding.empty()) {
      one["embedding"] = match.embedding;
      one["reach"] = match.reach;
    }
    nests.push_back(std::move(one));
  }
  return Json{{"version", version}, {"nests", nests}}.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

string LockSource::text() const { return text_of(entries_); }

Result<void> LockSource::save(std::chrono::milliseconds longest_wait) const {
  if (added_.empty()) return {};
  const FolderLock lock(folder_of(path_));
  if (!lock.taken_within(longest_wait))
    return fail("lock.busy", "another program holds a lock on the folder: nothing is pinned", path_);
  TRY(Entries all, read(path_));
  for (const auto& [key, pinned] : added_) {
    Pinned& kept = all[key];
    kept.match = pinned.match;
    for (const string& place : pinned.places) {
      if (kept.places.size() < most_places) kept.places.insert(place);
    }
  }
  const string text = text_of(all);
  if (const auto old = read_file(path_); old && *old == text) return {};
  return write_file(path_, text);
}

}  // namespace sous::client
