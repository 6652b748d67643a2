#include "benchmarks/schedule.h"

#include <gtest/gtest.h>

#include <numeric>

namespace sous::benchmarks {
namespace {

TEST(Schedule, WithoutALimitEachHasItsRuns) {
  EXPECT_EQ(further_runs({{0.1, false}, {30, true}, {0, false}}, 5, -1), (std::vector<int>{5, 4, 5}));
}

TEST(Schedule, WhereTheTimeSufficesNothingIsTakenAway) {
  EXPECT_EQ(further_runs({{1, false}, {2, true}}, 5, 13), (std::vector<int>{5, 4}));
}

TEST(Schedule, SlowBuildsGiveRunsAwayFirst) {
  // 5 * 0.1 + 5 * 1 + 4 * 10 would be 45.5 seconds.
  EXPECT_EQ(further_runs({{0.1, false}, {1, false}, {10, true}}, 5, 30), (std::vector<int>{5, 5, 2}));
}

TEST(Schedule, EvenWithoutAnyTimeEachRunsOnce) {
  EXPECT_EQ(further_runs({{5, true}, {0.1, false}}, 5, 0), (std::vector<int>{1, 1}));
  EXPECT_EQ(further_runs({}, 5, 0), std::vector<int>{});
}

TEST(Schedule, TheRunsFitTheTime) {
  std::vector<Cost> costs;
  for (int k = 1; k <= 200; ++k) costs.push_back({0.05 * k, k > 20});
  const double once =
      std::accumulate(costs.begin(), costs.end(), 0.0, [](double s, const Cost& c) { return s + c.wall; });
  for (const double seconds : {1.2 * once, 2.0 * once, 3.5 * once}) {
    const auto runs = further_runs(costs, 5, seconds);
    double total = 0;
    for (std::size_t k = 0; k < costs.size(); ++k) {
      total += runs[k] * costs[k].wall;
      if (k > 20) {
        EXPECT_LE(runs[k], runs[k - 1]) << "of two builds the slower one runs no oftener";
      }
    }
    EXPECT_LE(total, seconds);
    EXPECT_GT(total, 0.7 * seconds) << "and the time is used";
  }
}

}  // namespace
}  // namespace sous::benchmarks
