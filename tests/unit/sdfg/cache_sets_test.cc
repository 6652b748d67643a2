#include "sdfg/cache_sets.h"

#include <gtest/gtest.h>

#include "sdfg/text.h"

namespace sous::sdfg {
namespace {

// 48 KiB in 12 ways of 64 lines, vectors of 64 bytes.
constexpr CacheSets cache{.sets = 64, .ways = 12, .vector_bytes = 64};

Sdfg parsed(const std::string& loops) {
  const auto result = parse(R"(sdfg 1 rows symbols n, m
array x: f64[n, m] argument const  array y: f64[n, m] argument alias 1
arguments n, m, x, y
)" + loops);
  if (!result) ADD_FAILURE() << result.error().to_string();
  return result.value_or(Sdfg{});
}
Sdfg original() {
  return parsed("loop i = 0 .. n { loop j = 0 .. m - 1 { s: y[i, j + 1] = 0.5 * x[i, j + 1] + y[i, j] } }");
}
// `rows` rows side by side.
Sdfg side_by_side(int rows) {
  const std::string size = std::to_string(rows);
  return parsed("loop it = 0 .. n step " + size + " { loop j = 0 .. m - 1 { loop i = it .. min(it + " + size +
                ", n) simd { s: y[i, j + 1] = 0.5 * x[i, j + 1] + y[i, j] } } }");
}
bool is_crowded(const Sdfg& sdfg, std::int64_t columns, const Sdfg& before = original()) {
  for (const Window& window : windows(sdfg, before.root, cache))
    if (crowded(window, {{"n", 100}, {"m", columns}}, cache)) return true;
  return false;
}

TEST(CacheSets, RowsOfATileShareSetsWhereTheirDistanceIsAPowerOfTwo) {
  const auto found = windows(side_by_side(16), original().root, cache);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].loop, "j");
  ASSERT_EQ(found[0].walks.size(), 2u);  // x; both accesses to y are of one line
  for (const Walk& walk : found[0].walks) {
    ASSERT_EQ(walk.size(), 1u);
    EXPECT_EQ(walk[0].bytes, Expr(8) * Expr::symbol("m"));
    EXPECT_EQ(walk[0].count, 16);
  }
  for (const std::int64_t columns : {512, 1024, 2047, 2048, 2049, 3 * 512, 256})
    EXPECT_TRUE(is_crowded(side_by_side(16), columns)) << columns;
  for (const std::int64_t columns : {500, 1000, 2000, 2040, 2056, 520, 128 + 64})
    EXPECT_FALSE(is_crowded(side_by_side(16), columns)) << columns;
  EXPECT_FALSE(is_crowded(side_by_side(4), 2048));  // eight lines
  EXPECT_FALSE(is_crowded(original(), 2048));
}

// What is only read comes in squares of lanes by iterations, a line at a time; y has a line for each lane.
TEST(CacheSets, LanesAroundALoopAlongTheirRows) {
  const Sdfg lanes =
      parsed("loop i = 0 .. n simd { loop j = 0 .. m - 1 { s: y[i, j + 1] = 0.5 * x[i, j + 1] + y[i, j] } }");
  const auto found = windows(lanes, original().root, cache);
  ASSERT_EQ(found.size(), 1u);
  ASSERT_EQ(found[0].walks.size(), 2u);
  EXPECT_TRUE(found[0].walks[0].empty());
  ASSERT_EQ(found[0].walks[1].size(), 1u);
  EXPECT_EQ(found[0].walks[1][0].count, 8);  // doubles in a vector
  EXPECT_FALSE(is_crowded(lanes, 1024));     // nine lines in twelve ways
  CacheSets less = cache;
  less.ways = 8;
  EXPECT_TRUE(crowded(found[0], {{"n", 100}, {"m", 1024}}, less));
}

TEST(CacheSets, NotWhereTheOriginalWalksDownTheColumnsItself) {
  const Sdfg columns =
      parsed("loop j = 0 .. m - 1 { loop i = 0 .. n { s: y[i, j + 1] = 0.5 * x[i, j + 1] + y[i, j] } }");
  EXPECT_TRUE(windows(side_by_side(16), columns.root, cache).empty());
}

// The column that the original walks down is another access than the rows.
TEST(CacheSets, RowsOfAnArrayWithColumnsAsWell) {
  const Sdfg before =
      parsed("loop k = 0 .. m { loop i = 0 .. n { loop j = 0 .. k { s: y[i, k] = y[i, k] - x[k, j] * y[i, j] } } }");
  const Sdfg tiled = parsed(
      "loop k = 0 .. m { loop it = 0 .. n step 64 { loop j = 0 .. k { loop i = it .. min(it + 64, n) simd { "
      "s: y[i, k] = y[i, k] - x[k, j] * y[i, j] } } } }");
  EXPECT_TRUE(is_crowded(tiled, 512, before));
  EXPECT_FALSE(is_crowded(tiled, 500, before));
}

TEST(CacheSets, NotWhereTooMuchPassesUntilTheNextIteration) {
  const Sdfg all = parsed("loop j = 0 .. m - 1 { loop i = 0 .. n { s: y[i, j + 1] = 0.5 * x[i, j + 1] } }");
  EXPECT_TRUE(windows(all, original().root, cache).empty());
}

TEST(CacheSets, NotWhereTheDistanceDiffersFromIterationToIteration) {
  const Sdfg slanted = parsed(
      "loop k = 1 .. n { loop j = 0 .. m - 1 { loop i = 0 .. 16 { s: y[k * i, j + 1] = x[k * i, j] + y[k * i, j] } } "
      "}");
  EXPECT_TRUE(windows(slanted, original().root, cache).empty());
}

TEST(CacheSets, NothingIsSaidOfAnUnknownCache) { EXPECT_TRUE(windows(side_by_side(16), original().root, {}).empty()); }

}  // namespace
}  // namespace sous::sdfg
