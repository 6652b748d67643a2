#include "transforms/interchange_bounds.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <set>

namespace sous::transforms {
namespace {

using sdfg::Expr;
using Points = std::set<std::pair<std::int64_t, std::int64_t>>;

// The points (value of `first`, value of `second`) that two nested loops run.
Points points(const LoopBounds& a, const LoopBounds& b, bool swapped, std::map<std::string, std::int64_t> symbols) {
  Points result;
  const std::int64_t a_end = a.end.evaluate(symbols).value();
  for (std::int64_t x = a.begin.evaluate(symbols).value(); x < a_end; x += a.step) {
    symbols[a.symbol] = x;
    const std::int64_t b_end = b.end.evaluate(symbols).value();
    for (std::int64_t y = b.begin.evaluate(symbols).value(); y < b_end; y += b.step)
      result.insert(swapped ? std::pair{y, x} : std::pair{x, y});
  }
  return result;
}

void expect_same_points(const LoopBounds& outer, const LoopBounds& inner) {
  const auto exchanged = exchanged_bounds(outer, inner);
  ASSERT_TRUE(exchanged) << inner.begin.to_string() << " .. " << inner.end.to_string();
  const LoopBounds new_outer{inner.symbol, (*exchanged)[0].first, (*exchanged)[0].second, inner.step};
  const LoopBounds new_inner{outer.symbol, (*exchanged)[1].first, (*exchanged)[1].second, outer.step};
  for (std::int64_t n = -2; n < 9; ++n)
    EXPECT_EQ(points(outer, inner, false, {{"n", n}}), points(new_outer, new_inner, true, {{"n", n}}))
        << "n = " << n << ", j in " << inner.begin.to_string() << " .. " << inner.end.to_string() << " becomes "
        << new_outer.begin.to_string() << " .. " << new_outer.end.to_string() << ", i in "
        << new_inner.begin.to_string() << " .. " << new_inner.end.to_string();
}

const Expr n = Expr::symbol("n"), i = Expr::symbol("i"), j = Expr::symbol("j");

TEST(ExchangedBounds, WritesTrianglesWithoutMinAndMax) {
  const auto lower = exchanged_bounds({"i", 0, n}, {"j", 0, i + 1}).value();
  EXPECT_EQ(lower[0], (std::pair{Expr(0), n}));
  EXPECT_EQ(lower[1], (std::pair{j, n}));
  const auto upper = exchanged_bounds({"i", 0, n}, {"j", i, n}).value();
  EXPECT_EQ(upper[0], (std::pair{Expr(0), n}));
  EXPECT_EQ(upper[1], (std::pair{Expr(0), j + 1}));
}

TEST(ExchangedBounds, RunsTheSamePoints) {
  const LoopBounds outer{"i", 0, n};
  expect_same_points(outer, {"j", 0, i});
  expect_same_points(outer, {"j", i + 1, n});
  expect_same_points(outer, {"j", n - i, n});
  expect_same_points(outer, {"j", i - 1, i + 2});
  expect_same_points(outer, {"j", 2 * i, 3 * i + 4});
  expect_same_points(outer, {"j", Expr::max(i, 3), Expr::min(n, i + 4)});
  expect_same_points(outer, {"j", Expr::floor_div(i, 2), Expr::floor_div(n + i, 3)});
  expect_same_points({"i", Expr::max(2, n - 3), Expr::min(n, 7)}, {"j", -i, i});
  expect_same_points({"i", 0, n, 3}, {"j", 1, n, 2});
}

TEST(ExchangedBounds, RunsTheSamePointsAtRandom) {
  const char* given = std::getenv("SOUS_SEED");
  const unsigned seed = given ? static_cast<unsigned>(std::atoi(given)) : 7u;
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  const auto bound = [&] { return pick(-3, 3) * i + pick(-1, 1) * n + pick(-4, 4); };
  for (int round = 0; round < 200; ++round) {
    Expr begin = bound(), end = bound();
    if (pick(0, 1)) begin = Expr::max(begin, bound());
    if (pick(0, 1)) end = Expr::min(end, Expr::floor_div(bound(), pick(1, 3)));
    expect_same_points({"i", pick(-2, 2), n + pick(-2, 2)}, {"j", begin, end});
  }
}

TEST(ExchangedBounds, RefusesWhatItCannotWrite) {
  EXPECT_FALSE(exchanged_bounds({"i", 0, n}, {"j", 0, n * i}));
  EXPECT_FALSE(exchanged_bounds({"i", 0, n}, {"j", 0, Expr::mod(i, 3)}));
  EXPECT_FALSE(exchanged_bounds({"i", 0, n, 2}, {"j", i, n}));
  EXPECT_FALSE(exchanged_bounds({"i", 0, n}, {"j", Expr::min(i, 2), n}));
  EXPECT_FALSE(exchanged_bounds({"i", 0, n}, {"j", Expr::read("row", {i}), n}));
}

}  // namespace
}  // namespace sous::transforms
