#include "tuning-db/vector_tree.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

// Compiled for several instruction sets, of which the machine takes its widest.
#if defined(__x86_64__)
#define SOUS_WIDE_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define SOUS_WIDE_VECTORS
#endif

namespace sous::tuning_db {
namespace {

using Vectors = std::vector<const FeatureVector*>;

// The number in which they differ most, by as many as tell.
template <class At>
std::size_t widest(std::size_t count, const At& vector) {
  constexpr std::size_t looked_at = 64;
  const std::size_t step = std::max<std::size_t>(1, count / looked_at);
  FeatureVector low = vector(0), high = low;
  for (std::size_t k = 0; k < count; k += step) {
    const FeatureVector& one = vector(k);
    for (std::size_t i = 0; i < low.size(); ++i) low[i] = std::min(low[i], one[i]), high[i] = std::max(high[i], one[i]);
  }
  std::size_t found = 0;
  for (std::size_t i = 1; i < low.size(); ++i)
    if (high[i] - low[i] > high[found] - low[found]) found = i;
  return found;
}

}  // namespace

struct VectorTree::Nest {
  std::vector<std::uint32_t> members;
  FeatureVector mean;
};

VectorTree VectorTree::build(const Vectors& vectors, const std::vector<std::uint32_t>& nests) {
  VectorTree tree;
  if (vectors.empty()) return tree;
  tree.dimension_ = vectors.front()->size();
  std::map<std::uint32_t, Nest> all;
  for (std::uint32_t k = 0; k < vectors.size(); ++k) all[nests[k]].members.push_back(k);
  std::vector<const Nest*> order;
  for (auto& [number, nest] : all) {
    // In double, which does not overflow.
    std::vector<double> sums(tree.dimension_);
    for (const std::uint32_t member : nest.members)
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += double{(*vectors[member])[i]};
    for (const double sum : sums)
      nest.mean.push_back(static_cast<float>(sum / static_cast<double>(nest.members.size())));
    order.push_back(&nest);
  }
  tree.order_.resize(vectors.size());
  tree.nodes_.push_back({.first = 0, .end = static_cast<std::uint32_t>(vectors.size())});
  tree.boxes_.resize(2 * tree.dimension_);
  tree.split_nests(order, vectors, root);
  return tree;
}

std::uint32_t VectorTree::add_children(std::uint32_t at, std::uint32_t rows) {
  const auto children = static_cast<std::uint32_t>(nodes_.size());
  const std::uint32_t first = nodes_[at].first, middle = first + rows;
  nodes_[at].children = children;
  nodes_.push_back({.first = first, .end = middle});
  nodes_.push_back({.first = middle, .end = nodes_[at].end});
  boxes_.resize(nodes_.size() * 2 * dimension_);
  return children;
}

void VectorTree::box_children(std::uint32_t at) {
  const std::uint32_t children = nodes_[at].children;
  float* box = boxes_.data() + std::size_t{at} * 2 * dimension_;
  for (std::size_t i = 0; i < dimension_; ++i) {
    box[i] = std::min(low(children)[i], low(children + 1)[i]);
    box[dimension_ + i] = std::max(high(children)[i], high(children + 1)[i]);
  }
}

// At most twice as deep as the logarithm of what there is: what is more than half of it is a nest by itself soon.
void VectorTree::split_nests(std::span<const Nest*> nests, const Vectors& vectors, std::uint32_t at) {
  const std::uint32_t first = nodes_[at].first, rows = nodes_[at].end - first;
  if (nests.size() == 1 || rows <= most_in_leaf) {
    const std::span<std::uint32_t> members(order_.data() + first, rows);
    auto to = members.begin();
    for (const Nest* nest : nests) to = std::ranges::copy(nest->members, to).out;
    return split(members, vectors, at);
  }
  const std::size_t number =
      widest(nests.size(), [&](std::size_t k) -> const FeatureVector& { return nests[k]->mean; });
  std::ranges::sort(nests, {}, [&](const Nest* nest) { return std::pair(nest->mean[number], nest->members.front()); });
  // Between two nests, as near to the middle as may be.
  std::size_t cut = 1;
  auto before = static_cast<std::uint32_t>(nests.front()->members.size());
  for (; cut + 1 < nests.size(); ++cut) {
    const std::size_t next = nests[cut]->members.size();
    if (2 * std::size_t{before} + next >= rows) break;
    before += static_cast<std::uint32_t>(next);
  }
  const std::uint32_t children = add_children(at, before);
  split_nests(nests.first(cut), vectors, children);
  split_nests(nests.subspan(cut), vectors, children + 1);
  box_children(at);
}

// As deep as the logarithm of what there is.
void VectorTree::split(std::span<std::uint32_t> members, const Vectors& vectors, std::uint32_t at) {
  if (members.size() <= most_in_leaf) return make_leaf(members, vectors, at);
  const std::size_t half = members.size() / 2;
  const std::size_t number =
      widest(members.size(), [&](std::size_t k) -> const FeatureVector& { return *vectors[members[k]]; });
  // What is sorted by lies beside what is sorted.
  std::vector<std::pair<float, std::uint32_t>> keys;
  keys.reserve(members.size());
  for (const std::uint32_t member : members) keys.emplace_back((*vectors[member])[number], member);
  std::ranges::nth_element(keys, keys.begin() + static_cast<std::ptrdiff_t>(half));
  std::ranges::transform(keys, members.begin(), &std::pair<float, std::uint32_t>::second);
  keys = {};
  const std::uint32_t children = add_children(at, static_cast<std::uint32_t>(half));
  split(members.first(half), vectors, children);
  split(members.subspan(half), vectors, children + 1);
  box_children(at);
}

void VectorTree::make_leaf(std::span<const std::uint32_t> members, const Vectors& vectors, std::uint32_t at) {
  float* box = boxes_.data() + std::size_t{at} * 2 * dimension_;
  std::ranges::copy(*vectors[members.front()], box);
  std::ranges::copy(*vectors[members.front()], box + dimension_);
  for (const std::uint32_t member : members)
    for (std::size_t i = 0; i < dimension_; ++i) {
      box[i] = std::min(box[i], (*vectors[member])[i]);
      box[dimension_ + i] = std::max(box[dimension_ + i], (*vectors[member])[i]);
    }
  Node& leaf = nodes_[at];
  leaf.varying = static_cast<std::uint32_t>(varying_.size());
  leaf.numbers = numbers_.size();
  for (std::size_t i = 0; i < dimension_; ++i) {
    if (box[i] == box[dimension_ + i]) continue;
    varying_.push_back(static_cast<std::uint16_t>(i));
    for (const std::uint32_t member : members) numbers_.push_back((*vectors[member])[i]);
    ++leaf.width;
  }
}

SOUS_WIDE_VECTORS float VectorTree::least_square(const FeatureVector& query, std::uint32_t at) const {
  const float *from = low(at), *to = high(at);
  // Sums beside each other, which the compiler puts into vectors; one after the other, each would wait for the last.
  constexpr std::size_t lanes = 8;
  std::array<float, lanes> sums{};
  const auto outside = [&](std::size_t i) { return std::max({from[i] - query[i], query[i] - to[i], 0.0F}); };
  std::size_t i = 0;
  for (; i + lanes <= dimension_; i += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += outside(i + lane) * outside(i + lane);
  for (; i < dimension_; ++i) sums[0] += outside(i) * outside(i);
  // Rounding may have added to it.
  return std::accumulate(sums.begin(), sums.end(), 0.0F) * (1 - 1e-5F);
}

// In double: summed in whichever order, it is the same float in the end.
SOUS_WIDE_VECTORS void VectorTree::squares(const FeatureVector& query, std::uint32_t at,
                                           std::span<float, most_in_leaf> out) const {
  const Node& leaf = nodes_[at];
  const float *from = low(at), *to = high(at);
  double common = 0;
  for (std::size_t i = 0; i < dimension_; ++i) {
    const double difference = from[i] == to[i] ? double{query[i]} - double{from[i]} : 0;
    common += difference * difference;
  }
  std::array<double, most_in_leaf> sums;
  sums.fill(common);
  const std::uint32_t rows = leaf.end - leaf.first;
  const float* number = numbers_.data() + leaf.numbers;
  for (std::uint32_t k = 0; k < leaf.width; ++k, number += rows) {
    const double here = query[varying_[leaf.varying + k]];
    for (std::uint32_t row = 0; row < rows; ++row) {
      const double difference = here - double{number[row]};
      sums[row] += difference * difference;
    }
  }
  for (std::uint32_t row = 0; row < rows; ++row) out[row] = static_cast<float>(sums[row]);
}

std::uint32_t VectorTree::leaf_of(std::uint32_t row) const {
  std::uint32_t at = root;
  while (nodes_[at].children != 0) {
    const std::uint32_t left = nodes_[at].children;
    at = row < nodes_[left].end ? left : left + 1;
  }
  return at;
}

double VectorTree::distance(const FeatureVector& query, std::uint32_t row) const {
  const std::uint32_t at = leaf_of(row);
  const Node& leaf = nodes_[at];
  const float* common = low(at);
  double square = 0;
  for (std::uint32_t i = 0, k = 0; i < dimension_; ++i) {
    const bool varies = k < leaf.width && varying_[leaf.varying + k] == i;
    const float there =
        varies ? numbers_[leaf.numbers + k++ * (leaf.end - leaf.first) + (row - leaf.first)] : common[i];
    square += (double{query[i]} - double{there}) * (double{query[i]} - double{there});
  }
  return std::sqrt(square);
}

FeatureVector VectorTree::vector(std::uint32_t row) const {
  const std::uint32_t at = leaf_of(row);
  const Node& leaf = nodes_[at];
  FeatureVector result(low(at), low(at) + dimension_);
  for (std::uint32_t k = 0; k < leaf.width; ++k)
    result[varying_[leaf.varying + k]] = numbers_[leaf.numbers + k * (leaf.end - leaf.first) + (row - leaf.first)];
  return result;
}

}  // namespace sous::tuning_db
