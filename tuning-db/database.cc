#include "tuning-db/database.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "sdfg/planted_fault.h"
#include "tuning-db/belief.h"
#include "tuning-db/nearest.h"
#include "tuning-db/size_class.h"

namespace sous::tuning_db {
namespace {

// An entry that may be returned, before its nest is read.
struct Candidate {
  Summary entry;
  double distance = 0;
  bool exact = false;
  double believed = 0;       // times faster here
  bool own_class = false;    // measured on this class
  bool size_speaks = false;  // measured at a size that speaks for the one asked
  // 0: a gain measured on this class at this size; 1: one that is believed; 2: at another size; 3: none.
  int tier() const {
    if (!(believed > 1)) return 3;
    if (!size_speaks) return 2;
    return own_class ? 0 : 1;
  }
};

Candidate candidate_of(const Summary& entry, const std::string& hardware, const SizeClass& asked) {
  const Belief belief = believe(entry.ratio(), entry.threads, entry.hardware_class, hardware);
  const auto measured = parse_size_class(entry.size_class);
  return {.entry = entry,
          .believed = belief.ratio,
          .own_class = belief.own_class,
          .size_speaks = measured && (!asked.power || like_size(*measured, asked))};
}

// What was measured on this class at this size settles what its recipe does to its nest, whatever others found.
void settle(std::vector<Candidate>& candidates) {
  if (planted(Fault::own_class_does_not_settle)) return;
  std::set<std::pair<std::string, std::string>> settled;
  const auto question = [](const Candidate& c) { return std::pair(c.entry.structural_hash, c.entry.recipe_json); };
  for (const Candidate& c : candidates)
    if (c.own_class && c.size_speaks) settled.insert(question(c));
  std::erase_if(candidates,
                [&](const Candidate& c) { return !(c.own_class && c.size_speaks) && settled.contains(question(c)); });
}

bool before(const Candidate& a, const Candidate& b) {
  if (a.exact != b.exact) return a.exact;
  if (a.tier() != b.tier()) return a.tier() < b.tier();
  if (a.exact && a.believed != b.believed) return a.believed > b.believed;
  if (a.distance != b.distance) return a.distance < b.distance;
  if (a.believed != b.believed) return a.believed > b.believed;  // two recipes of one nest
  return a.entry.id < b.entry.id;
}

double distance(const FeatureVector& a, const FeatureVector& b) {
  double square = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    square += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
  return std::sqrt(square);
}

}  // namespace

transforms::Match match_of(const Entry& entry, double distance, transforms::Origin origin) {
  return {.recipe = entry.recipe,
          .distance = distance,
          .evidence = evidence(entry),
          .id = entry_id(entry),
          .name = entry.name,
          .origin = origin,
          .nest = entry.nest};
}

struct Database::Impl {
  Store store;
  Hardware hardware;
  std::mutex mutex;
  std::optional<Nearest> nearest;
  std::string nearest_generation;  // of the store when `nearest` was built
  // Of one query: the nests of a file are near the same entries.
  std::map<std::string, std::vector<Summary>> summaries;
  std::map<std::string, std::optional<transforms::Match>> read;

  Result<std::vector<Summary>> summary(const std::string& id) {
    if (const auto known = summaries.find(id); known != summaries.end()) return known->second;
    TRY(auto rows, store.with_ids({id}));
    return summaries.emplace(id, std::move(rows)).first->second;
  }

  // Nullopt: the entry is gone, or cannot be read: it hides no other.
  Result<std::optional<transforms::Match>> match(const std::string& id) {
    if (const auto known = read.find(id); known != read.end()) return known->second;
    std::optional<transforms::Match> found;
    const auto entry = store.get(id);
    if (!entry && entry.error().code != "db.entry") return std::unexpected(entry.error());
    if (entry && *entry) {
      found = match_of(**entry, 0, transforms::Origin::Database);
      found->embedding = store.embedding().version();
      found->reach = store.embedding().reach();
    }
    return read.emplace(id, std::move(found)).first->second;
  }

  Result<void> refresh() {
    TRY(std::string generation, store.generation());
    if (nearest && generation == nearest_generation) return {};
    TRY(auto vectors, store.vectors());
    TRY(nearest, Nearest::build(std::move(vectors)));
    // Embedding what had none is itself a change.
    TRY(nearest_generation, store.generation());
    return {};
  }

  Result<std::vector<Candidate>> exact(const transforms::NestQuery& q, const std::string& machine,
                                       const SizeClass& asked) {
    TRY(const auto entries, store.with_hash(q.structural_hash));
    std::vector<Candidate> result;
    std::optional<Result<FeatureVector>> here;
    for (const Summary& entry : entries) {
      Candidate candidate = candidate_of(entry, machine, asked);
      candidate.exact = true;
      if (asked.power && entry.size_class != to_string(asked)) {
        const auto full = store.get(entry.id);
        if (!full && full.error().code == "db.entry") continue;
        if (!full) return std::unexpected(full.error());
        if (!*full) continue;
        if (!here) here = store.embedding().embed(q.nest, q.sizes);
        const auto there = store.embedding().embed((*full)->nest, (*full)->sizes);
        if (!*here || !there) continue;  // how far away it is cannot be told
        candidate.distance = std::max(not_exact, distance(**here, *there));
      }
      result.push_back(std::move(candidate));
    }
    return result;
  }

  Result<std::vector<Candidate>> neighbours(const transforms::NestQuery& q, int k, const Hardware& from,
                                            const std::string& machine, const SizeClass& asked) {
    TRY_VOID(refresh());
    if (nearest->size() == 0) return std::vector<Candidate>{};
    const auto here = store.embedding().embed(q.nest, q.sizes);
    if (!here) return std::vector<Candidate>{};
    const NestKey key = nest_key(q.nest);
    // Several entries may carry one recipe, or the asking nest's own hash: look a little further than k.
    const int wide = 4 * k + 8;
    TRY(std::vector<Hit> hits, nearest->search(*here, wide, {.key = key, .isa = from.isa}));
    if (hits.size() < static_cast<std::size_t>(k)) {
      TRY(const auto others, nearest->search(*here, wide, {.key = key, .isa = std::nullopt}));
      for (const Hit& hit : others)
        if (std::ranges::find(hits, hit.id, &Hit::id) == hits.end()) hits.push_back(hit);
    }
    std::vector<Candidate> result;
    for (const Hit& hit : hits) {
      TRY(const auto entry, summary(hit.id));
      if (entry.empty() || entry.front().structural_hash == q.structural_hash) continue;
      result.push_back(candidate_of(entry.front(), machine, asked));
      result.back().distance = std::max(not_exact, hit.distance);
    }
    return result;
  }

  Result<std::vector<transforms::Match>> matches(const transforms::NestQuery& q, int k, const Hardware& from) {
    const std::string machine = hardware_class(from);
    const SizeClass asked = size_class(q.nest, q.sizes);
    TRY(std::vector<Candidate> candidates, exact(q, machine, asked));
    std::set<std::string> distinct;
    for (const Candidate& candidate : candidates) distinct.insert(candidate.entry.recipe_json);
    if (distinct.size() < static_cast<std::size_t>(k)) {
      TRY(auto more, neighbours(q, k, from, machine, asked));
      candidates.insert(candidates.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    }
    settle(candidates);
    std::ranges::sort(candidates, before);
    std::vector<transforms::Match> result;
    std::set<std::string> recipes;
    for (const Candidate& candidate : candidates) {
      if (result.size() == static_cast<std::size_t>(k)) break;
      if (!recipes.insert(candidate.entry.recipe_json).second) continue;
      TRY(auto found, match(candidate.entry.id));
      if (!found) continue;
      found->distance = candidate.distance;
      result.push_back(std::move(*found));
    }
    return result;
  }
};

Database::Database(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Database::~Database() = default;

std::unique_ptr<Database> Database::over(Store store, Hardware hardware) {
  return std::unique_ptr<Database>(new Database(std::unique_ptr<Impl>(new Impl{.store = std::move(store),
                                                                               .hardware = std::move(hardware),
                                                                               .mutex = {},
                                                                               .nearest = {},
                                                                               .nearest_generation = {},
                                                                               .summaries = {},
                                                                               .read = {}})));
}

Result<std::unique_ptr<Database>> Database::open(const StoreOptions& options, Hardware hardware) {
  TRY(auto store, Store::open(options));
  return over(std::move(store), std::move(hardware));
}

Store& Database::store() { return impl_->store; }

bool Database::may_know(const sdfg::Sdfg& lifted) {
  const std::lock_guard lock(impl_->mutex);
  return !impl_->refresh() || may_have_key(lifted, impl_->nearest->keys());
}

transforms::Reach Database::reach() {
  const std::lock_guard lock(impl_->mutex);
  if (!impl_->refresh()) return {};
  transforms::Reach reach{transforms::Reach::nothing, true};
  for (const NestKey& key : impl_->nearest->keys()) {
    reach.least_depth = std::min(reach.least_depth, key.depth);
    reach.only_floating = reach.only_floating && sdfg::is_float(key.type);
  }
  return reach;
}

Result<std::vector<std::vector<transforms::Match>>> Database::query(const std::vector<transforms::NestQuery>& nests,
                                                                    int k) {
  return query(nests, k, impl_->hardware);
}

Result<std::vector<std::vector<transforms::Match>>> Database::query(const std::vector<transforms::NestQuery>& nests,
                                                                    int k, const Hardware& hardware) {
  const std::lock_guard lock(impl_->mutex);
  impl_->summaries.clear();
  impl_->read.clear();
  std::vector<std::vector<transforms::Match>> result;
  for (const transforms::NestQuery& nest : nests) {
    TRY(auto matches, impl_->matches(nest, std::max(0, k), hardware));
    result.push_back(std::move(matches));
  }
  return result;
}

Result<std::optional<Entry>> Database::get(const std::string& id) {
  const std::lock_guard lock(impl_->mutex);
  return impl_->store.get(id);
}

Result<void> Database::sound() const { return impl_->store.sound(); }

Result<StoreStats> Database::stats() {
  const std::lock_guard lock(impl_->mutex);
  return impl_->store.stats();
}

}  // namespace sous::tuning_db
