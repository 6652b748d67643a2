#include "transforms/patience.h"

#include <gtest/gtest.h>

#include "sdfg/text.h"
#include "transforms/apply.h"
#include "transforms/recipe.h"

namespace sous::transforms {
namespace {

using namespace std::chrono_literals;

TEST(Patience, TimeCountsWhileSomebodyCounts) {
  Patience::Clock::time_point now{};
  Patience patience(3s, [&] { return now; });
  now += 1h;
  EXPECT_EQ(patience.spent(), 0s);
  {
    const Patience::Counting outer(patience);
    now += 1s;
    {
      const Patience::Counting inner(patience);
      now += 1s;
    }
    EXPECT_EQ(patience.spent(), 2s);
  }
  now += 1h;
  EXPECT_FALSE(patience.over());
  const Patience::Counting again(patience);
  now += 1s;
  EXPECT_TRUE(patience.over());
}

TEST(Patience, ARecipeIsLeftWhereItEnds) {
  const auto nest = sdfg::parse(
      "sdfg 1 f\nsymbols n\narray A: f64[n] argument\narguments n, A\n\n"
      "loop i = 0 .. n {\n  s: A[i] = 1.0\n}\n");
  ASSERT_TRUE(nest);
  Patience::Clock::time_point now{};
  Patience patience(3s, [&] { return now += 1s; });  // each look takes a second
  const Patience::Counting counting(patience);
  const auto recipe =
      recipe_from_text("tile(loops=[i], sizes=[2]); tile(loops=[i], sizes=[3]); tile(loops=[i], sizes=[4]) -> cpp");
  ApplyOptions options;
  EXPECT_TRUE(apply(*nest, *recipe, options));
  options.patience = &patience;
  std::vector<StepReport> reports;
  EXPECT_EQ(apply(*nest, *recipe, options, &reports).error().code, "recipe.time");
  EXPECT_EQ(reports.size(), 2U);
  EXPECT_EQ(apply(*nest, *recipe, options).error().code, "recipe.time");
}

}  // namespace
}  // namespace sous::transforms
