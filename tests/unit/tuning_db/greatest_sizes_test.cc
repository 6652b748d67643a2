#include "tuning-db/greatest_sizes.h"

#include <gtest/gtest.h>

#include "sdfg/text.h"

namespace sous::tuning_db {
namespace {

std::string greatest(const std::string& body, const std::map<std::string, std::int64_t>& known = {}) {
  const auto nest = sdfg::parse(
      "sdfg 1 t symbols n, m array x: f32[16] argument array A: f32[4, 100] argument array p: f32[m] argument "
      "array k: i32[8] argument arguments n, m, x, A, p, k " +
      body);
  if (!nest) return nest.error().to_string();
  std::string text;
  for (const auto& [symbol, value] : greatest_sizes(*nest, known, 1 << 20))
    text += symbol + "=" + std::to_string(value) + " ";
  return text;
}

TEST(GreatestSizes, ALoopThroughAnArrayIsNoLongerThanTheArray) {
  EXPECT_EQ(greatest("loop i = 0 .. n { s0: x[i] = 0.0f32 }"), "n=16 ");
  EXPECT_EQ(greatest("loop i = n - 1 .. 0 step -1 { s0: x[i] = x[i - 1] }"), "n=16 ");
  EXPECT_EQ(greatest("loop i = 0 .. n { s0: x[i + 3] = x[2 * i] }"), "n=8 ");
  EXPECT_EQ(greatest("loop i = 0 .. n floordiv 2 { s0: x[i] = 0.0f32 }"), "n=33 ");
  EXPECT_EQ(greatest("loop i = 0 .. n { loop j = 0 .. m { s0: A[i, j] = 0.0f32 } }"), "m=100 n=4 ");
  EXPECT_EQ(greatest("loop i = 0 .. n { loop j = 0 .. i { s0: x[j] = 0.0f32 } }"), "n=17 ");
  EXPECT_EQ(greatest("loop i = m .. n { s0: x[i] = 0.0f32 }", {{"m", 0}}), "n=16 ");
}

TEST(GreatestSizes, WhereverInTheArrayItBegins) {
  EXPECT_EQ(greatest("loop i = 0 .. n { s0: x[i + m - n] = 0.0f32 }"), "m=16 n=16 ");
  EXPECT_EQ(greatest("loop i = m .. m + n { s0: x[i] = 0.0f32 }"), "n=16 ");
  EXPECT_EQ(greatest("loop i = 0 .. n { loop j = 0 .. 4 { s0: x[m - 4*i - j] = 0.0f32 } }"), "m=15 n=4 ");
}

// What an inner loop goes over depends on the iteration of the outer one.
TEST(GreatestSizes, LoopsThatBeginBehindOneAnother) {
  EXPECT_EQ(greatest("loop t = 0 .. n { loop i = t + 1 .. 17 { s0: x[i - t - 1] = 0.0f32 } }"), "");
  EXPECT_EQ(greatest("loop t = 0 .. n { loop i = t .. t + m { s0: x[i - t] = 0.0f32 } }"), "m=16 ");
  EXPECT_EQ(greatest("loop t = 0 .. n { loop i = 0 .. n - t { s0: x[i + t] = 0.0f32 } }"), "n=16 ");
}

TEST(GreatestSizes, WhatAConditionReadsIsReached) {
  EXPECT_EQ(greatest("loop i = 0 .. n { if (x[i] > 0.0f32) { s0: p[i] = 0.0f32 } }"), "n=16 ");
  EXPECT_EQ(greatest("loop i = 0 .. n { if ({i}i64 < 4i64 && x[i] > 0.0f32) { s0: p[i] = 0.0f32 } }"), "");
  EXPECT_EQ(greatest("loop i = 0 .. n { s0: p[i] = select({i}i64 < 4i64, x[i], p[i]) }"), "");
}

TEST(GreatestSizes, ThatOfWhichAllDependsIsTrue) {
  EXPECT_EQ(greatest("loop i = 0 .. n { if ({m}i64 < 4i64) { s0: x[i] = 0.0f32 } }"), "n=16 ");
  EXPECT_EQ(greatest("loop i = 0 .. n { s1: p[i] = 0.0f32 if ({m}i64 < 4i64) { s0: x[i] = 0.0f32 } }"), "");
}

TEST(GreatestSizes, WhatIsNotReachedForSureSaysNothing) {
  EXPECT_EQ(greatest("loop i = 0 .. n { s0: p[i] = 0.0f32 }"), "");
  EXPECT_EQ(greatest("loop i = 0 .. n { if ({i}i64 < 4i64) { s0: x[i] = 0.0f32 } }"), "");
  EXPECT_EQ(greatest("loop i = 0 .. n { s0: x[k[i mod 8]] = p[i] }"), "");
  EXPECT_EQ(greatest("loop i = m .. n { s0: x[i - m] = 0.0f32 }"), "");
}

}  // namespace
}  // namespace sous::tuning_db
