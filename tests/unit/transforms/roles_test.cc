#include "transforms/roles.h"

#include <gtest/gtest.h>

#include "sdfg/text.h"

namespace sous::transforms {
namespace {

sdfg::Sdfg nest(const std::string& body) {
  const auto parsed = sdfg::parse(
      "sdfg 1 nest\nsymbols n0\narray a0: f64[n0, n0] argument alias 1\narray a1: f64[n0, n0] argument const\n"
      "array a2: f64[n0, n0] argument const alias 2\narguments n0, a0, a1, a2\n\n" +
      body);
  EXPECT_TRUE(parsed) << parsed.error().to_string();
  return *parsed;
}

const char* const ikj =
    "loop i0 = 0 .. n0 { loop i1 = 0 .. n0 { loop i2 = 0 .. n0 {\n"
    "  s0: a0[i0, i2] = a0[i0, i2] + a1[i0, i1] * a2[i1, i2]\n} } }\n";
// The same with the reduction outermost.
const char* const kij =
    "loop i0 = 0 .. n0 { loop i1 = 0 .. n0 { loop i2 = 0 .. n0 {\n"
    "  s0: a0[i1, i2] = a0[i1, i2] + a1[i1, i0] * a2[i0, i2]\n} } }\n";

TEST(Roles, OfLoops) {
  const auto roles = loop_roles(nest(ikj));
  ASSERT_EQ(roles.size(), 3u);
  EXPECT_TRUE(roles[0].parallel && !roles[1].parallel && roles[2].parallel);
  EXPECT_TRUE(roles[1].reduction);
  EXPECT_GT(roles[2].contiguous, roles[0].contiguous);
  EXPECT_EQ(roles[0].height, 2);
}

TEST(Roles, ParallelLoopsMeetParallelLoops) {
  const Recipe recipe{1, "openmp", {{"parallelize", {{"loop", std::string("i0_t")}}}}};
  const auto matched = match_roles(recipe, nest(ikj), nest(kij));
  ASSERT_TRUE(matched) << matched.error().to_string();
  EXPECT_EQ(std::get<std::string>(matched->steps[0].params.at("loop")), "i1_t");
  EXPECT_EQ(*match_roles(recipe, nest(ikj), nest(ikj)), recipe);
}

TEST(Roles, NoCounterpartIsRefused) {
  const Recipe recipe{1, "cpp", {{"tile", {{"loops", std::vector<std::string>{"i0", "i1", "i2"}}}}}};
  const auto flat = nest("loop i0 = 0 .. n0 {\n  s0: a0[i0, 0] = a1[i0, 0] * a2[i0, 0]\n}\n");
  const auto matched = match_roles(recipe, nest(ikj), flat);
  ASSERT_FALSE(matched);
  EXPECT_EQ(matched.error().code, "roles.no-match");
}

}  // namespace
}  // namespace sous::transforms
