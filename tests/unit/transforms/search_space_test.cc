#include "transforms/search_space.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "sdfg/text.h"
#include "tests/support/random_recipe.h"
#include "transforms/apply.h"

namespace sous::transforms {
namespace {

// A band of three, a loop behind it, and a loop that holds two.
constexpr const char* text =
    "sdfg 1 t symbols n array A: f64[n, n] argument array B: f64[n, n] argument array x: f64[n] argument "
    "arguments n, A, B, x "
    "loop i = 0 .. n { loop j = 0 .. n { loop k = 0 .. n { s0: A[i, j] = A[i, j] + B[i, k] * B[k, j] } } } "
    "loop l = 0 .. n { s1: x[l] = A[l, l] } "
    "loop o = 0 .. n { loop p = 0 .. n { s2: B[o, p] = x[p] } loop q = 0 .. n { s3: A[o, q] = B[o, q] } }";

Nest nest() {
  Nest result{.scop = sdfg::scop_of(*sdfg::parse(text)), .dependences = {}, .tree = {}, .stale = true};
  result.tree = result.scop.tree;
  return result;
}

StepContext machine() { return {.hardware = tests::small_hardware(), .reassociate = false}; }

std::set<std::string> texts(const std::vector<StepCall>& calls) {
  std::set<std::string> result;
  for (const StepCall& call : calls) result.insert(to_text(call));
  return result;
}

std::vector<StepCall> all_of(std::string_view step, const StepContext& context, std::size_t limit = 100'000) {
  return SearchSpace(*find_step(step), nest().tree, context).enumerate(limit);
}

// The placements of a space, found by trying every loop, every pair and every list of up to three.
std::set<std::string> tried(const StepInfo& step, const StepCall& values) {
  const std::vector<std::string> loops = sdfg::loop_symbols(nest().tree);
  std::vector<std::vector<std::string>> lists = {{}};
  for (std::size_t k = 0; k < lists.size(); ++k)
    for (const std::string& loop : loops)
      if (lists[k].size() < 3) {
        lists.push_back(lists[k]);
        lists.back().push_back(loop);
      }
  std::set<std::string> result;
  const std::function<void(std::size_t, StepCall)> choose = [&](std::size_t at, StepCall call) {
    if (at == step.params.size()) {
      if (validate(call) && check_values(step, call, {}) && check_loops(step, call, nest().tree))
        result.insert(to_text(call));
      return;
    }
    const ParamInfo& p = step.params[at];
    const std::string name(p.name);
    if (p.type != ParamType::Loop && p.type != ParamType::Loops) {
      if (const auto value = values.params.find(name); value != values.params.end()) call.params.insert(*value);
      return choose(at + 1, call);
    }
    if (!p.required) choose(at + 1, call);
    for (const auto& list : lists) {
      if (p.type == ParamType::Loop && list.size() != 1) continue;
      if (p.type == ParamType::Loop)
        call.params[name] = list[0];
      else
        call.params[name] = list;
      choose(at + 1, call);
    }
  };
  choose(0, {.step = std::string(step.name), .params = {}});
  return result;
}

TEST(SearchSpace, HasEveryPlacementThatTheRelationsAllow) {
  for (const StepInfo* step : steps()) {
    const std::vector<StepCall> calls = SearchSpace(*step, nest().tree, {}).enumerate(20'000);
    const std::set<std::string> found = texts(calls);
    EXPECT_EQ(found.size(), calls.size()) << step->name;  // none twice
    std::set<std::string> expected;
    for (const StepCall& call : calls) {
      if (expected.contains(to_text(call)) || expected.size() > 200) continue;  // some values, in all placements
      expected.merge(tried(*step, call));
      EXPECT_TRUE(expected.contains(to_text(call))) << to_text(call);
    }
    for (const std::string& call : expected) EXPECT_TRUE(found.contains(call)) << call;
  }
}

TEST(SearchSpace, CheapCallsComeFirst) {
  const auto calls = all_of("unroll", {});
  ASSERT_EQ(calls.size(), 21U);  // seven loops, the default and two other factors
  EXPECT_EQ(to_text(calls[0]), "unroll(loop=i)");
  EXPECT_EQ(to_text(calls[7]), "unroll(loop=i, factor=2)");
  EXPECT_EQ(to_text(all_of("tile", {}, 1)[0]), "tile(loops=[i], sizes=[32])");
  EXPECT_EQ(texts(all_of("interchange", {})),
            (std::set<std::string>{"interchange(outer=i, inner=j)", "interchange(outer=j, inner=k)"}));
  EXPECT_EQ(texts(all_of("fuse", {}, 3)),
            (std::set<std::string>{"fuse(first=i, second=l)", "fuse(first=l, second=o)", "fuse(first=p, second=q)"}));
}

TEST(SearchSpace, ExpressionsNeedHardware) {
  const auto uses_hardware = [](const std::vector<StepCall>& calls) {
    return std::ranges::count_if(calls, [](const StepCall& call) { return to_text(call).contains("_bytes"); });
  };
  EXPECT_EQ(uses_hardware(all_of("promote", {})), 0);
  EXPECT_EQ(uses_hardware(all_of("promote", machine())), 7);
  StepContext tiny = machine();
  tiny.hardware["l1_bytes"] = 32;  // a size of 0
  EXPECT_EQ(uses_hardware(all_of("promote", tiny)), 0);
}

TEST(SearchSpace, WhatIsSampledParsesAndFits) {
  for (const StepInfo* step : steps()) {
    const SearchSpace space(*step, nest().tree, machine());
    std::uint64_t random = 7, again = 7;
    std::set<std::string> different;
    for (int k = 0; k < 200; ++k) {
      const auto call = space.sample(random);
      ASSERT_TRUE(call) << step->name;
      EXPECT_EQ(call, space.sample(again));
      different.insert(to_text(*call));
      const Recipe recipe{.version = 1, .target = "cpp", .steps = {*call}};
      EXPECT_EQ(recipe_from_text(to_text(recipe)), recipe) << to_text(recipe);
      EXPECT_EQ(recipe_from_json(to_json(recipe)), recipe);
      EXPECT_TRUE(check_values(*step, *call, machine()));
      EXPECT_TRUE(check_loops(*step, *call, nest().tree));
    }
    EXPECT_GT(different.size(), 1U) << step->name;
  }
}

// How many parameters differ.
int changes(const StepCall& a, const StepCall& b) {
  int count = 0;
  std::set<std::string> names;
  for (const auto* call : {&a, &b})
    for (const auto& [name, value] : call->params) names.insert(name);
  for (const std::string& name : names)
    count += a.params.contains(name) && b.params.contains(name) && a.params.at(name) == b.params.at(name) ? 0 : 1;
  return count;
}

TEST(SearchSpace, MutationChangesOneThing) {
  for (const StepInfo* step : steps()) {
    const SearchSpace space(*step, nest().tree, machine());
    std::uint64_t random = 3;
    std::set<std::string> reached;
    for (int k = 0; k < 200; ++k) {
      const auto call = space.sample(random);
      const auto other = space.mutate(*call, random);
      ASSERT_TRUE(other) << to_text(*call);
      reached.insert(to_text(*other));
      EXPECT_NE(*other, *call);
      EXPECT_TRUE(validate(*other) && check_values(*step, *other, machine())) << to_text(*other);
      EXPECT_TRUE(check_loops(*step, *other, nest().tree)) << to_text(*other);
      // Other loops are one thing, with as many sizes.
      StepCall a = *call, b = *other;
      for (const ParamInfo& p : step->params)
        if (p.type == ParamType::Loop || p.type == ParamType::Loops) {
          a.params.erase(std::string(p.name));
          b.params.erase(std::string(p.name));
        }
      EXPECT_LE(changes(a, b), 1) << to_text(*call) << " " << to_text(*other);
    }
    EXPECT_GT(reached.size(), 1U) << step->name;
  }
}

TEST(SearchSpace, MutationKeepsAPersonsValues) {
  const SearchSpace space(*find_step("tile"), nest().tree, {});
  const StepCall call = recipe_from_text("tile(loops=[i, j], sizes=[56, 300], count=points) -> cpp")->steps[0];
  std::uint64_t random = 1;
  int kept = 0;
  for (int k = 0; k < 100; ++k) {
    const auto other = space.mutate(call, random);
    ASSERT_TRUE(other);
    kept += to_text(*other).contains("56") || to_text(*other).contains("300") ? 1 : 0;
    EXPECT_FALSE(to_text(*other).contains("points"));  // the default, which is not written
  }
  EXPECT_EQ(kept, 100);
  // Loops that this nest does not have are what changes.
  const StepCall strange = recipe_from_text("tile(loops=[i0], sizes=[56]) -> cpp")->steps[0];
  const auto here = space.mutate(strange, random);
  ASSERT_TRUE(here);
  EXPECT_TRUE(to_text(*here).contains("[56")) << to_text(*here);
  EXPECT_FALSE(space.mutate(recipe_from_text("unroll(loop=i) -> cpp")->steps[0], random));
}

// What is declared of loops is what a step needs of them: nothing of a space is refused for where its loops stand.
TEST(SearchSpace, NoCallIsRefusedForWhereItsLoopsStand) {
  const std::set<std::string> related = {"not-nested", "not-neighbours", "not-around",
                                         "not-inside", "no-loop",        "sizes"};
  for (const StepInfo* step : steps())
    for (const StepCall& call : SearchSpace(*step, nest().tree, {}).enumerate(12)) {
      Nest here = nest();
      const auto plan = plan_of(*step, call, here, {.context = {}, .budget = tests::small_budget});
      const std::string code = plan ? "" : plan.error().code.substr(plan.error().code.find('.') + 1);
      // Without `second`, join asks what stands behind the loop, which is no loop.
      const bool no_second = code == "not-neighbours" && !call.params.contains("second");
      EXPECT_TRUE(no_second || !related.contains(code)) << to_text(call) << ": " << plan.error().why;
    }
}

}  // namespace
}  // namespace sous::transforms
