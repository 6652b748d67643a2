#include "benchmarks/statistics.h"

#include <gtest/gtest.h>

namespace sous::benchmarks {
namespace {

TEST(Statistics, MedianOfOddAndEvenCounts) {
  EXPECT_DOUBLE_EQ(median({3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_DOUBLE_EQ(median({7}), 7);
}

TEST(Statistics, MedianIgnoresAnOutlier) { EXPECT_DOUBLE_EQ(median({1, 1, 1, 1, 1000}), 1); }

TEST(Statistics, QuantilesAreLinearBetweenNeighbours) {
  const std::vector<double> values{10, 20, 30, 40, 50};
  EXPECT_DOUBLE_EQ(quantile(values, 0), 10);
  EXPECT_DOUBLE_EQ(quantile(values, 0.25), 20);
  EXPECT_DOUBLE_EQ(quantile(values, 0.9), 46);
  EXPECT_DOUBLE_EQ(quantile(values, 1), 50);
  EXPECT_DOUBLE_EQ(half_iqr(values), 10);
  EXPECT_DOUBLE_EQ(half_iqr({5}), 0);
}

TEST(Statistics, GeometricMean) {
  EXPECT_DOUBLE_EQ(geometric_mean({2, 8}), 4);
  EXPECT_NEAR(geometric_mean({0.5, 2}), 1, 1e-15);
  EXPECT_DOUBLE_EQ(geometric_mean({}), 1);
  EXPECT_NEAR(geometric_mean({1e-300, 1e-300, 1e300, 1e300}), 1, 1e-12) << "the product leaves the range of double";
}

TEST(Statistics, TheIntervalOfARatioHoldsItAndGrowsWithTheSpread) {
  const std::vector<double> slow{4.0, 4.1, 3.9, 4.2, 4.0}, quick{1.0, 1.02, 0.98, 1.01, 1.0};
  const Interval ratio = median_ratio(slow, quick);
  EXPECT_DOUBLE_EQ(ratio.value, 4);
  EXPECT_LE(ratio.low, 4);
  EXPECT_GE(ratio.high, 4);
  EXPECT_GT(ratio.low, 3.8);
  EXPECT_LT(ratio.high, 4.4);
  const Interval wide = median_ratio({4, 8, 2, 5, 3}, quick);
  EXPECT_GT(wide.high - wide.low, ratio.high - ratio.low);
  EXPECT_EQ(median_ratio(slow, quick), ratio) << "the draws are the same every time";
}

TEST(Statistics, OfOneRunEachTheIntervalIsTheValue) { EXPECT_EQ(median_ratio({6}, {2}), (Interval{3, 3, 3})); }

TEST(Statistics, TheIntervalOfAGeometricMean) {
  EXPECT_EQ(geometric_mean_interval({}), (Interval{1, 1, 1}));
  const Interval mean = geometric_mean_interval({1, 2, 4, 8, 16});
  EXPECT_NEAR(mean.value, 4, 1e-12);
  EXPECT_GT(mean.low, 1);
  EXPECT_LT(mean.low, 4);
  EXPECT_GT(mean.high, 4);
  EXPECT_LT(mean.high, 16);
}

}  // namespace
}  // namespace sous::benchmarks
