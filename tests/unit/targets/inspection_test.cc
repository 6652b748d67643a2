// What generated code looks at ahead of a nest, and remembers of it.
#include "targets/runtime/inspection.h"

#include <gtest/gtest.h>

#include <vector>

#include "targets/runtime/sous.h"
#include "tests/unit/targets/emitting.h"

namespace sous::targets {
namespace {

TEST(Inspected, HullsOfLoopsAndSums) {
  const auto is = [](const Hull& hull, std::int64_t low, std::int64_t high, std::int64_t count) {
    return hull.low() == low && hull.high() == high && hull.count() == count && !hull.is_everywhere();
  };
  EXPECT_TRUE(is(Hull::of_loop(2, 12, 3), 2, 11, 4));
  EXPECT_TRUE(is(Hull::of_loop(9, -1, -2), 1, 9, 5));
  EXPECT_TRUE(Hull::of_loop(5, 5, 1).empty());
  EXPECT_TRUE(Hull::of_loop(5, 9, -1).empty());
  EXPECT_TRUE(is(Hull(7).plus(Hull::of_loop(0, 4, 1), -2), 1, 7, 4));
  EXPECT_TRUE(Hull(7).plus(Hull(), 3).empty());
  EXPECT_TRUE(Hull(7).plus(Hull(INT64_MAX / 2), 3).is_everywhere());
  EXPECT_TRUE(Hull::of_loop(INT64_MIN, INT64_MAX, 1).is_everywhere());
}

TEST(Inspected, ValuesThatAreNoIndices) {
  const std::vector<std::int16_t> small{4, -3, 9, 1};
  const Hull all = values(1, small.data(), Hull::of_loop(0, 4, 1)),
             two = values(1, small.data(), Hull::of_loop(2, 4, 1));
  EXPECT_EQ(all.low(), -3);
  EXPECT_EQ(all.high(), 9);
  EXPECT_EQ(two.low(), 1);
  const std::vector<std::uint64_t> marked{4, UINT64_MAX, 9}, beyond{UINT64_MAX, UINT64_MAX - 1};
  EXPECT_TRUE(values(1, marked.data(), Hull::of_loop(0, 3, 1)).is_everywhere());
  EXPECT_EQ(values(1, beyond.data(), Hull::of_loop(0, 2, 1)).low(), -2);
  const std::vector<std::int32_t> apart(100);
  EXPECT_TRUE(values(1, apart.data(), Hull::of_loop(0, 100, 30)).is_everywhere()) << "few of those between";
  EXPECT_TRUE(values(1, static_cast<const int*>(nullptr), Hull()).empty());
}

TEST(Inspected, FootprintsDoNotWrap) {
  double data[32];
  const auto reached = [&](const Hull& subscripts) {
    Footprint result(&data[16], 0);
    result.reach(subscripts, 1);
    return result;
  };
  Footprint first(data, 0);
  first.dimension(8, 1);
  EXPECT_TRUE(reached(Hull::of_loop(0, 16, 1)).disjoint(first));
  EXPECT_TRUE(reached(Hull(-8)).disjoint(first));
  EXPECT_FALSE(reached(Hull(-9)).disjoint(first));
  EXPECT_TRUE(reached(Hull()).disjoint(first)) << "nothing is accessed";
  Hull with = Hull::of_loop(0, 4, 1);
  with.add(Hull(-(std::int64_t{1} << 47)));
  EXPECT_FALSE(reached(with).disjoint(first)) << "below the first address there is none";
  EXPECT_FALSE(reached(Hull::everywhere()).disjoint(first));
}

// What is said not to be negative is looked at on entry.
TEST(Inspected, SignsAreLookedAt) {
  const auto graph = parsed(R"(sdfg 1 t symbols n, m
array R: i32[m] argument  array d: i32[n] argument const natural  arguments n, m, R, d
loop i = 0 .. n { loop j = 0 .. m { if (i64(d[i]) < {m - j}i64) { s: R[j] = R[j] + R[j + d[i]] } } })");
  const std::string code = emitted("cpp", graph);
  for (const char* part : {"= sous::values(1, d, ", ".negative()) return 0;", "sous::imin(m, m - (int64_t)d[i])"})
    EXPECT_TRUE(code.contains(part)) << part << "\n" << code;
  const auto conditional = parsed(R"(sdfg 1 t symbols n, m
array R: i32[m] argument  array d: i32[n] argument const natural  array on: bool[n] argument  arguments n, m, R, d, on
loop i = 0 .. n { if (on[i]) { loop j = 0 .. m { s: R[j] = R[j] + R[j + d[i]] } } })");
  const auto refused = find_target("cpp")->emit(conditional, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "target.unsupported");
}

TEST(Inspected, WhatOverlappedOnceIsNotLookedAtAgain) {
  const auto graph = parsed(R"(sdfg 1 t symbols n
array x: f64[1099511627776] argument const alias 1  array y: f64[n] argument alias 2  array at: i32[n] argument const alias 3
arguments n, x, y, at
disjoint x, y
loop i = 0 .. n { s: y[i] = x[at[i]] })");
  const std::string code = emitted("cpp", graph);
  for (const char* part : {"static uint64_t overlapped = 0;", "sous::addresses(x, y);",
                           "if (sous::overlapped_before(overlapped, these)) return 0;", "sous::values(1, at, ",
                           "return sous::overlaps(overlapped, these);"})
    EXPECT_TRUE(code.contains(part)) << part << "\n" << code;
  std::uint64_t overlapped = 0;
  const double two[2] = {}, *x = &two[0], *y = &two[1];
  EXPECT_FALSE(overlapped_before(overlapped, addresses(x, y)));
  EXPECT_EQ(overlaps(overlapped, addresses(x, y)), 0);
  EXPECT_TRUE(overlapped_before(overlapped, addresses(x, y)));
  EXPECT_FALSE(overlapped_before(overlapped, addresses(y, x)));
  // What cannot be looked at is refused.
  const auto conditional = parsed(R"(sdfg 1 t symbols n
array x: f64[1099511627776] argument const alias 1  array y: f64[n] argument alias 2  array at: i32[n] argument const alias 3
arguments n, x, y, at
disjoint x, y
loop i = 0 .. n { if (y[i] > 0.0) { s: y[i] = x[at[i]] } })");
  const auto refused = find_target("cpp")->emit(conditional, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "target.unsupported");
}

}  // namespace
}  // namespace sous::targets
