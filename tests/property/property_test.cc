// interp(x) == interp(step(x)) == run(cpp) == run(openmp) == run(highway), for random x and random recipes.
#include "tests/property/property.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "tests/property/judges.h"
#include "tests/support/random_nest.h"
#include "tests/support/random_recipe.h"
#include "transforms/apply.h"

namespace sous::tests {
namespace {

constexpr double reassociation_tolerance = 1e-9;

std::map<std::string, int> outcomes;

Case plain_case(std::uint64_t seed) { return {random_nest(seed), {}}; }

Case scheduled_case(std::uint64_t seed) { return {random_schedules(random_nest(seed), seed), {}}; }

Case recipe_case(std::uint64_t seed) {
  const bool reassociate = seed % 4 == 0;
  const NestOptions options = {
      .max_depth = 3, .max_statements = 5, .smooth = reassociate, .tidy = seed % 2 == 0, .products = seed % 5 == 0};
  Case result{random_nest(seed, options), {}, reassociate ? reassociation_tolerance : 0};
  result.recipe =
      random_recipe(result.sdfg, seed, {.reassociate = reassociate, .favourite = nullptr, .outcomes = &outcomes});
  return result;
}

Case register_tile_case(std::uint64_t seed) {
  Case result{random_nest(seed, {.max_depth = 3, .max_statements = 3, .tidy = true, .products = true}), {}};
  result.recipe =
      random_recipe(result.sdfg, seed,
                    {.reassociate = false, .favourite = transforms::find_step("register_tile"), .outcomes = &outcomes});
  return result;
}

Case pack_case(std::uint64_t seed) {
  Case result{random_nest(seed, {.max_depth = 3, .max_statements = 3, .tidy = true, .products = true}), {}};
  result.recipe = random_recipe(
      result.sdfg, seed, {.reassociate = false, .favourite = transforms::find_step("pack"), .outcomes = &outcomes});
  return result;
}

Case promote_case(std::uint64_t seed) {
  Case result{random_nest(seed, {.max_depth = 3, .max_statements = 4, .tidy = true, .products = seed % 3 == 0}), {}};
  result.recipe = random_recipe(
      result.sdfg, seed, {.reassociate = false, .favourite = transforms::find_step("promote"), .outcomes = &outcomes});
  return result;
}

TEST(Property, RoundTrip) { hold({"RoundTrip", scheduled_case, judge_round_trip}); }

TEST(Property, Compiled) { hold({"Compiled", scheduled_case, judge_compiled}, 50); }

TEST(Property, Recipes) {
  hold({"Recipes", recipe_case, judge_recipe});
  for (const auto& [outcome, count] : outcomes) std::cout << outcome << ": " << count << "\n";
}

// Few nests have the shape that this step wants, and it restructures more than others.
TEST(Property, RegisterTiles) {
  hold({"RegisterTiles", register_tile_case, judge_recipe}, 20);
  for (const auto& [outcome, count] : outcomes) std::cout << outcome << ": " << count << "\n";
}

TEST(Property, Packs) {
  hold({"Packs", pack_case, judge_recipe}, 20);
  for (const auto& [outcome, count] : outcomes) std::cout << outcome << ": " << count << "\n";
}

TEST(Property, Promotes) {
  hold({"Promotes", promote_case, judge_recipe}, 20);
  for (const auto& [outcome, count] : outcomes) std::cout << outcome << ": " << count << "\n";
}

TEST(Property, NormalForm) { hold({"NormalForm", plain_case, judge_normal_form}, 50); }

// What failed once is held to everything from then on.
TEST(Property, FoundStaysFixed) {
  const std::filesystem::path folder = SOUS_SOURCE_DIR "/tests/golden/found";
  std::vector<Case> cases;
  std::vector<std::string> names;
  if (!std::filesystem::exists(folder)) return;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path());
  std::ranges::sort(paths);
  for (const auto& path : paths) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    const auto found = from_file(text.str());
    ASSERT_TRUE(found) << path << ": " << found.error().to_string();
    cases.push_back(*found);
    names.push_back(path.filename().string());
  }
  for (const auto& judge : {judge_round_trip, judge_compiled, judge_recipe, judge_normal_form}) {
    const auto verdicts = judge(cases);
    for (std::size_t k = 0; k < cases.size(); ++k) EXPECT_FALSE(verdicts[k]) << names[k] << ": " << verdicts[k]->why;
  }
}

}  // namespace
}  // namespace sous::tests
