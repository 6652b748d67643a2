// Steps that give each iteration of a loop its own place for an argument, whose last values others look at or do not.
#include <gtest/gtest.h>

#include "sdfg/check.h"
#include "sdfg/text.h"
#include "transforms/apply.h"

namespace sous::transforms {
namespace {

// What the step does about the argument x, of which each iteration fills the elements up to `bound`.
std::string last_values(const std::string& step, const std::string& attribute, const std::string& bound) {
  const auto sdfg = sdfg::parse(
      "sdfg 1 t symbols n array A: f64[n, n] argument array B: f64[n, n] argument array x: f64[n] argument" +
      attribute + " arguments n, A, B, x loop i = 0 .. n { loop j = 0 .. " + bound +
      " { s0: x[j] = B[i, j] } loop k = 0 .. " + bound + " { s1: A[i, k] = x[k] } }");
  EXPECT_TRUE(sdfg) << sdfg.error().to_string();
  const auto result = apply(*sdfg, recipe_from_text(step + "(loop=i); parallelize(loop=i) -> cpp").value(), {});
  if (!result) return result.error().code;
  EXPECT_TRUE(sdfg::check(*result));
  EXPECT_EQ(result->arguments, sdfg->arguments);
  return sdfg::touched(result->root).written.contains("x") ? "copied" : "not copied";
}

// Of a dead one nothing is copied, and no last values need be known.
TEST(DeadArguments, StayAsTheyAre) {
  for (const std::string step : {"expand", "privatize"}) {
    EXPECT_EQ(last_values(step, "", "n"), "copied") << step;
    EXPECT_EQ(last_values(step, " dead", "n"), "not copied") << step;
    EXPECT_EQ(last_values(step, "", "n - i"), step + ".nothing");
    EXPECT_EQ(last_values(step, " dead", "n - i"), "not copied") << step;
  }
}

}  // namespace
}  // namespace sous::transforms
