#include "tuning-db/recipe_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>

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

// All, in order.
std::vector<RecipeIndex::Near> all(const RecipeIndex& index, const RecipeIndex::Question& question) {
  auto found = index.nearest(question).value();
  std::ranges::sort(found, {}, [](const RecipeIndex::Near& one) { return std::pair(one.distance, one.entry->id); });
  return found;
}

// 1, 16, 17: numbers are compared eight at once, and what is left of them one by one.
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
      const auto found = all(index, {.from = query, .key = matrices, .without = index.nests_with_hash("own")});
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

// Nests measured at many sizes, a few recipes, gains that are alike: nearest of each as a look at all of them finds it.
TEST(RecipeIndex, ClustersHideNothing) {
  std::mt19937 random(11);
  std::normal_distribution<float> around(0, 2);
  Kept kept;
  for (int i = 0; i < 3000; ++i) {
    const int nest = static_cast<int>(random() % 30);
    // Whole numbers: many are at the same distance.
    FeatureVector v(5);
    for (std::size_t d = 0; d < v.size(); ++d)
      v[d] = std::round(static_cast<float>((nest * (static_cast<int>(d) + 3)) % 17) + around(random));
    kept.add(std::to_string(random() % 40), v, "h" + std::to_string(nest));
    kept.vectors.back().isa = random() % 2 == 0 ? Isa::avx2 : Isa::avx512;
    kept.entries.back().tuned_seconds = 0.25 * static_cast<double>(1 + random() % 3);
  }
  const RecipeIndex index = kept.index();
  for (int query = 0; query < 20; ++query) {
    FeatureVector from(5);
    for (float& x : from) x = std::round(8 + 4 * around(random));
    for (const bool narrow : {false, true}) {
      std::map<std::pair<std::string, Isa>, std::tuple<double, double, std::string>> nearest;
      for (std::size_t k = 0; k < kept.entries.size(); ++k) {
        if ((narrow && kept.vectors[k].isa != Isa::avx2) || kept.entries[k].structural_hash == "h7") continue;
        double square = 0;
        for (std::size_t d = 0; d < 5; ++d) square += std::pow(kept.vectors[k].vector[d] - from[d], 2);
        const std::tuple one(std::sqrt(square), -kept.entries[k].ratio(), kept.entries[k].id);
        const auto at = nearest.try_emplace({kept.entries[k].recipe_json, kept.vectors[k].isa}, one).first;
        at->second = std::min(at->second, one);
      }
      std::set<std::pair<double, std::string>> expected;
      for (const auto& [label, one] : nearest) expected.emplace(std::get<0>(one), std::get<2>(one));
      const RecipeIndex::Question question{
          .from = from,
          .key = matrices,
          .without = index.nests_with_hash("h7"),
          .wanted = narrow ? std::function<bool(Isa)>([](Isa isa) { return isa == Isa::avx2; }) : nullptr};
      const auto found = all(index, question);
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t n = 0; const auto& [distance, id] : expected) {
        EXPECT_EQ(found[n].entry->id, id);
        EXPECT_NEAR(found[n++].distance, distance, 1e-6);
      }
      // As many entries as are wanted, and on to as many recipes.
      for (const auto& [entries, recipes] : {std::pair<std::size_t, std::size_t>{1, 7}, {25, 7}, {70, 38}, {9, 0}}) {
        std::vector<std::string> nearest_ids, few;
        std::set<std::string> distinct;
        for (const auto& one : found) {
          if (nearest_ids.size() >= entries && distinct.size() >= recipes) break;
          nearest_ids.push_back(one.entry->id);
          distinct.insert(one.entry->recipe_json);
        }
        auto some = question;
        some.entries = entries;
        some.recipes = recipes;
        for (const auto& one : all(index, some)) few.push_back(one.entry->id);
        EXPECT_EQ(few, nearest_ids) << entries << " entries, " << recipes << " recipes";
      }
    }
  }
}

TEST(RecipeIndex, OfWhatMeasurementsSayTheNearestIsKept) {
  Kept kept;
  for (int i = 0; i < 100; ++i) kept.add("a", {static_cast<float>(100 - i)});
  kept.add("b", {500});
  kept.add("a", {0.5F});
  kept.entries.back().tuned_seconds = 9;  // a loss says something else
  const RecipeIndex index = kept.index();
  const auto found = all(index, {.from = {0}, .key = matrices});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].entry->id, "1101");
  EXPECT_EQ(found[1].entry->id, "1099");
  EXPECT_EQ(found[2].entry->recipe_json, "b");
  EXPECT_TRUE(all(index, {.from = {0}, .key = matrices, .without = index.nests_with_hash("h")}).empty());
  EXPECT_TRUE(all(index, {.from = {0}, .key = {sdfg::ElementType::f32, 1}}).empty());
  EXPECT_EQ(index.nearest({.from = {0, 0}, .key = matrices}).error().code, "nearest.dimension");
}

TEST(RecipeIndex, EntriesWithoutAVectorAreFoundByTheirHash) {
  Kept kept;
  kept.add("a", {1});
  kept.add("b", {2}, "other");
  kept.vectors.pop_back();
  kept.vectors.push_back({"2000", matrices, Isa::avx2, {3}});  // of an entry that came meanwhile
  const RecipeIndex index = kept.index();
  EXPECT_EQ(all(index, {.from = {0}, .key = matrices}).size(), 1u);
  ASSERT_EQ(index.with_hash("other").size(), 1u);
  EXPECT_FALSE(index.vector(*index.with_hash("other")[0]));
  kept.vectors[0].vector = {std::nanf("")};
  EXPECT_EQ(RecipeIndex::build(kept.entries, kept.vectors).error().code, "nearest.dimension");
  const RecipeIndex none = RecipeIndex::build({}, {}).value();
  EXPECT_TRUE(all(none, {.from = {0}, .key = matrices}).empty());
}

}  // namespace
}  // namespace sous::tuning_db
