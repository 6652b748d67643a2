#include "client/sources.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>

#include "client/http_source.h"
#include "client/lock_source.h"
#include "tuning-db/database.h"
#include "tuning-db/files.h"

namespace sous::client {
namespace {

using std::string;
using transforms::Match;
using transforms::NestQuery;
using transforms::RecipeSource;
using Matches = std::vector<std::vector<Match>>;

// A build of many files says it once an hour, not once a file.
bool said_lately() {
  const auto cache = tuning_db::hardware_cache_path();
  if (cache.empty()) return true;
  const auto marker = cache.parent_path() / "setup-said";
  std::error_code error;
  const auto then = std::filesystem::last_write_time(marker, error);
  const auto now = std::filesystem::file_time_type::clock::now();
  if (!error && now - then < std::chrono::hours(1)) return true;
  return !tuning_db::write_file_atomically(marker, "");
}

// Nothing in the database was measured on a machine of this class: there is a way out.
void hint_at_setup(const tuning_db::Store& store, std::vector<string>& notes) {
  const string here = hardware_class(tuning_db::local_hardware());
  const auto stats = store.stats();
  if (!stats || stats->entries == 0) return;
  const bool known = std::any_of(stats->by_hardware.begin(), stats->by_hardware.end(),
                                 [&](const auto& row) { return row.first == here; });
  if (known || said_lately()) return;
  notes.push_back("nothing in the database was measured on a machine like this one (" + here +
                  "): what others measured is believed in part; sous setup measures it here, once");
}

// A file that is no database any more is moved aside and named; a new one is made from the seeds.
std::unique_ptr<RecipeSource> open_database(const string& path, const tuning_db::Hardware& hardware, bool explain,
                                            std::vector<string>& notes) {
  std::filesystem::path kept_aside;
  auto store = tuning_db::Store::open_or_recreate({.path = path, .seeds = tuning_db::seed_files()}, kept_aside);
  if (!kept_aside.empty()) {
    notes.push_back(path + ": not a usable tuning database; kept as " + kept_aside.string() + ", a new one is made");
  }
  if (store && store->seeds_left())
    notes.push_back(path + ": keeps the entries of older seeds: " + store->seeds_left()->to_string());
  if (store && explain) hint_at_setup(*store, notes);
  if (store) return tuning_db::Database::over(std::move(*store), hardware);
  notes.push_back(store.error().to_string());
  return nullptr;
}

// Each source answers what those before it do not know exactly.
class Chain : public RecipeSource {
 public:
  Chain(std::vector<std::unique_ptr<RecipeSource>> sources, std::vector<string>& notes)
      : sources_(std::move(sources)), notes_(notes) {}

  Result<Matches> query(const std::vector<NestQuery>& nests, int k) override {
    Matches out(nests.size());
    for (const auto& source : sources_) {
      std::vector<std::size_t> open;
      std::vector<NestQuery> asked;
      for (std::size_t n = 0; n < nests.size(); ++n) {
        if (!out[n].empty() && out[n].front().distance == 0) continue;
        if (!out[n].empty() && out[n].front().source == "lock") continue;
        open.push_back(n);
        asked.push_back(nests[n]);
      }
      if (asked.empty()) break;
      auto answer = source->query(asked, k);
      if (!answer) {
        notes_.push_back(answer.error().to_string() + "; the build goes on without it");
        continue;
      }
      for (std::size_t n = 0; n < open.size(); ++n) {
        auto& to = out[open[n]];  // holds nothing exact yet: what is exact goes before it
        auto& more = (*answer)[n];
        const auto near = std::find_if(more.begin(), more.end(), [](const Match& m) { return m.distance != 0; });
        to.insert(to.begin(), more.begin(), near);
        to.insert(to.end(), near, more.end());
      }
    }
    return out;
  }

 private:
  std::vector<std::unique_ptr<RecipeSource>> sources_;
  std::vector<string>& notes_;
};

}  // namespace

string database_path(const Options& options) {
  if (options.database == "none") return "";
  return options.database.empty() ? tuning_db::default_database_path().string() : options.database;
}

OpenSources sources_for(const string& source, const Options& options) {
  return [source, options](const tuning_db::Hardware& hardware,
                           std::vector<string>& notes) -> Result<std::unique_ptr<RecipeSource>> {
    std::vector<std::unique_ptr<RecipeSource>> sources;
    auto lock = LockSource::open(lock_path(source));
    if (lock) {
      sources.push_back(std::make_unique<LockSource>(std::move(*lock)));
    } else {
      notes.push_back(lock.error().to_string());
    }
    if (!options.frozen) {
      const string path = database_path(options);
      if (auto database = path.empty() ? nullptr : open_database(path, hardware, options.explain, notes))
        sources.push_back(std::move(database));
      if (!options.server.empty()) {
        HttpLimits limits;
        limits.deadline = std::chrono::milliseconds(static_cast<long>(options.deadline * 1000));
        auto server = HttpSource::make(options.server, hardware, limits);
        if (server) {
          sources.push_back(std::move(*server));
        } else {
          notes.push_back(server.error().to_string());
        }
      }
    }
    return std::make_unique<Chain>(std::move(sources), notes);
  };
}

}  // namespace sous::client
