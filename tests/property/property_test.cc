// interp(x) == interp(step(x)) == run(cpp) == run(openmp) == run(highway), for random x and random recipes.
#include "tests/property/property.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "targets/target.h"
#include "tests/property/judges.h"
#include "tests/support/random.h"
#include "tests/support/random_nest.h"
#include "transforms/apply.h"

namespace sous::tests {
namespace {

constexpr double reassociation_tolerance = 1e-9;

// How often each step was applied, and refused with which code: a sampler that never gets anything applied tests
// nothing.
std::map<std::string, int> outcomes;

// A recipe of up to four steps, each sampled from its declaration over the nest as it then is; refused ones are
// dropped. Half of the samples are of the favourite step, if there is one.
transforms::Recipe random_recipe(const sdfg::Sdfg& sdfg, std::uint64_t seed, bool reassociate,
                                 const transforms::StepInfo* favourite = nullptr) {
  Random random(seed);
  transforms::Recipe recipe;
  const auto targets = targets::targets();
  recipe.target = targets[random.below(targets.size())].name;
  const auto lifted = sdfg::lift(sdfg);
  const auto dependences = sdfg::Dependences::compute(lifted, small_budget);
  if (!dependences) return recipe;
  transforms::Nest nest = {lifted, *dependences, lifted.tree};
  transforms::StepContext context;
  context.reassociate = reassociate;
  const std::int64_t wanted = random.between(1, 4);
  // Most samples name loops that do not fit the step at all; that is found without an analysis, so there are many.
  int analysed = 0;
  for (int tries = 0; tries < 40 && analysed < 8 && static_cast<std::int64_t>(recipe.steps.size()) < wanted; ++tries) {
    const bool favoured = favourite && random.percent(50);
    const transforms::StepInfo& step =
        favoured ? *favourite : *transforms::steps()[random.below(transforms::steps().size())];
    std::uint64_t sampler = random.next();
    const auto call = transforms::sample(step, nest.tree, sampler);
    if (!call) continue;
    const auto plan = step.plan(nest, *call, context);
    ++outcomes[plan ? std::string(step.name) + " applied" : plan.error().code];
    const bool fits = plan || plan.error().code.ends_with(".illegal") || plan.error().code.ends_with(".carried");
    analysed += fits ? 1 : 0;
    if (!plan) continue;
    nest = transforms::rewrite(std::move(nest), *plan);
    recipe.steps.push_back(*call);
    if (nest.stale) break;  // its statements are others now: what could follow is only known after a new analysis
  }
  return recipe;
}

Case plain_case(std::uint64_t seed) { return {random_nest(seed), {}}; }

Case scheduled_case(std::uint64_t seed) { return {random_schedules(random_nest(seed), seed), {}}; }

Case recipe_case(std::uint64_t seed) {
  const bool reassociate = seed % 4 == 0;
  const NestOptions options = {
      .max_depth = 3, .max_statements = 5, .smooth = reassociate, .tidy = seed % 2 == 0, .products = seed % 5 == 0};
  Case result{random_nest(seed, options), {}, reassociate ? reassociation_tolerance : 0};
  result.recipe = random_recipe(result.sdfg, seed, reassociate);
  return result;
}

Case register_tile_case(std::uint64_t seed) {
  Case result{random_nest(seed, {.max_depth = 3, .max_statements = 3, .tidy = true, .products = true}), {}};
  result.recipe = random_recipe(result.sdfg, seed, false, transforms::find_step("register_tile"));
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
