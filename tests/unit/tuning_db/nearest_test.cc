#include "tuning-db/nearest.h"

#include <faiss/IndexFlat.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

namespace sous::tuning_db {
namespace {

std::vector<StoredVector> random_vectors(std::mt19937_64& random, int count, int dimension) {
  std::normal_distribution<float> value(0, 3);
  std::vector<StoredVector> result;
  for (int i = 0; i < count; ++i) {
    StoredVector v{
        .id = "id" + std::to_string(random() % 1'000'000) + "." + std::to_string(i),
        .key = {random() % 2 ? sdfg::ElementType::f64 : sdfg::ElementType::f32, static_cast<int>(random() % 3)},
        .isa = random() % 2 ? Isa::avx2 : Isa::avx512,
        .vector = {}};
    for (int d = 0; d < dimension; ++d) v.vector.push_back(value(random));
    result.push_back(std::move(v));
  }
  return result;
}

TEST(Nearest, FindsWhatTheSlowTwinFinds) {
  const char* given = std::getenv("SOUS_SEED");
  const std::uint64_t seed = given ? std::strtoull(given, nullptr, 10) : 20260131;
  SCOPED_TRACE("SOUS_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 50; ++round) {
    const int dimension = 1 + static_cast<int>(random() % 100);
    const auto index = Nearest::build(random_vectors(random, static_cast<int>(random() % 200), dimension));
    ASSERT_TRUE(index) << index.error().to_string();
    const FeatureVector query = random_vectors(random, 1, dimension).front().vector;
    NearestFilter filter;
    if (random() % 2) filter.isa = Isa::avx2;
    if (random() % 2) filter.key = NestKey{sdfg::ElementType::f64, 1};
    const int k = static_cast<int>(random() % 12);
    const auto fast = index->search(query, k, filter), slow = index->search_slowly(query, k, filter);
    ASSERT_TRUE(fast && slow);
    ASSERT_EQ(fast->size(), slow->size());
    for (std::size_t i = 0; i < fast->size(); ++i) EXPECT_NEAR((*fast)[i].distance, (*slow)[i].distance, 1e-4);
  }
}

TEST(Nearest, EqualDistancesComeInOrderOfId) {
  const auto index = Nearest::build({{"b", {}, {}, {1, 0}}, {"a", {}, {}, {0, 1}}, {"c", {}, {}, {-1, 0}}});
  ASSERT_TRUE(index);
  const auto hits = index->search({0, 0}, 3);
  ASSERT_TRUE(hits);
  EXPECT_EQ(*hits, (std::vector<Hit>{{"a", 1}, {"b", 1}, {"c", 1}}));
}

TEST(Nearest, AnEmptyIndexFindsNothing) {
  const auto index = Nearest::build({});
  ASSERT_TRUE(index);
  EXPECT_TRUE(index->search({1, 2, 3}, 5)->empty());
}

TEST(Nearest, AFilterThatNothingPassesFindsNothing) {
  const auto index = Nearest::build({{"a", {}, Isa::avx2, {1, 2}}});
  ASSERT_TRUE(index);
  EXPECT_TRUE(index->search({1, 2}, 1, {.key = std::nullopt, .isa = Isa::neon})->empty());
}

TEST(Nearest, VectorsThatDoNotFitAreRefused) {
  EXPECT_EQ(Nearest::build({{"a", {}, {}, {1, 2}}, {"b", {}, {}, {1}}}).error().code, "nearest.dimension");
  EXPECT_EQ(Nearest::build({{"a", {}, {}, {NAN}}}).error().code, "nearest.dimension");
  EXPECT_EQ(Nearest::build({{"a", {}, {}, {1, 2}}})->search({1}, 1).error().code, "nearest.dimension");
}

// FAISS multiplies matrices for many queries at a time, by a BLAS that is looked up then.
TEST(Nearest, ManyQueriesAtATimeFindWhatSingleOnesFind) {
  constexpr int dimension = 32, count = 100, queries = 64;
  std::mt19937_64 random(20261126);
  std::vector<float> all;
  for (const StoredVector& v : random_vectors(random, count, dimension))
    all.insert(all.end(), v.vector.begin(), v.vector.end());
  faiss::IndexFlatL2 index(dimension);
  index.add(count, all.data());
  std::vector<float> distances(queries);
  std::vector<faiss::Index::idx_t> found(queries);
  index.search(queries, all.data(), 1, distances.data(), found.data());
  for (int q = 0; q < queries; ++q) EXPECT_EQ(found[static_cast<std::size_t>(q)], q);
}

}  // namespace
}  // namespace sous::tuning_db
