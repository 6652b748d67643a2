#include "tuning-db/database.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "tuning-db/file_identity.h"
#include "tuning-db/follower.h"
#include "tuning-db/greatest_sizes.h"
#include "tuning-db/insert.h"
#include "tuning-db/nearest.h"
#include "tuning-db/places.h"
#include "tuning-db/ranking.h"
#include "tuning-db/size_class.h"
#include "tuning-db/view.h"

namespace sous::tuning_db {
namespace {

// An entry with its nest takes about 10 kB.
constexpr std::size_t most_parsed = 65'536;

using Parsed = std::shared_ptr<const transforms::Match>;

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
  std::optional<Error> out_of_date;      // why the view is not of the file as it is now
  std::map<std::string, Parsed> parsed;  // by id; null: it cannot be read, and hides no other
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

  void take(std::shared_ptr<const View> next, std::optional<Store> other) {
    if (other) {
      const std::lock_guard lock(store_mutex);
      store = std::move(*other);
      const std::lock_guard inner(mutex);
      identity = store.identity();
      parsed.clear();
    }
    const std::lock_guard lock(mutex);
    view = std::move(next);
    out_of_date.reset();
  }
};

// One query: what it looks at stays as it is until it ends.
class Database::Query {
 public:
  static Result<Query> begin(Impl& impl, std::string_view asker = {}) {
    if (impl.follows()) return Query(impl, {}, impl.last_view(), asker);
    std::unique_lock lock(impl.store_mutex);
    TRY(auto view, impl.up_to_date());
    return Query(impl, std::move(lock), std::move(view), asker);
  }
  const View& view() const { return *view_; }

  Result<std::vector<transforms::Match>> matches(const transforms::NestQuery& q, int k, const Hardware& from) {
    if (std::string machine = hardware_class(from); !beliefs_ || beliefs_->here() != machine)
      beliefs_.emplace(std::move(machine));
    asked_ = size_class(q.nest, q.sizes);
    guessed_ = asked_.power ? asked_ : size_class(q.nest, likely_sizes(q.nest, q.sizes));
    here_.reset();
    TRY(auto own, with_hash(q.structural_hash));
    std::vector<Candidate> candidates = of_own_form(q, own, Kinship::Same);
    TRY(auto kin, with_sizeless(kept_sizeless(q.nest)));
    std::erase_if(kin, [&](const Summary* one) { return one->structural_hash == q.structural_hash; });
    for (const Candidate& one : of_own_form(q, kin, Kinship::OtherSizes)) candidates.push_back(one);
    if (recipes(candidates) < static_cast<std::size_t>(k)) {
      own.insert(own.end(), kin.begin(), kin.end());
      TRY(const auto more, neighbours(q, static_cast<std::size_t>(k), from.isa, own));
      candidates.insert(candidates.end(), more.begin(), more.end());
    }
    rank(candidates, asked_);
    std::vector<transforms::Match> result;
    std::unordered_set<std::string_view> recipes;
    for (const Candidate& candidate : candidates) {
      if (result.size() == static_cast<std::size_t>(k)) break;
      if (!recipes.insert(candidate.entry->recipe_json).second) continue;
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
  Query(Impl& impl, std::unique_lock<std::mutex> lock, std::shared_ptr<const View> view, std::string_view asker)
      : impl_(impl), lock_(std::move(lock)), view_(std::move(view)), asker_(asker) {}

  const Result<FeatureVector>& here(const transforms::NestQuery& q) {
    if (!here_) here_ = impl_.embedding->embed(q.nest, q.sizes);
    return *here_;
  }

  // Of a build, which asks once, the rows are read as they are needed.
  const Summary* keep(Summary summary) {
    const std::string id = summary.id;
    return &rows_.try_emplace(id, std::move(summary)).first->second;
  }
  Result<const Summary*> entry(const std::string& id) {
    if (const auto known = rows_.find(id); known != rows_.end()) return &known->second;
    TRY(auto rows, impl_.store.with_ids({id}));
    return rows.empty() ? nullptr : keep(std::move(rows.front()));
  }
  Result<std::vector<const Summary*>> with_hash(const std::string& hash) {
    if (const RecipeIndex* index = view_->recipes()) return index->with_hash(hash);
    std::vector<const Summary*> result;
    TRY(auto rows, impl_.store.with_hash(hash));
    for (Summary& row : rows) result.push_back(keep(std::move(row)));
    return result;
  }
  Result<std::vector<const Summary*>> with_sizeless(const std::string& sizeless) {
    if (const RecipeIndex* index = view_->recipes()) return index->with_sizeless(sizeless);
    std::vector<const Summary*> result;
    TRY(auto rows, impl_.store.with_sizeless(sizeless));
    for (Summary& row : rows) result.push_back(keep(std::move(row)));
    return result;
  }
  std::optional<FeatureVector> vector(const Summary& entry) const {
    if (const RecipeIndex* index = view_->recipes()) return index->vector(entry);
    const FeatureVector* found = view_->nearest()->vector(entry.id);
    return found ? std::optional(*found) : std::nullopt;
  }

  // Of entries of the very nest, or of what differs from it in sizes alone.
  std::vector<Candidate> of_own_form(const transforms::NestQuery& q, const std::vector<const Summary*>& entries,
                                     Kinship kinship) {
    std::vector<Candidate> result;
    for (const Summary* entry : entries) {
      if (!entry->is_for(asker_)) continue;
      Candidate candidate = candidate_of(*entry, *beliefs_, asked_, guessed_);
      candidate.kinship = kinship;
      if (asked_.power && !candidate.size_speaks) {
        const auto there = vector(*entry);
        if (!there || !here(q)) continue;  // how far away it is cannot be told
        candidate.distance = std::max(not_exact, distance(*here(q), *there));
      }
      result.push_back(candidate);
    }
    return result;
  }

  // Adds those that it does not have.
  Result<void> add(const std::vector<Hit>& hits, std::vector<Candidate>& to) {
    std::set<std::string_view> known;
    for (const Candidate& candidate : to) known.insert(candidate.entry->id);
    for (const Hit& hit : hits) {
      if (known.contains(hit.id)) continue;
      TRY(const Summary* found, entry(hit.id));
      if (!found || !found->is_for(asker_)) continue;
      to.push_back(candidate_of(*found, *beliefs_, asked_, guessed_));
      to.back().distance = std::max(not_exact, hit.distance);
    }
    return {};
  }

  // `own`: the entries of the asking nest, whatever its sizes.
  Result<std::vector<Candidate>> neighbours(const transforms::NestQuery& q, std::size_t k, Isa isa,
                                            const std::vector<const Summary*>& own) {
    if (view_->keys.empty() || !here(q)) return std::vector<Candidate>{};
    // Several entries may carry one recipe: look a little further than k, and as far as it takes where that does not
    // bring k recipes.
    const std::size_t wide = 4 * k + 8;
    if (const RecipeIndex* index = view_->recipes()) return near(*index, q, k, wide, isa, own);
    NearestFilter filter{.key = nest_key(q.nest), .isa = isa};
    for (const Summary* entry : own) filter.without.insert(entry->id);
    for (std::size_t look = wide;; look *= 8) {
      std::vector<Candidate> result;
      filter.isa = isa;
      TRY(std::vector<Hit> hits, view_->nearest()->search(*here(q), look, filter));
      TRY_VOID(add(hits, result));
      if (recipes(result) >= k) return result;
      filter.isa.reset();
      TRY(hits, view_->nearest()->search(*here(q), look, filter));
      TRY_VOID(add(hits, result));
      if (hits.size() < look || recipes(result) >= k) return result;
    }
  }

  // The same where all is in memory.
  Result<std::vector<Candidate>> near(const RecipeIndex& index, const transforms::NestQuery& q, std::size_t k,
                                      std::size_t wide, Isa isa, const std::vector<const Summary*>& own) {
    std::vector<Candidate> result;
    std::unordered_set<std::string_view> distinct;
    for (const bool like : {true, false}) {
      std::size_t looked = 0;
      TRY(auto found, index.search(*here(q), nest_key(q.nest), own, [&](Isa there) { return (there == isa) == like; }));
      while (const auto one = found.next()) {
        if (!one->entry->is_for(asker_)) continue;
        if (++looked > wide && distinct.size() >= k) break;
        result.push_back(candidate_of(*one->entry, *beliefs_, asked_, guessed_));
        result.back().distance = std::max(not_exact, one->distance);
        distinct.insert(one->entry->recipe_json);
      }
      if (distinct.size() >= k) break;
    }
    return result;
  }

  static std::size_t recipes(const std::vector<Candidate>& candidates) {
    std::unordered_set<std::string_view> distinct;
    for (const Candidate& candidate : candidates) distinct.insert(candidate.entry->recipe_json);
    return distinct.size();
  }

  // Null: the entry is gone, or cannot be read: it hides no other. What was parsed stays true, since an id is a hash of
  // the entry's content.
  Result<Parsed> match(const std::string& id) {
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
  std::string_view asker_;
  std::map<std::string, Summary> rows_;
  // Of the nest that is asked about.
  std::optional<Beliefs> beliefs_;
  SizeClass asked_, guessed_;
  std::optional<Result<FeatureVector>> here_;
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
  TRY(auto query, Query::begin(*impl_, asker));
  std::vector<std::vector<transforms::Match>> result;
  for (const transforms::NestQuery& nest : nests) {
    TRY(auto matches, query.matches(nest, std::max(0, k), hardware));
    result.push_back(std::move(matches));
  }
  return result;
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
