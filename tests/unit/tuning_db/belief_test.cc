#include "tuning-db/belief.h"

#include <gtest/gtest.h>

namespace sous::tuning_db {
namespace {

const std::string here = "x86-64:avx512:2c:l2=1M:l3=32M";

struct Row {
  double ratio;
  int threads;
  std::string there, here;
  double believed;
};

TEST(Belief, Table) {
  const Row rows[] = {
      {5, 2, here, here, 5},
      {0.5, 2, here, here, 0.5},
      // Cores and caches within twice make no difference.
      {5, 2, "x86-64:avx512:4c:l2=2M:l3=64M", here, 5},
      {5, 2, "x86-64:avx512:64c:l2=1M:l3=32M", here, 5},
      // Threads that are not here.
      {5, 8, "x86-64:avx512:8c:l2=1M:l3=32M", here, 1.25},
      {5, 1, "x86-64:avx512:8c:l2=1M:l3=32M", here, 5},
      // Vectors: AVX-512 to AVX2 loses half the lanes; to SSE three quarters of them, and fma.
      {5, 2, here, "x86-64:avx2:2c:l2=1M:l3=32M", 3},
      {5, 2, here, "x86-64:sse:2c:l2=1M:l3=32M", 1.5},
      {5, 2, "x86-64:avx2:2c:l2=1M:l3=32M", "x86-64:sse:2c:l2=1M:l3=32M", 2},
      {5, 2, "x86-64:sse:2c:l2=1M:l3=32M", here, 5},
      // Caches: of a host, say; and much smaller ones.
      {5, 2, here, "x86-64:avx512:2c:l2=2M:l3=300M", 3},
      {5, 2, here, "x86-64:avx512:2c:l2=256K:l3=32M", 2},
      {5, 2, here, "x86-64:avx512:2c:l2=1M:l3=4M", 1.5},
      {5, 2, "x86-64:avx512:2c:l2=1M:l3=0", "x86-64:avx512:2c:l2=1M:l3=32M", 3},
      // All at once.
      {9, 4, "x86-64:avx512:4c:l2=1M:l3=32M", "x86-64:sse:2c:l2=1M:l3=300M", 1 + 3.5 / 16},
      // A loss stays one.
      {0.5, 2, here, "x86-64:sse:2c:l2=1M:l3=32M", 0.5},
      {1.2, 2, here, "x86-64:avx512:1c:l2=1M:l3=32M", 0.6},
      // Nothing is said.
      {5, 2, "aarch64:neon:2c:l2=1M:l3=32M", here, 0},
      {5, 2, "", here, 0},
  };
  for (const Row& row : rows) {
    const Belief belief = believe(row.ratio, row.threads, row.there, row.here);
    EXPECT_NEAR(belief.ratio, row.believed, 1e-12) << row.there << " at " << row.here;
    EXPECT_EQ(belief.in_full, row.believed == row.ratio && belief.doubts.empty()) << row.there;
    EXPECT_EQ(belief.own_class, row.there == row.here) << row.there;
  }
}

TEST(Belief, WhatIsDiscountedMustPromiseMore) {
  // durbin: 1.84 times as fast with AVX-512; in a build for SSE2 it ran at 0.88.
  const Belief durbin = believe(1.84, 1, here, "x86-64:sse:2c:l2=1M:l3=32M");
  EXPECT_GT(durbin.ratio, 1.05);
  EXPECT_LT(durbin.ratio, least_believed(durbin, 1.05));
  EXPECT_EQ(least_believed(believe(1.84, 1, here, here), 1.05), 1.05);
}

TEST(Belief, InWords) {
  transforms::Evidence e;
  e.baseline_seconds = 4.2;
  e.tuned_seconds = 1;
  e.hardware = here;
  const std::string narrow = "x86-64:avx2:2c:l2=1M:l3=32M";
  EXPECT_EQ(in_words(believe(e, narrow), e),
            "measured on " + here + ", believed at 2.60 of 4.20 (built for avx512 there, for avx2 here)");
  EXPECT_EQ(in_words(believe(e, here), e), "");
}

}  // namespace
}  // namespace sous::tuning_db
