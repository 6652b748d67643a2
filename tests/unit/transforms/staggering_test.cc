// Two rows in turns: which loops become one, and how far apart.
#include "transforms/strategies/staggering.h"

#include <gtest/gtest.h>

#include "sdfg/text.h"
#include "transforms/apply.h"

namespace sous::transforms {
namespace {

// Of the only loop over rows of the nest: what stands before each loop over columns, and how far that is delayed.
std::string turns(const std::string& between, const std::string& second) {
  const auto parsed = sdfg::parse(
      "sdfg 1 t symbols n, m array R: i32[m + 1] argument array P: i32[m + 1] argument array x: i32[n] argument "
      "arguments n, m, R, P, x assume m >= 0 loop i0 = 0 .. n { s0: R[0] = x[i0] "
      "loop i1 = 0 .. m { s1: R[i1 + 1] = min(min(P[i1 + 1], R[i1]), P[i1]) + 1 } " +
      between + " loop i2 = 0 .. m { " + second + " } }");
  EXPECT_TRUE(parsed) << parsed.error().to_string();
  Nest nest{.scop = sdfg::scop_of(*parsed), .dependences = {}, .tree = {}};
  const auto dependences = sdfg::Dependences::compute(nest.scop);
  EXPECT_TRUE(dependences);
  nest.dependences = *dependences;
  nest.tree = nest.scop.tree;
  const auto found = staggered_of(nest, {.hardware = {{"simd_bits", 512}}, .reassociate = false});
  if (!found || found->size() != 1) return "none";
  const Staggered& one = found->front();
  std::string text = one.columns + " " + std::to_string(one.sunk);
  for (const Staggered::Loop& loop : one.fused)
    text += ", " + loop.name + " " + std::to_string(loop.sunk) + " by " + std::to_string(loop.shift);
  return text + ", skewed by " + std::to_string(one.factor) + (one.one_row ? ", one row" : "");
}

TEST(Staggering, RowsInTurnsAreOneLoop) {
  const std::string back = "s3: P[i2 + 1] = min(min(R[i2 + 1], P[i2]), R[i2]) + 1";
  EXPECT_EQ(turns("s2: P[0] = x[i0] + 1", back), "i1 1, i2 1 by 1, skewed by 3, one row");
  EXPECT_EQ(turns("", back), "i1 1, i2 0 by 1, skewed by 3, one row");
  // Where the second one looks no further than the first one has come, it waits for nothing.
  EXPECT_EQ(turns("", "s3: P[i2] = R[i2]"), "i1 1, i2 0 by 0, skewed by 2, one row");
  // All of the first row.
  EXPECT_EQ(turns("s2: P[0] = R[m]", back), "none");
}

}  // namespace
}  // namespace sous::transforms
