#include "client/sources.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>

#include "client/http_source.h"
#include "client/kept_answers.h"
#include "client/lock_source.h"
#include "client/places.h"
#include "client/process.h"
#include "client/say_once.h"
#include "client/server_rest.h"
#include "client/share.h"
#include "tuning-db/belief.h"
#include "tuning-db/database.h"
#include "tuning-db/hash.h"
#include "tuning-db/places.h"
#include "tuning-db/size_class.h"

namespace sous::client {
namespace {

using std::string;
using transforms::Match;
using transforms::NestQuery;
using transforms::RecipeSource;
using Matches = std::vector<std::vector<Match>>;

// Nothing in the database was measured on a machine of this class: there is a way out.
void hint_at_setup(const tuning_db::Store& store, std::vector<string>& notes) {
  const string here = hardware_class(tuning_db::local_hardware());
  const auto stats = store.stats();
  if (!stats || stats->entries == 0) return;
  const bool known = std::any_of(stats->by_hardware.begin(), stats->by_hardware.end(),
                                 [&](const auto& row) { return row.first == here; });
  const string text = "nothing in the database was measured on a machine like this one (" + here +
                      "): what others measured is believed in part; sous setup measures it here, once";
  const auto folder = cache_folder();
  if (!known && first_to_say(text, folder.empty() ? folder : folder / "said")) notes.push_back(text);
}

void warn_if_empty(const tuning_db::Store& store, const string& path, const Options& options) {
  const char* seeds = std::getenv("SOUS_SEED_DIR");
  std::error_code error;
  const bool missing = seeds != nullptr && *seeds != 0 && !std::filesystem::is_directory(seeds, error);
  if (missing) say_once(string("there is no folder ") + seeds + " (SOUS_SEED_DIR): no seeds are taken from it");
  const auto stats = store.stats();
  if (missing || !options.server.empty() || !stats || stats->entries > 0) return;
  say_once("the tuning database " + path +
           " is empty, so nothing can be served from it; sous db import and sous db add fill it");
}

// A plain build in which the lock file decides, though the database has learned since.
void warn_of_old_lock(const string& lock, const string& database, const Options& options) {
  std::error_code error, other;
  const auto pinned = std::filesystem::last_write_time(lock, error);
  const auto learned = std::filesystem::last_write_time(database, other);
  if (options.frozen || options.lock || error || other || pinned >= learned) return;
  say_once(lock + " decides for the nests that it pins, and " + database +
           " has changed since: --lock with the file removed takes what is known now");
}

// A file that is no database any more is moved aside and named; a new one is made from the seeds.
std::unique_ptr<RecipeSource> open_database(const string& path, const tuning_db::Hardware& hardware,
                                            const Options& options, std::vector<string>& notes) {
  // A connection for each file, and all vectors read for it, is what a server is there to spare.
  if (tuning_db::is_postgres(path)) {
    notes.push_back("builds ask a PostgreSQL database through its server (--server URL), not " +
                    tuning_db::shown(path));
    return nullptr;
  }
  std::error_code error;
  const auto folder = std::filesystem::path(path).parent_path();
  const bool new_folder =
      !options.database.empty() && !folder.empty() && !std::filesystem::exists(folder, error) && !error;
  std::filesystem::path kept_aside;
  auto store = tuning_db::Store::open_or_recreate({.path = path, .seeds = tuning_db::seed_files()}, kept_aside);
  if (!kept_aside.empty()) {
    notes.push_back(path + ": not a usable tuning database; kept as " + kept_aside.string() + ", a new one is made");
  }
  if (store && store->seeds_left())
    notes.push_back(path + ": keeps the entries of older seeds: " + store->seeds_left()->to_string());
  // A new version of Sous brings other seeds: that is no news. A folder of one's own is another set.
  if (const char* seeds = std::getenv("SOUS_SEED_DIR"); store && store->seeds_replaced() > 0 && seeds != nullptr) {
    warn(path + ": those of " + seeds + " replace " + std::to_string(store->seeds_replaced()) +
         " entries that other seeds brought; give each set of seeds a database of its own (--db)");
  }
  if (store && new_folder) warn("made the folder " + folder.string() + " for a new database");
  if (store) {
    warn_if_empty(*store, path, options);
    if (options.explain != Explain::No) hint_at_setup(*store, notes);
    return tuning_db::Database::over(std::move(*store), hardware);
  }
  notes.push_back(store.error().to_string());
  return nullptr;
}

// Each source answers what those before it leave open.
class Chain : public RecipeSource {
 public:
  Chain(std::vector<std::shared_ptr<RecipeSource>> sources, string here, std::vector<string>& notes)
      : sources_(std::move(sources)), here_(std::move(here)), notes_(notes) {}

  bool may_know(const sdfg::Sdfg& lifted) override {
    return std::ranges::any_of(sources_, [&](const auto& source) { return source->may_know(lifted); });
  }

  transforms::Reach reach() override {
    transforms::Reach all = transforms::Reach::none();
    for (const auto& source : sources_) {
      const auto one = source->reach();
      all.least_depth = std::min(all.least_depth, one.least_depth);
      all.least_integer_depth = std::min(all.least_integer_depth, one.least_integer_depth);
    }
    return all;
  }

  std::optional<Match> pinned(const NestQuery& nest) override {
    for (const auto& source : sources_)
      if (auto match = source->pinned(nest)) return match;
    return std::nullopt;
  }

  Result<Matches> query(const std::vector<NestQuery>& nests, int k) override {
    Matches out(nests.size());
    for (const auto& source : sources_) {
      std::vector<std::size_t> open;
      std::vector<NestQuery> asked;
      for (std::size_t n = 0; n < nests.size(); ++n) {
        if (!out[n].empty() && settles(out[n].front(), nests[n])) continue;
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
        auto& to = out[open[n]];
        for (Match& match : (*answer)[n]) {
          const int own = rank(match, asked[n]);
          const auto behind = [&](const Match& other) { return rank(other, asked[n]) > own; };
          to.insert(std::ranges::find_if(to, behind), std::move(match));
        }
      }
    }
    return out;
  }

 private:
  // No other source can know better: pinned, or measured for this nest, about this size, on a machine of this class.
  bool settles(const Match& match, const NestQuery& nest) const {
    if (match.origin == transforms::Origin::Lock) return true;
    if (match.distance != 0 || !tuning_db::believe(match.evidence, here_).own_class) return false;
    const auto asked = tuning_db::size_class(nest.nest, nest.sizes);
    const auto measured = tuning_db::parse_size_class(match.evidence.size_class);
    return !asked.power || (measured && speaks_for(*measured, !match.evidence.least_extents.empty(), asked));
  }
  // In this order, whichever source they come from; otherwise in the sources' own.
  int rank(const Match& match, const NestQuery& nest) const {
    return settles(match, nest) ? 0 : match.distance == 0 ? 1 : 2;
  }

  std::vector<std::shared_ptr<RecipeSource>> sources_;
  string here_;  // the hardware class of this build
  std::vector<string>& notes_;
};

}  // namespace

BuildSources::BuildSources(string source, const Options& options)
    : source_(std::move(source)),
      options_(options),
      time_(std::make_shared<ServerTime>(std::chrono::milliseconds(static_cast<long>(options.deadline * 1000)))) {}

Result<std::shared_ptr<LockSource>> BuildSources::lock() {
  if (!lock_) {
    auto read = LockSource::open(lock_path(source_));
    lock_ = read ? Result<std::shared_ptr<LockSource>>(std::make_shared<LockSource>(std::move(*read)))
                 : std::unexpected(read.error());
  }
  return *lock_;
}

void BuildSources::keep_answers_in(const ResultCache& cache) {
  if (!options_.server.empty()) answers_ = std::make_shared<FileAnswers>(KeptAnswers(cache, options_));
}

bool BuildSources::still_said(const std::vector<Asked>& asked) {
  return asked.empty() || (answers_ && std::ranges::all_of(asked, [&](const Asked& one) {
                             if (answers_->kept().key(one.request) != one.key) return false;
                             return answers_->kept().hold({one}) || still_says(one);
                           }));
}

bool BuildSources::still_says(const Asked& one) {
  const auto server = RecipeServer::at(options_.server, {.deadline = time_->deadline});
  if (!server) return false;
  ServerRest rest = rest_of(options_);
  if (!rest.may_ask()) return true;
  const auto begun = std::chrono::steady_clock::now();
  const transforms::Patience::Counting counting(time_->patience);
  auto response = server->post(query_path, one.request);
  time_->asking += std::chrono::ceil<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begun);
  const bool silent = !response && ServerRest::is_silence(response.error());
  const bool answers = response && response->status == 200;
  const bool same = answers && tuning_db::content_hash(response->body) == one.answer;
  if (silent || time_->asking > time_->deadline / 2)
    rest.failed();
  else if (answers && !same)
    rest.answered();
  else
    rest.said_nothing(time_->asking, time_->deadline);  // that was waited for and brings nothing new
  if (!response || response->status >= 500 || response->status == 429) return true;
  if (!answers) return false;
  // What it says now is read by who looks into the file, as what it is asked there.
  same ? answers_->kept().keep(one.key, response->body) : answers_->answered(one.request, std::move(response->body));
  return same;
}

std::optional<std::vector<Asked>> BuildSources::asked() const {
  if (time_->patience.over()) return std::nullopt;
  return answers_ ? answers_->keep() : std::vector<Asked>{};
}

Result<void> BuildSources::pin(const Outcome& outcome) {
  std::error_code error;
  if (options_.frozen || (!options_.lock && !std::filesystem::exists(lock_path(source_), error))) return {};
  TRY(const auto file, lock());
  for (const auto& served : outcome.served) {
    const string place = place_of(outcome.report.nests[served.nest]);
    for (const auto& pin : served.pins) file->put(pin.structural_hash, pin.size_class, pin.match, place);
  }
  return file->save();
}

void BuildSources::share(const Outcome& outcome) const {
  if (!options_.frozen) share_wanted(outcome.wanted, options_, time_->deadline - time_->asking);
}

void BuildSources::warn_of_stale_lock(const std::vector<NestReport>& nests) {
  if (!options_.frozen) return;
  const auto file = lock();
  if (!file) return;  // was said
  const LockSource& pins = **file;
  std::map<string, bool> unserved;  // by place
  std::map<string, std::set<LockSource::Key>> present;
  for (const NestReport& nest : nests) {
    const string place = place_of(nest);
    unserved[place] = unserved[place] || !nest.served;
    for (const UnitReport& unit : nest.units) present[place].insert({unit.structural_hash, unit.size_class});
  }
  for (const auto& [place, something] : unserved) {
    const auto pinned = pins.pinned_at(place);
    const bool stale = std::any_of(pinned.begin(), pinned.end(),
                                   [&, &here = present[place]](const auto& key) { return !here.contains(key); });
    if (!something || !stale) continue;
    warn("--frozen: " + pins.path() + " pins another form of " + place +
         ": it has changed since, and is not served (--lock renews it)");
  }
}

Result<std::unique_ptr<RecipeSource>> BuildSources::open(const tuning_db::Hardware& hardware,
                                                         std::vector<string>& notes) {
  std::vector<std::shared_ptr<RecipeSource>> sources;
  const string pinned = lock_path(source_);
  std::error_code error;
  if (options_.frozen && !std::filesystem::exists(pinned, error)) {
    say_once("--frozen: there is no " + pinned + ": nothing is served beside it (--lock writes one)");
  }
  if (auto file = lock()) {
    sources.push_back(std::move(*file));
  } else {
    notes.push_back(file.error().to_string());
  }
  if (!options_.frozen) {
    const string path = database_path(options_);
    if (!path.empty()) warn_of_old_lock(pinned, path, options_);
    if (auto database = path.empty() ? nullptr : open_database(path, hardware, options_, notes)) {
      sources.push_back(std::move(database));
    }
    if (!options_.server.empty()) {
      auto server = HttpSource::make(options_.server, hardware, {.deadline = time_->deadline},
                                     {time_, &time_->patience}, answers_);  // one lives as the other
      if (server) {
        const std::shared_ptr<HttpSource> http = std::move(*server);
        sources.push_back(answered_before(http, resting(http, rest_of(options_), options_.server, time_)));
      } else {
        notes.push_back(server.error().to_string());
      }
    }
  }
  return std::make_unique<Chain>(std::move(sources), tuning_db::hardware_class(hardware), notes);
}

}  // namespace sous::client
