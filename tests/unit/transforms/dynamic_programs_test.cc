// Dynamic programs over integers: what their updates read in the array that they update keeps its place, and the
// updates themselves may change theirs.
#include <gtest/gtest.h>

#include "sdfg/interp.h"
#include "sdfg/text.h"
#include "tests/support/random_nest.h"
#include "tests/support/run_compiled.h"
#include "transforms/apply.h"

namespace sous::transforms {
namespace {

sdfg::Sdfg nest(const std::string& body, const std::string& type = "i32") {
  auto parsed =
      sdfg::parse("sdfg 1 t symbols n array D: " + type + "[n, n] argument array E: i32[n] argument alias 1 " +
                  "arguments n, D, E disjoint D, E " + body);
  if (!parsed) ADD_FAILURE() << parsed.error().to_string();
  return parsed.value_or(sdfg::Sdfg{});
}

// The code of the refusal; "same" where the steps apply and both compute the same for every size from 0 to 20.
std::string result(const sdfg::Sdfg& before, const std::string& steps) {
  const auto recipe = recipe_from_text(steps + " -> highway");
  if (!recipe) return recipe.error().code;
  const auto after = apply(before, *recipe, {});
  if (!after) return after.error().code;
  for (std::int64_t n = 0; n <= 20; ++n) {
    sdfg::Memory expected = tests::random_memory(before, 1, {{"n", n}}), actual = expected;
    if (!sdfg::interpret(before, expected) || !sdfg::interpret(*after, actual)) return "not run";
    if (const auto found = tests::difference(expected, actual)) return *found;
  }
  return "same";
}

// Rows from the last one up (-i counts them), columns to the right, the best of all places to cut.
std::string cuts(const std::string& op) {
  return "loop i = 0 .. n - 1 { loop j = -i .. 1 { loop k = -i .. j { s0: D[n - 2 - i, j + n - 1] = " + op +
         "(D[n - 2 - i, j + n - 1], D[n - 2 - i, k + n - 1] + D[k + n, j + n - 1]) } } }";
}

TEST(DynamicPrograms, UpdatesOfIntegersChangePlaces) {
  for (const char* op : {"max", "min"}) {
    EXPECT_EQ(result(nest(cuts(op)), "reverse(loop=k)"), "same");
    EXPECT_EQ(result(nest(cuts(op), "f64"), "reverse(loop=k)"), "reverse.illegal");
  }
}

TEST(DynamicPrograms, WhatUpdatesReadOfOtherElementsDoesNot) {
  EXPECT_EQ(result(nest(cuts("max")), "reverse(loop=i)"), "reverse.illegal");
  EXPECT_EQ(result(nest(cuts("max")), "interchange(outer=j, inner=k)"), "same");
  EXPECT_EQ(result(nest("loop i = 1 .. n { s0: D[0, i] = D[0, i] + D[0, i - 1] }"), "reverse(loop=i)"),
            "reverse.illegal");
}

// Nor do updates run at the same time once they have changed places.
TEST(DynamicPrograms, UpdatesThatHaveChangedPlacesStillFollowEachOther) {
  EXPECT_EQ(result(nest(cuts("max")), "reverse(loop=k); vectorize(loop=k)"), "vectorize.carried");
  EXPECT_EQ(result(nest(cuts("max")), "reverse(loop=k); parallelize(loop=k)"), "parallelize.carried");
  const std::string sum = "loop i = 0 .. n { loop j = 0 .. n { s0: E[i] = E[i] + D[i, j] } }";
  EXPECT_EQ(result(nest(sum), "reverse(loop=j); vectorize(loop=j)"), "same");
  EXPECT_EQ(result(nest(sum), "reverse(loop=j); parallelize(loop=j)"), "same");
}

// The element is added to, and says where to read what is added.
TEST(DynamicPrograms, AnUpdateThatFollowsItselfKeepsItsOrder) {
  const std::string chase = "loop i = 0 .. n { s0: E[0] = E[0] + D[0, E[0]] * {i}i32 }";
  const auto recipe = recipe_from_text("reverse(loop=i) -> cpp");
  const auto after = apply(nest(chase), *recipe, {});
  ASSERT_FALSE(after);
  EXPECT_EQ(after.error().code, "reverse.illegal");
}

// Cuts where all iterations of a loop around have begun, or none has ended.
TEST(DynamicPrograms, SplitWhereAllHaveBegunOrNoneHasEnded) {
  EXPECT_EQ(result(nest(cuts("max")), "split(loop=k, at=i, where=begun, offset=-2)"), "same");
  EXPECT_EQ(result(nest(cuts("max")), "split(loop=k, at=j, where=ended, offset=2)"), "same");
}

}  // namespace
}  // namespace sous::transforms
