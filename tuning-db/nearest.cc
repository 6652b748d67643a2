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
  return (!filter.key || v.key == *filter.key) && (!filter.isa || v.isa == *filter.isa);
}

bool before(const Hit& a, const Hit& b) { return std::tie(a.distance, a.id) < std::tie(b.distance, b.id); }

// What FAISS asks for each vector while it scans.
struct Selector final : faiss::IDSelector {
  Selector(const std::vector<StoredVector>& all, const NearestFilter& wanted) : vectors(all), filter(wanted) {}
  bool is_member(faiss::Index::idx_t id) const override {
    return passes(vectors[static_cast<std::size_t>(id)], filter);
  }
  const std::vector<StoredVector>& vectors;
  const NearestFilter& filter;
};

}  // namespace

struct Nearest::Impl {
  std::vector<StoredVector> vectors;  // position = FAISS's id
  std::unique_ptr<faiss::IndexFlatL2> index;
  std::size_t dimension = 0;

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

std::vector<NestKey> Nearest::keys() const {
  std::vector<NestKey> keys;
  for (const StoredVector& v : impl_->vectors)
    if (std::ranges::find(keys, v.key) == keys.end()) keys.push_back(v.key);
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
    impl->index = std::make_unique<faiss::IndexFlatL2>(static_cast<faiss::Index::idx_t>(impl->dimension));
    for (const StoredVector& v : impl->vectors) impl->index->add(1, v.vector.data());
  } catch (const std::exception& error) {
    return fail("nearest.faiss", error.what());
  }
  return Nearest(std::move(impl));
}

Result<std::vector<Hit>> Nearest::search(const FeatureVector& query, int k, const NearestFilter& filter) const {
  TRY_VOID(impl_->fits(query));
  k = std::min<int>(k, static_cast<int>(std::min<std::size_t>(impl_->vectors.size(), 1024)));
  std::vector<Hit> hits;
  if (k <= 0) return hits;
  std::vector<float> squares(static_cast<std::size_t>(k));
  std::vector<faiss::Index::idx_t> ids(static_cast<std::size_t>(k));
  try {
    Selector selector(impl_->vectors, filter);
    faiss::SearchParameters parameters;
    parameters.sel = &selector;
    impl_->index->search(1, query.data(), k, squares.data(), ids.data(), &parameters);
  } catch (const std::exception& error) {
    return fail("nearest.faiss", error.what());
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    // Where nothing passes the filter, FAISS 1.7.3 answers k = 1 with vector 0.
    if (ids[i] < 0 || !passes(impl_->vectors[static_cast<std::size_t>(ids[i])], filter)) continue;
    hits.push_back({impl_->vectors[static_cast<std::size_t>(ids[i])].id, std::sqrt(std::max(0.0, double{squares[i]}))});
  }
  std::ranges::sort(hits, before);
  return hits;
}

Result<std::vector<Hit>> Nearest::search_slowly(const FeatureVector& query, int k, const NearestFilter& filter) const {
  TRY_VOID(impl_->fits(query));
  std::vector<Hit> hits;
  for (const StoredVector& v : impl_->vectors) {
    if (!passes(v, filter)) continue;
    double square = 0;
    for (std::size_t i = 0; i < query.size(); ++i) {
      const double difference = double{v.vector[i]} - double{query[i]};
      square += difference * difference;
    }
    hits.push_back({v.id, std::sqrt(square)});
  }
  std::ranges::sort(hits, before);
  if (hits.size() > static_cast<std::size_t>(std::max(0, k))) hits.resize(static_cast<std::size_t>(std::max(0, k)));
  return hits;
}

}  // namespace sous::tuning_db
