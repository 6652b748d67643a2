#include "tuning-db/database.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "sdfg/check.h"
#include "sdfg/json.h"
#include "tuning-db/file_identity.h"
#include "tuning-db/follower.h"
#include "tuning-db/places.h"
#include "tuning-db/query.h"
#include "tuning-db/rows.h"
#include "tuning-db/view.h"

namespace sous::tuning_db {
namespace {

// An entry with its nest takes about 10 kB.
constexpr std::size_t most_parsed = 65'536;

using Parsed = std::shared_ptr<const transforms::Match>;

// A nest that was read and checked. As an object and as text it takes about 20 kB.
struct KeptNest {
  sdfg::Sdfg nest;
  std::string json;
};
constexpr std::size_t most_nests = 4'096;

}  // namespace

struct Database::Impl {
  Hardware hardware;
  std::mutex store_mutex;
  Store store;
  const std::shared_ptr<const Embedding> embedding = store.shared_embedding();
  const std::filesystem::path path = store.path();

  // For as long as it takes to copy a pointer, or to look one up.
  mutable std::mutex mutex;
  std::shared_ptr<const View> view;
  std::optional<Error> out_of_date;                              // why the view is not of the file as it is now
  std::map<std::string, Parsed> parsed;                          // by id; null: it cannot be read, and hides no other
  std::map<std::string, std::shared_ptr<const KeptNest>> nests;  // by Summary::nest
  bool following = false;
  FileIdentity identity = store.identity();

  std::optional<Follower> follower;  // the last member: it uses the others

  Impl(Store over, Hardware machine) : hardware(std::move(machine)), store(std::move(over)) {}

  std::shared_ptr<const View> last_view() const {
    const std::lock_guard lock(mutex);
    return view;
  }
  bool follows() const {
    const std::lock_guard lock(mutex);
    return following;
  }

  // What is known not to answer is not asked: whoever waits holds up the others.
  Result<void> reachable() const {
    const std::lock_guard lock(mutex);
    if (out_of_date && out_of_date->code == "db.unreachable") return std::unexpected(*out_of_date);
    return {};
  }

  // Under `store_mutex`.
  Result<std::shared_ptr<const View>> up_to_date() {
    const auto last = last_view();
    TRY(const std::string generation, store.generation());
    if (last && last->generation == generation) return last;
    TRY(auto next, read_view(store, false));
    const std::lock_guard lock(mutex);
    view = std::move(next);
    parsed.clear();
    return view;
  }

  // Null: it is gone, or cannot be read. It is parsed without any lock.
  Result<std::shared_ptr<const KeptNest>> nest(const std::string& id) {
    {
      const std::lock_guard lock(mutex);
      if (const auto known = nests.find(id); known != nests.end()) return known->second;
    }
    const auto json = [&]() -> Result<std::optional<std::string>> {
      const std::lock_guard lock(store_mutex);
      TRY_VOID(reachable());
      return store.nest(id);
    }();
    if (!json) return std::unexpected(json.error());
    auto read = *json ? sdfg::from_json(**json) : fail("db.entry", "its nest is gone");
    if (!read || !sdfg::check_foreign(*read)) return nullptr;
    std::string text = sdfg::to_json(*read);
    auto kept = std::make_shared<const KeptNest>(std::move(*read), std::move(text));
    const std::lock_guard lock(mutex);
    if (nests.size() >= most_nests) nests.clear();
    return nests.try_emplace(id, std::move(kept)).first->second;
  }

  void take(std::shared_ptr<const View> next, std::optional<Store> other) {
    if (other) {
      const std::lock_guard lock(store_mutex);
      store = std::move(*other);
      const std::lock_guard inner(mutex);
      identity = store.identity();
      parsed.clear();
      nests.clear();
    }
    const std::lock_guard lock(mutex);
    view = std::move(next);
    out_of_date.reset();
  }
};

// One query: what it looks at stays as it is until it ends.
class Database::Query {
 public:
  static Result<Query> begin(Impl& impl) {
    if (impl.follows()) return Query(impl, {}, impl.last_view());
    std::unique_lock lock(impl.store_mutex);
    TRY(auto view, impl.up_to_date());
    return Query(impl, std::move(lock), std::move(view));
  }
  const View& view() const { return *view_; }
  QueryRanking ranking(const Hardware& from, std::string_view asker) const {
    return {*view_, *impl_.embedding, from, asker, view_->recipes() ? nullptr : &impl_.store};
  }

  Result<std::vector<transforms::Match>> matches(QueryRanking& ranking, const transforms::NestQuery& q,
                                                 std::size_t k) const {
    TRY(const auto candidates, ranking.of(q, k));
    std::vector<transforms::Match> result;
    for (const EntryCandidate& candidate : candidates) {
      if (result.size() == k) break;
      if (q.in_reach_only && candidate.distance > impl_.embedding->reach()) {
        result.push_back(unread(candidate, *impl_.embedding));
        continue;
      }
      TRY(const Parsed found, match(candidate.entry->id));
      if (!found) continue;
      result.push_back(*found);
      result.back().distance = candidate.distance;
    }
    return result;
  }

 private:
  Query(Impl& impl, std::unique_lock<std::mutex> lock, std::shared_ptr<const View> view)
      : impl_(impl), lock_(std::move(lock)), view_(std::move(view)) {}

  // Null: the entry is gone, or cannot be read: it hides no other. What was parsed stays true, since an id is a hash of
  // the entry's content.
  Result<Parsed> match(const std::string& id) const {
    {
      const std::lock_guard lock(impl_.mutex);
      if (const auto known = impl_.parsed.find(id); known != impl_.parsed.end()) return known->second;
    }
    const auto entry = [&]() -> Result<std::optional<Entry>> {
      std::unique_lock lock(impl_.store_mutex, std::defer_lock);
      if (!lock_.owns_lock()) lock.lock();
      TRY_VOID(impl_.reachable());
      return impl_.store.get(id);
    }();
    if (!entry && entry.error().code != "db.entry") return std::unexpected(entry.error());
    Parsed found;
    if (entry && *entry) {
      transforms::Match match = match_of(**entry, 0, transforms::Origin::Database);
      match.embedding = impl_.embedding->version();
      match.reach = impl_.embedding->reach();
      found = std::make_shared<const transforms::Match>(std::move(match));
    }
    const std::lock_guard lock(impl_.mutex);
    if (impl_.parsed.size() >= most_parsed) impl_.parsed.clear();
    return impl_.parsed.emplace(id, std::move(found)).first->second;
  }

  Impl& impl_;
  std::unique_lock<std::mutex> lock_;  // of the store, unless the database is followed
  std::shared_ptr<const View> view_;
};

Database::Database(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Database::~Database() = default;

std::unique_ptr<Database> Database::over(Store store, Hardware hardware) {
  return std::unique_ptr<Database>(new Database(std::make_unique<Impl>(std::move(store), std::move(hardware))));
}

Result<std::unique_ptr<Database>> Database::open(const StoreOptions& options, Hardware hardware) {
  TRY(auto store, Store::open(options));
  return over(std::move(store), std::move(hardware));
}

Result<void> Database::follow(std::chrono::milliseconds interval, std::function<void(const Result<void>&)> looked) {
  Impl& impl = *impl_;
  impl.follower.emplace(StoreOptions{.path = impl.path, .seeds = {}, .embedding = impl.embedding}, interval,
                        Follower::Told{.view = [&impl](auto view, auto store) { impl.take(view, std::move(store)); },
                                       .looked =
                                           [&impl, looked = std::move(looked)](const Result<void>& result) {
                                             {
                                               const std::lock_guard lock(impl.mutex);
                                               impl.out_of_date.reset();
                                               if (!result) impl.out_of_date = result.error();
                                             }
                                             if (looked) looked(result);
                                           }});
  TRY_VOID(impl.follower->start());
  const std::lock_guard lock(impl.mutex);
  impl.following = true;
  return {};
}

Store& Database::store() { return impl_->store; }

bool Database::may_know(const sdfg::Sdfg& lifted) {
  const auto query = Query::begin(*impl_);
  return !query || may_have_key(lifted, query->view().keys);
}

transforms::Reach Database::reach() {
  const auto query = Query::begin(*impl_);
  if (!query) return {};
  transforms::Reach reach = transforms::Reach::none();
  for (const NestKey& key : query->view().keys) {
    reach.least_depth = std::min(reach.least_depth, key.depth);
    if (!sdfg::is_float(key.type)) reach.least_integer_depth = std::min(reach.least_integer_depth, key.depth);
  }
  return reach;
}

Result<std::vector<std::vector<transforms::Match>>> Database::query(const std::vector<transforms::NestQuery>& nests,
                                                                    int k) {
  return query(nests, k, impl_->hardware);
}

Result<std::vector<std::vector<transforms::Match>>> Database::query(const std::vector<transforms::NestQuery>& nests,
                                                                    int k, const Hardware& hardware,
                                                                    std::string_view asker) {
  TRY(const auto query, Query::begin(*impl_));
  QueryRanking ranking = query.ranking(hardware, asker);
  std::vector<std::vector<transforms::Match>> result;
  for (const transforms::NestQuery& nest : nests) {
    TRY(auto matches, query.matches(ranking, nest, static_cast<std::size_t>(std::max(0, k))));
    result.push_back(std::move(matches));
  }
  return result;
}

Result<RankedEntries> Database::rank(const std::vector<transforms::NestQuery>& nests, int k, const Hardware& hardware,
                                     std::string_view asker) {
  RankedEntries result;
  TRY(result.view, whole());
  QueryRanking ranking(*result.view, *impl_->embedding, hardware, asker, nullptr);
  for (const transforms::NestQuery& nest : nests) {
    TRY(const auto candidates, ranking.of(nest, static_cast<std::size_t>(k)));
    auto& entries = result.nests.emplace_back();
    for (const EntryCandidate& one : candidates) entries.push_back({one.entry, one.distance});
  }
  return result;
}

Result<std::optional<ToldEntry>> Database::tell(const Summary& summary) {
  TRY(const auto nest, impl_->nest(summary.nest));
  if (!nest) return std::nullopt;
  const auto entry = entry_of(summary, nest->nest);
  if (!entry) return std::nullopt;
  transforms::Match match{.recipe = entry->recipe,
                          .embedding = impl_->embedding->version(),
                          .reach = impl_->embedding->reach(),
                          .evidence = evidence(*entry),
                          .id = summary.id,
                          .name = summary.name,
                          .nest = {}};
  match.evidence.hardware = summary.hardware_class;
  return ToldEntry{std::move(match), std::shared_ptr<const std::string>(nest, &nest->json)};
}

Result<std::optional<Entry>> Database::get(const std::string& id, std::string_view asker) {
  const std::lock_guard lock(impl_->store_mutex);
  TRY_VOID(impl_->reachable());
  TRY(auto entry, impl_->store.get(id));
  if (!entry) return entry;
  TRY(const auto summaries, impl_->store.with_ids({entry_id(*entry)}));
  if (summaries.empty() || !summaries.front().is_for(asker)) return std::nullopt;
  return entry;
}

Result<std::int64_t> Database::entries() {
  if (impl_->follows()) return static_cast<std::int64_t>(impl_->last_view()->recipes()->entries().size());
  TRY(const StoreStats stats, [&] {
    const std::lock_guard lock(impl_->store_mutex);
    return impl_->store.stats();
  }());
  return stats.entries;
}

Result<std::shared_ptr<const View>> Database::whole() {
  if (impl_->follows()) return impl_->last_view();
  const std::lock_guard lock(impl_->store_mutex);
  return read_view(impl_->store, true);
}

Result<FileIdentity> Database::identity() const {
  TRY_VOID(impl_->reachable());
  const std::lock_guard lock(impl_->mutex);
  return impl_->identity;
}

Result<void> Database::sound() const {
  const auto [identity, out_of_date] = [&] {
    const std::lock_guard lock(impl_->mutex);
    return std::pair(impl_->identity, impl_->out_of_date);
  }();
  if (out_of_date) return std::unexpected(*out_of_date);
  return is_postgres(impl_->path) ? Result<void>() : check_file(impl_->path, identity);
}

}  // namespace sous::tuning_db
