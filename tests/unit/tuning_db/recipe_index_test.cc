#include "tuning-db/recipe_index.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "tuning-db/nearest.h"

namespace sous::tuning_db {
namespace {

constexpr NestKey matrices{sdfg::ElementType::f64, 3};

struct Kept {
  std::vector<Summary> entries;
  std::vector<StoredVector> vectors;
  void add(const std::string& recipe, FeatureVector vector, const std::string& hash = "h", NestKey key = matrices) {
    std::string id = std::to_string(1000 + entries.size());
    Summary one;
    one.id = id;
    one.structural_hash = hash;
    one.recipe_json = recipe;
    one.baseline_seconds = 2;
    one.tuned_seconds = 1;
    entries.push_back(std::move(one));
    vectors.push_back({std::move(id), key, Isa::avx2, std::move(vector)});
  }
  RecipeIndex index() const { return RecipeIndex::build(entries, vectors).value(); }
};

// 1, 16, 17: the rows are padded to whole lanes.
TEST(RecipeIndex, WithARecipeEachItFindsWhatTheSlowTwinFinds) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> number(-10, 10);
  for (const std::size_t dimension : {1, 16, 17, 88}) {
    const auto any = [&] {
      FeatureVector v(dimension);
      for (float& x : v) x = number(random);
      return v;
    };
    Kept kept;
    for (int i = 0; i < 200; ++i)
      kept.add(std::to_string(i), any(), i % 5 == 0 ? "own" : "h",
               i % 3 == 0 ? NestKey{sdfg::ElementType::f32, 2} : matrices);
    const RecipeIndex index = kept.index();
    NearestFilter filter{.key = matrices, .isa = std::nullopt};
    for (const Summary* own : index.with_hash("own")) filter.without.insert(own->id);
    const auto nearest = Nearest::build(kept.vectors).value();
    for (int i = 0; i < 20; ++i) {
      const FeatureVector query = any();
      const auto found = index.search(query, matrices, index.with_hash("own")).value();
      const auto expected = nearest.search_slowly(query, 1000, filter).value();
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t n = 0; n < found.size(); ++n) {
        EXPECT_EQ(found[n].entry->id, expected[n].id);
        EXPECT_NEAR(found[n].distance, expected[n].distance, 1e-4);
      }
    }
    EXPECT_EQ(index.vector(index.entries()[7]), kept.vectors[7].vector);
  }
}

TEST(RecipeIndex, OfWhatMeasurementsSayTheNearestIsKept) {
  Kept kept;
  for (int i = 0; i < 100; ++i) kept.add("a", {static_cast<float>(100 - i)});
  kept.add("b", {500});
  kept.add("a", {0.5F});
  kept.entries.back().tuned_seconds = 9;  // a loss says something else
  const RecipeIndex index = kept.index();
  const auto found = index.search({0}, matrices, {}).value();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].entry->id, "1101");
  EXPECT_EQ(found[1].entry->id, "1099");
  EXPECT_EQ(found[2].entry->recipe_json, "b");
  EXPECT_TRUE(index.search({0}, matrices, index.with_hash("h"))->empty());
  EXPECT_TRUE(index.search({0}, {sdfg::ElementType::f32, 1}, {})->empty());
  EXPECT_EQ(index.search({0, 0}, matrices, {}).error().code, "nearest.dimension");
}

TEST(RecipeIndex, EntriesWithoutAVectorAreFoundByTheirHash) {
  Kept kept;
  kept.add("a", {1});
  kept.add("b", {2}, "other");
  kept.vectors.pop_back();
  kept.vectors.push_back({"2000", matrices, Isa::avx2, {3}});  // of an entry that came meanwhile
  const RecipeIndex index = kept.index();
  EXPECT_EQ(index.search({0}, matrices, {})->size(), 1u);
  ASSERT_EQ(index.with_hash("other").size(), 1u);
  EXPECT_FALSE(index.vector(*index.with_hash("other")[0]));
  kept.vectors[0].vector = {std::nanf("")};
  EXPECT_EQ(RecipeIndex::build(kept.entries, kept.vectors).error().code, "nearest.dimension");
  EXPECT_TRUE(RecipeIndex::build({}, {}).value().search({0}, matrices, {})->empty());
}

}  // namespace
}  // namespace sous::tuning_db
