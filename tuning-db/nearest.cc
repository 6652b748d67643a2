#include "tuning-db/nearest.h"

#include <faiss/IndexFlat.h>
#include <faiss/impl/IDSelector.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <tuple>

namespace sous::tuning_db {
namespace {

bool passes(const StoredVector& v, const NearestFilter& filter) {
  return (!filter.key || v.key == *filter.key) && (!filter.isa || v.isa == *filter.isa) &&
         !filter.without.contains(v.id);
}

bool before(const Hit& a, const Hit& b) { return std::tie(a.distance, a.id) < std::tie(b.distance, b.id); }

using Position = faiss::Index::idx_t;  // among all vectors, which lie in order of id

// The vectors of one key, since a query is almost always for one.
struct Group {
  NestKey key;
  std::vector<Position> members;  // position in the index -> position among all
  std::unique_ptr<faiss::IndexFlatL2> index;
};

// What FAISS asks for each vector while it scans.
struct Selector final : faiss::IDSelector {
  Selector(const std::vector<StoredVector>& all, const Group& of, const std::optional<Isa>& wanted,
           const std::vector<bool>& not_these)
      : vectors(all), group(of), isa(wanted), without(not_these) {}
  bool is_member(Position id) const override {
    const auto position = static_cast<std::size_t>(group.members[static_cast<std::size_t>(id)]);
    return (!isa || vectors[position].isa == *isa) && !without[position];
  }
  const std::vector<StoredVector>& vectors;
  const Group& group;
  const std::optional<Isa>& isa;
  const std::vector<bool>& without;
};

}  // namespace

double distance(const FeatureVector& a, const FeatureVector& b) {
  double square = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    square += (double{a[i]} - double{b[i]}) * (double{a[i]} - double{b[i]});
  return std::sqrt(square);
}

struct Nearest::Impl {
  std::vector<StoredVector> vectors;
  std::vector<Group> groups;
  std::size_t dimension = 0;

  // Position; nullopt: there is none.
  std::optional<std::size_t> find(std::string_view id) const {
    const auto found =
        std::ranges::lower_bound(vectors, id, {}, [](const StoredVector& v) { return std::string_view(v.id); });
    if (found == vectors.end() || found->id != id) return std::nullopt;
    return static_cast<std::size_t>(found - vectors.begin());
  }
  Group& group(const NestKey& key) {
    const auto found = std::ranges::find(groups, key, &Group::key);
    if (found != groups.end()) return *found;
    return groups.emplace_back(Group{key, {}, std::make_unique<faiss::IndexFlatL2>(static_cast<Position>(dimension))});
  }
  // The nearest k of one group that pass, in no order.
  void search(const Group& of, const FeatureVector& query, std::size_t k, const Selector& selector,
              std::vector<Hit>& hits) const {
    k = std::min(k, of.members.size());
    std::vector<float> squares(k);
    std::vector<Position> ids(k);
    faiss::SearchParameters parameters;
    parameters.sel = const_cast<Selector*>(&selector);  // which it only asks
    of.index->search(1, query.data(), static_cast<Position>(k), squares.data(), ids.data(), &parameters);
    for (std::size_t i = 0; i < k; ++i) {
      // Where nothing passes the filter, FAISS 1.7.3 answers k = 1 with vector 0.
      if (ids[i] < 0 || !selector.is_member(ids[i])) continue;
      const auto position = static_cast<std::size_t>(of.members[static_cast<std::size_t>(ids[i])]);
      hits.push_back({vectors[position].id, std::sqrt(std::max(0.0, double{squares[i]}))});
    }
  }

  Result<void> fits(const FeatureVector& query) const {
    if (vectors.empty() || query.size() == dimension) return {};
    return fail("nearest.dimension", "a vector of " + std::to_string(query.size()) +
                                         " numbers was compared with one of " + std::to_string(dimension));
  }
};

Nearest::Nearest(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Nearest::Nearest(Nearest&&) noexcept = default;
Nearest& Nearest::operator=(Nearest&&) noexcept = default;
Nearest::~Nearest() = default;

std::size_t Nearest::size() const { return impl_->vectors.size(); }

const FeatureVector* Nearest::vector(const std::string& id) const {
  const auto position = impl_->find(id);
  return position ? &impl_->vectors[*position].vector : nullptr;
}

std::vector<NestKey> Nearest::keys() const {
  std::vector<NestKey> keys;
  for (const Group& group : impl_->groups) keys.push_back(group.key);
  return keys;
}

Result<Nearest> Nearest::build(std::vector<StoredVector> vectors) {
  auto impl = std::make_unique<Impl>();
  // By id, so that ties come out in the same order however the store lists them.
  std::ranges::sort(vectors, {}, &StoredVector::id);
  impl->vectors = std::move(vectors);
  if (impl->vectors.empty()) return Nearest(std::move(impl));
  impl->dimension = impl->vectors.front().vector.size();
  for (const StoredVector& v : impl->vectors) {
    TRY_VOID(impl->fits(v.vector));
    if (v.vector.empty() || !std::ranges::all_of(v.vector, [](float x) { return std::isfinite(x); }))
      return fail("nearest.dimension", "a stored vector is empty or not finite; rebuild the index", "entry " + v.id);
  }
  try {
    for (std::size_t i = 0; i < impl->vectors.size(); ++i) {
      Group& group = impl->group(impl->vectors[i].key);
      group.members.push_back(static_cast<Position>(i));
      group.index->add(1, impl->vectors[i].vector.data());
    }
  } catch (const std::exception& error) {
    return fail("nearest.faiss", error.what());
  }
  return Nearest(std::move(impl));
}

Result<std::vector<Hit>> Nearest::search(const FeatureVector& query, std::size_t k, const NearestFilter& filter) const {
  TRY_VOID(impl_->fits(query));
  std::vector<Hit> hits;
  if (k == 0) return hits;
  std::vector<bool> without(impl_->vectors.size());
  for (const std::string_view id : filter.without)
    if (const auto position = impl_->find(id)) without[*position] = true;
  try {
    for (const Group& group : impl_->groups)
      if (!filter.key || group.key == *filter.key)
        impl_->search(group, query, k, Selector(impl_->vectors, group, filter.isa, without), hits);
  } catch (const std::exception& error) {
    return fail("nearest.faiss", error.what());
  }
  std::ranges::sort(hits, before);
  if (hits.size() > k) hits.resize(k);
  return hits;
}

Result<std::vector<Hit>> Nearest::search_slowly(const FeatureVector& query, int k, const NearestFilter& filter) const {
  TRY_VOID(impl_->fits(query));
  std::vector<Hit> hits;
  for (const StoredVector& v : impl_->vectors) {
    if (!passes(v, filter)) continue;
    hits.push_back({v.id, distance(v.vector, query)});
  }
  std::ranges::sort(hits, before);
  if (hits.size() > static_cast<std::size_t>(std::max(0, k))) hits.resize(static_cast<std::size_t>(std::max(0, k)));
  return hits;
}

}  // namespace sous::tuning_db
