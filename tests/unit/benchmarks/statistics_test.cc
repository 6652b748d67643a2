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

}  // namespace
}  // namespace sous::benchmarks
