#include <gtest/gtest.h>

#include <optional>
#include <set>

#include "sdfg/text.h"
#include "tests/support/random_recipe.h"
#include "tests/support/rewritten.h"
#include "transforms/apply.h"
#include "transforms/strategies/strategy.h"

namespace sous::transforms {
namespace {

using sdfg::Sdfg;
using tests::Sizes;

const StepContext avx512{
    .hardware = {{"cores", 2}, {"l1_bytes", 32768}, {"l2_bytes", 1 << 20}, {"l3_bytes", 1 << 25}, {"simd_bits", 512}},
    .reassociate = false};

Sdfg nest(const std::string& arrays, const std::string& arguments, const std::string& body) {
  const auto parsed = sdfg::parse("sdfg 1 t symbols n, m " + arrays + " arguments n, m, " + arguments + " " + body);
  EXPECT_TRUE(parsed) << parsed.error().to_string();
  return *parsed;
}

const Sdfg product =
    nest("array A: f64[n, m] argument array B: f64[m, n] argument array C: f64[n, n] argument", "A, B, C",
         "loop i0 = 0 .. n { loop i1 = 0 .. m { loop i2 = 0 .. n { "
         "s0: C[i0, i2] = C[i0, i2] + A[i0, i1] * B[i1, i2] } } }");
const Sdfg batch =
    nest("array A: f32[4, n, m] argument array B: f32[4, n, m] argument array C: f32[4, n, n] argument", "A, B, C",
         "loop i0 = 0 .. 4 { loop i1 = 0 .. n { loop i2 = 0 .. n { loop i3 = 0 .. m { "
         "s0: C[i0, i1, i2] = C[i0, i1, i2] + A[i0, i1, i3] * B[i0, i2, i3] } } } }");
const Sdfg filter = nest("array x: f64[n + m] argument array h: f64[m] argument array y: f64[n] argument", "x, h, y",
                         "loop i0 = 0 .. n { loop i1 = 0 .. m { s0: y[i0] = y[i0] + x[i0 + i1] * h[i1] } }");
const Sdfg sweeps = nest("array A: f64[n, n] argument array B: f64[n, n] argument", "A, B",
                         "loop i0 = 0 .. m { "
                         "loop i1 = 1 .. n - 1 { loop i2 = 1 .. n - 1 { "
                         "s0: B[i1, i2] = A[i1 - 1, i2] + A[i1 + 1, i2] + A[i1, i2 + 1] } } "
                         "loop i3 = 1 .. n - 1 { loop i4 = 1 .. n - 1 { s1: A[i3, i4] = B[i3, i4] * 0.5 } } }");
const Sdfg scan = nest("array A: f64[n, m] argument", "A",
                       "loop i0 = 0 .. n { loop i1 = 1 .. m { s0: A[i0, i1] = A[i0, i1] + 0.5 * A[i0, i1 - 1] } }");
const Sdfg sequential =
    nest("array x: f64[n] argument", "x", "loop i0 = 1 .. n { s0: x[i0] = x[i0] + 0.5 * x[i0 - 1] }");
const Sdfg elementwise = nest("array x: f64[n, m] argument array y: f64[n, m] argument", "x, y",
                              "loop i0 = 0 .. n { loop i1 = 0 .. m { s0: y[i0, i1] = x[i0, i1] * x[i0, i1] } }");

const Sdfg triangle = nest("array A: f64[n, m] argument array C: f64[n, n] argument", "A, C",
                           "loop i0 = 0 .. n { loop i1 = 0 .. i0 + 1 { loop i2 = 0 .. m { "
                           "s0: C[i0, i1] = C[i0, i1] + 1.5 * A[i0, i2] * A[i1, i2] } } }");
const Sdfg columns = nest("array A: f64[n, m] argument array x: f64[n] argument array y: f64[m] argument", "A, x, y",
                          "loop i0 = 0 .. n { loop i1 = 0 .. m { s0: y[i1] = y[i1] + A[i0, i1] * x[i0] } }");
// Shortest paths, with and without a temporary; and a product in place whose rows are parallel, but not their elements.
const Sdfg paths = nest("array D: i32[n, n] argument", "D",
                        "loop i0 = 0 .. n { loop i1 = 0 .. n { loop i2 = 0 .. n { "
                        "s0: D[i1, i2] = min(D[i1, i2], D[i1, i0] + D[i0, i2]) } } }");
const Sdfg relaxed = nest("array D: f64[n, n] argument array t: f64 stack transient", "D",
                          "loop i0 = 0 .. n { loop i1 = 0 .. n { loop i2 = 0 .. n private(t) { "
                          "s0: t[] = D[i1, i0] + D[i0, i2] if (t[] < D[i1, i2]) { s1: D[i1, i2] = t[] } } } }");
const Sdfg scaled = nest("array A: f32[n, m] argument array B: f32[n, m] argument", "A, B",
                         "loop i0 = 0 .. min(n, m) { loop i1 = 0 .. n { loop i2 = 0 .. m { "
                         "s0: A[i1, i2] = A[i1, i2] - A[i1, i0] * B[i0, i2] } } }");
// Sweeps in place: with neighbours on the sides, and on the corners as well.
const Sdfg relaxation =
    nest("array A: f64[n, m] argument", "A",
         "loop i0 = 0 .. 3 { loop i1 = 1 .. n - 1 { loop i2 = 1 .. m - 1 { "
         "s0: A[i1, i2] = (A[i1 - 1, i2] + A[i1, i2 - 1] + A[i1 + 1, i2] + A[i1, i2 + 1]) * 0.25 } } }");
const Sdfg corners = nest("array A: f64[n, m] argument", "A",
                          "loop i0 = 1 .. n - 1 { loop i1 = 1 .. m - 1 { "
                          "s0: A[i0, i1] = (A[i0 - 1, i1 + 1] + A[i0, i1 - 1]) * 0.25 + A[i0 + 1, i1 - 1] } }");
// A dynamic program over a grid.
const Sdfg distances =
    nest("array A: i32[n + 1, m + 1] argument array x: i32[n] argument array y: i32[m] argument", "A, x, y",
         "loop i0 = 0 .. n { loop i1 = 0 .. m { "
         "s0: A[i0 + 1, i1 + 1] = min(min(A[i0, i1 + 1], A[i0 + 1, i1]) + 1, "
         "A[i0, i1] + (x[i0] - y[i1])) } }");
// The same with one row, in place, its first element set by itself; and as a copy behind each row.
const Sdfg one_row =
    nest("array R: i32[m + 1] argument array D: i32[n] argument array v: i32 stack transient", "R, D",
         "assume m >= 0 loop i0 = 0 .. n { b0: R[0] = {i0}i32 loop i1 = 0 .. m private(v) { "
         "s0: v[] = min(R[i1 + 1] + 1, D[i0]) s1: D[i0] = R[i1 + 1] s2: R[i1 + 1] = min(v[], R[i1] + 1) } }");
const Sdfg two_rows = nest("array R: i32[m + 1] argument array P: i32[m + 1] argument", "R, P",
                           "loop i0 = 0 .. n { loop i1 = 0 .. m { s0: R[i1 + 1] = min(P[i1], P[i1 + 1]) + R[i1] } "
                           "loop i2 = 0 .. m + 1 { c0: P[i2] = R[i2] } }");
// A knapsack in one row, as normal form leaves it.
const Sdfg knapsack = nest("array R: i32[m + 1] argument array d: i32[n] argument const natural", "R, d",
                           "loop i0 = 0 .. n { loop i1 = 0 .. m + 1 { if (i64(d[i0]) < {m - i1 + 1}i64) { "
                           "s0: R[m - i1] = max(R[m - i1], R[m - i1 - d[i0]] + 3) } } }");
const Sdfg knapsacks = nest("array R: i32[n + 1, m + 9] argument array idx: i32[n] argument const", "R, idx",
                            "loop i0 = 0 .. n { loop i1 = 0 .. m { "
                            "s0: R[i0 + 1, i1] = max(R[i0, i1], R[i0, i1 + idx[i0]]) } }");
// A recurrence over rows, and one over the same columns from the last row to the first, as normal form leaves them.
const Sdfg recurrences = nest(
    "array A: f64[n, m] argument array B: f64[n, m] argument array last: f64[max(0, m)] heap transient alias 1", "A, B",
    "loop i0 = 0 .. m { s0: last[i0] = 0.0 } "
    "loop i1 = 0 .. n { loop i2 = 0 .. m { s1: B[i1, i2] = A[i1, i2] + last[i2] * 0.5 } "
    "loop i3 = 0 .. m { s2: last[i3] = B[i1, i3] } } "
    "loop i4 = 1 .. n { loop i5 = 0 .. m { s3: A[n - i4 - 1, i5] = A[n - i4, i5] * 0.5 + B[n - i4 - 1, i5] } }");
// A row's mean, and a weight for each element, as normal form leaves them: each in an array of its own.
const Sdfg rows = nest(
    "array A: f64[n, m] argument array mean: f64[max(0, n)] heap transient alias 1 "
    "array weight: f64[max(0, n), max(0, m)] heap transient alias 2",
    "A",
    "loop i0 = 0 .. n { s0: mean[i0] = 0.0 } "
    "loop i1 = 0 .. n { loop i2 = 0 .. m { s1: mean[i1] = mean[i1] + A[i1, i2] } } "
    "loop i3 = 0 .. n { loop i4 = 0 .. m { s2: weight[i3, i4] = A[i3, i4] * 0.5 } } "
    "loop i5 = 0 .. n { loop i6 = 0 .. m { s3: A[i5, i6] = A[i5, i6] - weight[i5, i6] * mean[i5] } }");

// A buffer that each row fills anew; and one inside of a loop that is not parallel.
const Sdfg buffered = nest("array A: f64[n, m] argument array w: f64[m] argument", "A, w",
                           "loop i0 = 0 .. n { loop i1 = 0 .. m { s0: w[i1] = A[i0, i1] * 2.0 } "
                           "loop i2 = 0 .. m { s1: A[i0, i2] = w[m - i2 - 1] + 1.0 } }");
const Sdfg buffered_sweeps =
    nest("array A: f64[n, m] argument array w: f64[m] argument", "A, w",
         "loop i0 = 0 .. 5 { loop i1 = 0 .. n { loop i2 = 0 .. m { s0: w[i2] = A[i1, i2] * 2.0 } "
         "loop i3 = 0 .. m { s1: A[i1, i3] = w[m - i3 - 1] + 1.0 } } }");

// Sums in order of what takes long to compute.
const Sdfg energies =
    nest("array A: f64[n, m] argument array s: f64 argument", "A, s",
         "loop i0 = 0 .. n { loop i1 = i0 .. m { s0: s[] = s[] + log(sin(A[i0, i1]) + exp(A[i0, i1])) } }");
const Sdfg likelihood = nest("array x: f64[n] argument array s: f64 argument", "x, s",
                             "loop i0 = 0 .. n { s0: s[] = s[] + log(sin(x[i0]) + exp(x[i0])) }");

// The best of all places to cut an interval, with elements set otherwise before; and with k around j, as normal forms
// are.
const Sdfg folds = nest("array D: i32[n, n] argument", "D",
                        "loop i0 = 0 .. n - 1 { loop i1 = -i0 .. 1 { "
                        "s0: D[n - 2 - i0, i1 + n - 1] = max(D[n - 2 - i0, i1 + n - 1], D[n - 2 - i0, i1 + n - 2] + 1) "
                        "loop i2 = -i0 .. i1 { s1: D[n - 2 - i0, i1 + n - 1] = max(D[n - 2 - i0, i1 + n - 1], "
                        "D[n - 2 - i0, i2 + n - 1] + D[i2 + n, i1 + n - 1]) } } }");
const Sdfg parses = nest("array D: i64[n, n] argument", "D",
                         "loop i0 = 0 .. n - 1 { loop i1 = -i0 .. 1 { loop i2 = i1 .. 1 { "
                         "s0: D[n - 2 - i0, i2 + n - 1] = min(D[n - 2 - i0, i2 + n - 1], "
                         "D[n - 2 - i0, i1 + n - 2] + D[i1 + n - 1, i2 + n - 1]) } } }");

// A nest for each strategy, in which all of its steps apply.
const std::map<std::string, std::vector<Sdfg>> suited = {
    {"contraction", {product, batch}},
    {"register_tiles", {product, batch, filter}},
    {"intervals", {folds, parses}},
    {"time_tiles", {sweeps}},
    {"pivots", {paths, relaxed, scaled}},
    {"staggered_lanes", {relaxation, corners, distances, one_row, two_rows}},
    {"staggered_rows", {relaxation, corners}},
    {"distances_ahead", {knapsack, knapsacks}},
    {"row_lanes", {filter, scan}},
    {"chains", {scan}},
    {"parallel_vectors", {elementwise, sweeps}},
    {"fused_loops", {rows, recurrences}},
    {"workspaces", {buffered, buffered_sweeps}},
    {"computed_ahead", {energies, likelihood}},
    {"outer_threads", {product, elementwise, sweeps, triangle}},
    {"tile_diagonals", {relaxation, corners, distances}},
    {"offload", {product, batch, filter, sweeps, scan, triangle, columns}}};

Result<std::vector<OpenRecipe>> written(const StrategyInfo& strategy, const Sdfg& nest) {
  const auto facts = NestFacts::of(nest, avx512);
  EXPECT_TRUE(facts);
  return strategy.write(*facts);
}

// Only where a copy is all that a loop lacks.
TEST(Strategies, CopiesOfWorkspaces) {
  const auto recipes = written(workspaces_strategy, buffered_sweeps);
  ASSERT_TRUE(recipes) << recipes.error().to_string();
  EXPECT_EQ(recipes->back().text, "privatize(loop=i1); parallelize(loop=i1, kind=$kind) -> highway");
  const auto planes = [](const std::string& columns) {
    return nest("array A: f64[8, n, m] argument array w: f64[n, " + columns + "] argument", "A, w",
                "loop i0 = 0 .. 8 { loop i1 = 0 .. n { loop i2 = 0 .. " + columns +
                    " { s0: w[i1, i2] = A[i0, i1, i2] * 2.0 } } loop i3 = 0 .. n { loop i4 = 0 .. " + columns +
                    " { s1: A[i0, i3, i4] = w[n - i3 - 1, i4] } } }");
  };
  EXPECT_TRUE(written(workspaces_strategy, planes("4")));
  for (const Sdfg& other : {elementwise, scan, sweeps, relaxation, planes("m"), planes("20000")})
    EXPECT_EQ(written(workspaces_strategy, other).error().code, "workspaces.none") << sdfg::print(other);
}

// Blocks of columns go through a recurrence over rows side by side, and through the next one as well.
TEST(Strategies, BlocksOfColumns) {
  const std::string recipe = written(fused_loops_strategy, recurrences).value()[0].text;
  EXPECT_NE(recipe.find("tile(loops=[i2], sizes=[$columns], count=numbers)"), std::string::npos) << recipe;
  EXPECT_NE(recipe.find("fuse(first=i2_t, second=i5_t)"), std::string::npos) << recipe;
  EXPECT_NE(recipe.find("parallelize(loop=i2_t"), std::string::npos) << recipe;
  EXPECT_EQ(recipe.find("parallelize(loop=i5"), std::string::npos) << recipe;
}

TEST(Strategies, ApplyWhole) {
  for (const StrategyInfo* strategy : strategies()) {
    const auto nests = suited.find(std::string(strategy->name));
    ASSERT_NE(nests, suited.end()) << strategy->name;
    for (const Sdfg& nest : nests->second) {
      const auto recipes = written(*strategy, nest);
      ASSERT_TRUE(recipes) << strategy->name << ": " << recipes.error().to_string();
      std::vector<tests::Rewritten> all;
      for (const OpenRecipe& open : *recipes) {
        const auto recipe = closed(open);
        ASSERT_TRUE(recipe) << open.text << ": " << recipe.error().to_string();
        const auto after = apply(nest, *recipe, {.context = avx512, .budget = {}});
        ASSERT_TRUE(after) << strategy->name << ": " << open.text << ": " << after.error().to_string();
        all.push_back({nest, to_text(*recipe), *after});
      }
      for (const auto& one : all) tests::expect_same_interpreted(one, {{{"n", 9}, {"m", 4}}});
      tests::expect_same_compiled(all, {{{"n", 37}, {"m", 19}}, {{"n", 1}, {"m", 1}}},
                                  strategy->gpu ? "cuda" : "highway");
    }
  }
}

// Several tiles, whole ones and such that the end cuts off.
TEST(Strategies, TablesOverIntervalsInSeveralTiles) {
  std::vector<tests::Rewritten> all;
  for (const Sdfg& nest : {folds, parses}) {
    const auto recipes = written(intervals_strategy, nest);
    ASSERT_TRUE(recipes) << recipes.error().to_string();
    const auto recipe = closed((*recipes)[0], {{"block", 2}});
    ASSERT_TRUE(recipe);
    const auto after = apply(nest, *recipe, {.context = avx512, .budget = {}});
    ASSERT_TRUE(after) << after.error().to_string();
    all.push_back({nest, to_text(*recipe), *after});
  }
  tests::expect_same_compiled(all, {{{"n", 101}, {"m", 1}}, {{"n", 97}, {"m", 1}}, {{"n", 32}, {"m", 1}}}, "highway");
}

// Floats round, so that the order in which the best is taken tells zeros of both signs apart; products and
// shortest paths are no tables over intervals.
TEST(Strategies, WhatIsNoTableOverIntervals) {
  std::string in_floats = sdfg::print(parses);
  in_floats.replace(in_floats.find("i64"), 3, "f64");
  for (const Sdfg& nest : {*sdfg::parse(in_floats), product, paths})
    EXPECT_EQ(written(intervals_strategy, nest).error().code, "intervals.none");
}

// A window around each element is summed in a register; of many more elements the row stays the inner loop.
TEST(Strategies, WindowsAreSummedInARegister) {
  const auto smooth = [](const std::string& length) {
    return nest("array A: f64[n + 100, m + 100] argument array B: f64[n, m] argument", "A, B",
                "loop i0 = 0 .. n { loop i1 = 0 .. m { s0: B[i0, i1] = 0.0 } } "
                "loop i2 = 0 .. n { loop i3 = 0 .. " +
                    length +
                    " { loop i4 = 0 .. m { loop i5 = 0 .. 3 { "
                    "s1: B[i2, i4] = B[i2, i4] + A[i2 + i3, i4 + i5] } } } }");
  };
  const auto text = [&](const std::string& length) {
    return written(fused_loops_strategy, smooth(length)).value()[0].text;
  };
  EXPECT_TRUE(
      text("3").contains("interchange(outer=i3, inner=i4); fuse(first=i1, second=i4); promote(loop=i1, most=1)"))
      << text("3");
  EXPECT_FALSE(text("60").contains("outer=i3"));
  EXPECT_FALSE(text("m").contains("outer=i3"));
}

// Colours that lie side by side are sorted out once; of what lies in a row each loop may make its own vectors.
TEST(Strategies, LoopsOverInterleavedElementsAreOne) {
  const auto planes = [](const std::string& from) {
    return nest("array A: i32[n, 3 * m] argument array Y: i32[n, m] argument array U: i32[n, m] argument", "A, Y, U",
                "loop i0 = 0 .. n { loop i1 = 0 .. m { s0: Y[i0, i1] = A[i0, " + from + "] + A[i0, " + from +
                    " + 1] } } "
                    "loop i2 = 0 .. n { loop i3 = 0 .. m { s1: U[i2, i3] = A[i2, " +
                    (from == "i1" ? std::string("i3") : std::string("3 * i3")) + " + 2] } }");
  };
  const std::string apart = "fuse(first=i1, second=i3)";
  EXPECT_NE(written(fused_loops_strategy, planes("3 * i1")).value()[0].text.find(apart), std::string::npos);
  EXPECT_EQ(written(fused_loops_strategy, planes("i1")).value()[0].text.find(apart), std::string::npos);
}

// Whatever the open values are, the recipe is one; whether it applies is for the proof to say.
TEST(Strategies, EveryValueMakesARecipe) {
  for (const StrategyInfo* strategy : strategies()) {
    const Sdfg& nest = suited.at(std::string(strategy->name))[0];
    for (const OpenRecipe& open : written(*strategy, nest).value()) {
      for (const auto& [parameter, values] : open.open) {
        EXPECT_EQ(std::set(values.begin(), values.end()).size(), values.size()) << open.text;
        EXPECT_NE(open.text.find("$" + parameter), std::string::npos) << open.text;
        for (std::size_t k = 0; k < values.size(); ++k) {
          const auto recipe = closed(open, {{parameter, k}});
          EXPECT_TRUE(recipe) << open.text << ": " << recipe.error().to_string();
        }
      }
    }
  }
}

// One launch, not one for each row; what a block reads comes through shared memory.
TEST(Strategies, SumsAndProductsAreStagedOnAGpu) {
  const Sdfg oblong = sdfg::parse(
                          "sdfg 1 t symbols n, m, k array A: f64[n, k] argument array B: f64[k, m] argument "
                          "array C: f64[n, m] argument arguments n, m, k, A, B, C "
                          "loop i0 = 0 .. n { loop i1 = 0 .. k { loop i2 = 0 .. m { "
                          "s0: C[i0, i2] = C[i0, i2] + A[i0, i1] * B[i1, i2] } } }")
                          .value();
  for (const auto& [nest, steps] : {std::pair(&columns, 3), std::pair(&triangle, 4), std::pair(&oblong, 5)}) {
    const auto recipe = closed(written(offload_strategy, *nest).value()[0]).value();
    EXPECT_EQ(static_cast<int>(recipe.steps.size()), steps) << to_text(recipe);
    EXPECT_EQ(recipe.steps.back().step, "stage");
    const auto after = apply(*nest, recipe, {.context = avx512, .budget = {}});
    ASSERT_TRUE(after) << after.error().to_string();
    EXPECT_TRUE(sdfg::print(*after).contains("device_shared"));
    ASSERT_EQ(after->root.nodes.size(), 1U);
    EXPECT_TRUE(std::holds_alternative<sdfg::GpuGrid>(std::get<sdfg::Loop>(after->root.nodes[0].value).schedule));
  }
}

// Where a sum ends or begins with its row, 64 rows sum most alike: a product, and a small triangle. Rows that are
// overwritten later are copied first.
TEST(Strategies, TrianglesBecomeProducts) {
  const auto of = [](const std::string& body) {
    return sdfg::parse(
               "sdfg 1 t symbols n, m array A: f64[n, n] argument array B: f64[n, m] argument "
               "array C: f64[n, m] argument arguments n, m, A, B, C " +
               body)
        .value();
  };
  const Sdfg nests[] = {of("loop i0 = 0 .. n { loop i1 = 0 .. i0 + 1 { loop i2 = 0 .. m { "
                           "s0: C[i0, i2] = C[i0, i2] + A[i0, i1] * B[i1, i2] } } }"),
                        of("loop i0 = 0 .. n { loop i1 = 0 .. i0 { loop i2 = 0 .. m { "
                           "s0: C[i1, i2] = C[i1, i2] + A[i0, i1] * B[i0, i2] } } }"),
                        of("loop i0 = 0 .. n { loop i1 = i0 + 1 .. n { loop i2 = 0 .. m { "
                           "s0: B[i0, i2] = B[i0, i2] + A[i1, i0] * B[i1, i2] } } loop i3 = 0 .. m { s1: B[i0, i3] = "
                           "B[i0, i3] * 0.5 } }")};
  std::vector<tests::Rewritten> all;
  for (const Sdfg& nest : nests) {
    const auto recipe = closed(written(offload_strategy, nest).value()[0]).value();
    const auto after = apply(nest, recipe, {.context = avx512, .budget = {}});
    ASSERT_TRUE(after) << to_text(recipe) << after.error().to_string();
    EXPECT_TRUE(to_text(recipe).contains("stage(")) << to_text(recipe);
    EXPECT_TRUE(sdfg::print(*after).contains("device_shared"));
    all.push_back({nest, to_text(recipe), *after});
  }
  EXPECT_TRUE(all[2].steps.starts_with("preserve(loop=i0); distribute(loop=i0);")) << all[2].steps;
  tests::expect_same_compiled(all, {{{"n", 137}, {"m", 67}}, {{"n", 64}, {"m", 3}}, {{"n", 7}, {"m", 1}}}, "cuda");
}

// The loop that eliminates comes outermost and is cut into blocks; what is behind them is a product.
TEST(Strategies, FactorizationsInBlocks) {
  const auto of = [](const std::string& type, const std::string& body) {
    return sdfg::parse("sdfg 1 t symbols n array A: " + type + "[n, n] argument arguments n, A loop i0 = 0 .. n { " +
                       body + " }")
        .value();
  };
  const std::string scaled = "loop i1 = 0 .. i0 { loop i2 = 0 .. i1 { s0: A[i0, i1] = A[i0, i1] - A[i0, i2] * ";
  const Sdfg nests[] = {
      of("f64", scaled + "A[i2, i1] } s1: A[i0, i1] = A[i0, i1] / A[i1, i1] } loop i3 = 0 .. i0 { loop i4 = i0 .. n { "
                         "s2: A[i0, i4] = A[i0, i4] - A[i0, i3] * A[i3, i4] } }"),
      of("f32", scaled + "A[i1, i2] } s1: A[i0, i1] = A[i0, i1] / A[i1, i1] } loop i3 = 0 .. i0 { s2: A[i0, i0] = "
                         "A[i0, i0] - A[i0, i3] * A[i0, i3] } s3: A[i0, i0] = sqrt(A[i0, i0])"),
      // Columns of L D Lt that are written behind each other, the diagonal left alone.
      of("f64",
         "loop i1 = i0 + 1 .. n { s0: A[i0, i1] = A[i1, i0] loop i2 = i0 + 1 .. i1 + 1 { s1: A[i1, i2] = "
         "A[i1, i2] - A[i1, i0] * A[i2, i0] / A[i0, i0] } }"),
      of("f32",
         "loop i1 = i0 + 1 .. n { s0: A[i1, i0] = A[i1, i0] / A[i0, i0] loop i2 = i0 + 1 .. n { s1: A[i1, i2] = "
         "A[i1, i2] - A[i1, i0] * A[i0, i2] } }")};
  std::vector<tests::Rewritten> all;
  for (const Sdfg& nest : nests) {
    const auto recipe = closed(written(offload_strategy, nest).value()[0]).value();
    const std::string text = to_text(recipe);
    const auto after = apply(nest, recipe, {.context = avx512, .budget = {}});
    ASSERT_TRUE(after) << text << after.error().to_string();
    EXPECT_TRUE(text.contains("meet(") && text.contains("stage(")) << text;
    all.push_back({nest, text, *after});
  }
  tests::expect_same_compiled(all, {{{"n", 150}}, {{"n", 64}}, {{"n", 7}}}, "cuda");
}

// As many sums in a block as leave blocks enough, where it is known how many there are.
TEST(Strategies, SumsOfABlockFitTheGrid) {
  const auto first = [](std::int64_t sums) {
    StepContext context = avx512;
    context.sizes = {{"n", sums}, {"m", sums}};
    const auto facts = NestFacts::of(columns, context);
    EXPECT_TRUE(facts);
    return to_text(closed(offload_strategy.write(*facts).value()[0]).value());
  };
  EXPECT_TRUE(first(20000).contains("sizes=[32]); stage(")) << first(20000);
  EXPECT_TRUE(first(20000).contains("size=64, reads=all, along=yes")) << first(20000);
  EXPECT_TRUE(first(5000).contains("sizes=[16]); stage(")) << first(5000);
  EXPECT_TRUE(first(2600).contains("sizes=[8]); stage(")) << first(2600);
  EXPECT_TRUE(first(2600).contains("size=256,")) << first(2600);
}

// Loops around launches that only a temporary makes wait: each iteration gets one of its own, and the parts of the body
// are a launch each. A time loop stays.
TEST(Strategies, OneLaunchForAllIterations) {
  const Sdfg contraction =
      sdfg::parse(
          "sdfg 1 t symbols n array s: f64[n] argument array A: f64[n, n, n] argument array B: f64[n, n] argument "
          "const "
          "arguments n, s, A, B loop i0 = 0 .. n { loop i1 = 0 .. n { loop i2 = 0 .. n { s0: s[i2] = 0.0 } "
          "loop i3 = 0 .. n { loop i4 = 0 .. n { s1: s[i4] = s[i4] + A[i0, i1, i3] * B[i3, i4] } } "
          "loop i5 = 0 .. n { s2: A[i0, i1, i5] = s[i5] } } }")
          .value();
  const auto launches = [](const Sdfg& nest) {
    const auto after =
        apply(nest, closed(written(offload_strategy, nest).value()[0]).value(), {.context = avx512, .budget = {}});
    EXPECT_TRUE(after) << after.error().to_string();
    return std::ranges::count_if(after->root.nodes, [](const sdfg::Node& node) {
      const auto* loop = std::get_if<sdfg::Loop>(&node.value);
      return loop != nullptr && std::holds_alternative<sdfg::GpuGrid>(loop->schedule);
    });
  };
  EXPECT_EQ(launches(contraction), 4);  // one more for what is left in s
  EXPECT_EQ(launches(sweeps), 0);
}

// What one iteration hands to the next loop is its own then; loops that would wait for each other stay apart.
TEST(Strategies, LoopsThatFollowEachOtherBecomeOne) {
  const auto one =
      apply(rows, closed(written(fused_loops_strategy, rows).value()[0]).value(), {.context = avx512, .budget = {}});
  ASSERT_TRUE(one) << one.error().to_string();
  ASSERT_EQ(one->root.nodes.size(), 1U);
  const auto& loop = std::get<sdfg::Loop>(one->root.nodes[0].value);
  EXPECT_TRUE(std::holds_alternative<sdfg::Parallel>(loop.schedule));
  for (const auto& container : one->containers)
    if (container.transient) {
      EXPECT_TRUE(container.shape.empty()) << container.name;
    }

  const Sdfg shifted = nest("array x: f64[n] argument array y: f64[n] argument array z: f64[n] argument", "x, y, z",
                            "loop i0 = 1 .. n { s0: y[i0] = x[i0] * 2.0 } loop i1 = 1 .. n { s1: z[i1] = y[i1 - 1] }");
  EXPECT_EQ(written(fused_loops_strategy, shifted).error().code, "fused-loops.none");
  // Neither a loop that sums floats is taken in, nor is what is behind it.
  const Sdfg summed = nest("array x: f64[n] argument array y: f64[n] argument array s: f64 argument", "x, y, s",
                           "loop i0 = 0 .. n { s0: y[i0] = x[i0] * 2.0 } loop i1 = 0 .. n { s1: s[] = s[] + y[i1] } "
                           "loop i2 = 0 .. n { s2: x[i2] = y[i2] * s[] }");
  EXPECT_EQ(written(fused_loops_strategy, summed).error().code, "fused-loops.none");
}

// What stands between two loops goes before or behind them, as what it does allows.
TEST(Strategies, StatementsBetweenLoopsMakeWay) {
  const Sdfg between = nest(
      "array x: f64[n] argument array y: f64[n] argument array s: i64 argument array m: i64 argument "
      "array t: f64[n] heap transient",
      "x, y, s, m",
      "loop i0 = 0 .. n { s0: t[i0] = x[i0] * 2.0 } s1: s[] = 0i64 s2: m[] = s[] "
      "loop i1 = 0 .. n { s3: y[i1] = t[i1] + 1.0 s4: s[] = s[] + i64(t[i1]) }");
  const auto recipe = closed(written(fused_loops_strategy, between).value()[0]).value();
  const auto one = apply(between, recipe, {.context = avx512, .budget = {}});
  ASSERT_TRUE(one) << to_text(recipe) << one.error().to_string();
  ASSERT_EQ(one->root.nodes.size(), 3U) << sdfg::print(*one);
  EXPECT_TRUE(std::holds_alternative<sdfg::Loop>(one->root.nodes[2].value));
  // Here the one statement reads what the first loop sums, and the second loop what the statement writes.
  const Sdfg apart = nest(
      "array x: f64[n] argument array y: f64[n] argument array s: i64 argument array m: i64 argument "
      "array t: f64[n] heap transient",
      "x, y, s, m",
      "loop i0 = 0 .. n { s0: t[i0] = x[i0] * 2.0 s1: s[] = s[] + i64(x[i0]) } s2: m[] = s[] "
      "loop i1 = 0 .. n { s3: y[i1] = t[i1] + f64(m[]) }");
  EXPECT_EQ(written(fused_loops_strategy, apart).error().code, "fused-loops.none");
}

// Sums that the normal form took out of one loop are waited for together, as in the program, wherever each begins; what
// is no sum stays where it is.
TEST(Strategies, SumsOfOneLoopAreOneAgain) {
  const auto inside = [](const std::string& second) {
    return nest(
        "array x: f64[n] argument array y: f64[n] argument array z: f64[n] argument array A: f64[n, n] argument",
        "x, y, z, A",
        "loop i0 = 0 .. n { loop i1 = max(0, i0 - 5) - i0 .. 6 { s0: x[i0] = x[i0] + A[i1 + i0, i0] } " + second +
            " }");
  };
  const std::string sum = "loop i2 = max(0, i0 - 5) .. i0 + 6 { s1: y[i0] = y[i0] + A[i2, i0] * A[i2, i0] }";
  EXPECT_TRUE(written(fused_loops_strategy, inside(sum)).value()[0].text.contains("first=i1, second=i2, align=begin"));
  const std::string copy = "loop i2 = max(0, i0 - 5) .. i0 + 6 { s1: z[i2] = A[i2, i0] }";
  const auto apart = written(fused_loops_strategy, inside(copy));
  EXPECT_TRUE(!apart || !apart.value()[0].text.contains("second=i2"));
}

TEST(Strategies, ThreadsAreNotSentOutForAFewIterations) {
  const auto threads = [](const std::string& extent) {
    const Sdfg rows =
        nest("array at: i32[n] argument array A: f64[n, n] argument array y: f64[n, n] argument", "at, A, y",
             "loop i0 = 0 .. n { loop i1 = 0 .. " + extent + " { s0: y[at[i0], i1] = y[at[i0], i1] + A[i0, i1] } }");
    return written(outer_threads_strategy, rows);
  };
  EXPECT_EQ(threads("8").error().code, "outer-threads.none");
  EXPECT_TRUE(threads("n"));
  EXPECT_TRUE(threads("100000"));
}

// Sums over all others, of each: as the program had them, threads on the outermost loop.
TEST(Strategies, AParallelLoopGoesOutermostWhereItBringsLittleMore) {
  const std::string arrays =
      "array x: f64[n] strides [7] argument array y: f64[n] strides [7] argument array A: f64[n, n] argument";
  const Sdfg pairs =
      nest(arrays, "x, y, A", "loop i0 = 0 .. n { loop i1 = 0 .. n { s0: y[i1] = y[i1] + x[i0] * x[i1] } }");
  const std::string recipe = written(fused_loops_strategy, pairs).value()[0].text;
  EXPECT_TRUE(recipe.starts_with("interchange(outer=i0, inner=i1); ")) << recipe;
  EXPECT_TRUE(recipe.contains("parallelize(loop=i1, kind=$kind)")) << recipe;
  // Through the columns of a matrix each iteration would bring a line of its own.
  const Sdfg columns =
      nest(arrays, "x, y, A", "loop i0 = 0 .. n { loop i1 = 0 .. n { s0: y[i1] = y[i1] + A[i0, i1] } }");
  EXPECT_TRUE(written(fused_loops_strategy, columns)) << "strided sums";
  const Sdfg dense = nest("array y: f64[n] argument array A: f64[n, n] argument", "y, A",
                          "loop i0 = 0 .. n { loop i1 = 0 .. n { s0: y[i1] = y[i1] + A[i0, i1] } }");
  const auto by_blocks = [](const Sdfg& one) {
    const std::string text = written(fused_loops_strategy, one).value()[0].text;
    EXPECT_TRUE(text.contains("interchange(outer=i0, inner=i1_t); ")) << text;
    EXPECT_FALSE(text.contains("inner=i1)")) << text;
  };
  by_blocks(dense);
  // Whatever else the nest does.
  const Sdfg more = nest("array y: f64[n] argument array A: f64[n, n] argument array B: f64[n, n] argument", "y, A, B",
                         "loop i0 = 0 .. n { loop i1 = 0 .. n { s0: y[i1] = y[i1] + A[i0, i1] } } "
                         "loop i2 = 0 .. n { loop i3 = 0 .. n { s1: B[i2, i3] = A[i3, i2] / y[i2] } }");
  by_blocks(more);
}

// A window's loops stand around the row in normal form: inside of it they hand on a scalar.
TEST(Strategies, ALoopInsideABandIsFusedToo) {
  const Sdfg window =
      nest("array x: f64[n + 2, n] argument array y: f64[n, n] argument array t: f64[n, n] heap transient", "x, y",
           "loop i0 = 0 .. n { loop i1 = 0 .. n { s0: t[i0, i1] = 0.0 } } "
           "loop i2 = 0 .. n { loop i3 = 0 .. 3 { loop i4 = 0 .. n { "
           "s1: t[i2, i4] = t[i2, i4] + x[i2 + i3, i4] } } } "
           "loop i5 = 0 .. n { loop i6 = 0 .. n { s2: y[i5, i6] = t[i5, i6] } }");
  const auto one = apply(window, closed(written(fused_loops_strategy, window).value()[0]).value(),
                         {.context = avx512, .budget = {}, .refused = ApplyOptions::Refused::LeaveOut});
  ASSERT_TRUE(one) << one.error().to_string();
  ASSERT_EQ(one->root.nodes.size(), 1U);
  for (const auto& container : one->containers) {
    EXPECT_TRUE(!container.transient || container.shape.empty()) << sdfg::print(*one);
  }
}

// Three histograms: of a loop of three iterations there are no even shares, but of the rows there are.
TEST(Strategies, FewIterationsAreNotSharedOutWhereOthersMayBe) {
  const auto counts = [](const std::string& extent) {
    const Sdfg histograms = nest("array at: i32[n, n] argument array h: i32[3, " + extent + "] argument", "at, h",
                                 "loop i0 = 0 .. 3 { loop i1 = 0 .. n { loop i2 = 0 .. n { "
                                 "s0: h[i0, at[i1, i2]] = h[i0, at[i1, i2]] + 1 } } }");
    std::vector<std::string> recipes;
    for (const OpenRecipe& recipe : written(outer_threads_strategy, histograms).value()) recipes.push_back(recipe.text);
    return recipes;
  };
  EXPECT_EQ(counts("256"), (std::vector<std::string>{"parallelize(loop=i0, kind=$kind) -> highway",
                                                     "parallelize(loop=i1, kind=$kind) -> highway"}));
  EXPECT_EQ(counts("n"), (std::vector<std::string>{"parallelize(loop=i0, kind=$kind) -> highway"}));
}

// A batch that may be one image goes to threads with its rows; what is inside of those stays whole.
TEST(Strategies, LoopsThatMayBeShortAreSharedOutWithThoseInThem) {
  const auto scaled = [](const std::string& batch, const std::string& rows) {
    const Sdfg images = nest("array A: f64[" + batch + ", n + 8, n] argument", "A",
                             "loop i0 = 0 .. " + batch + " { loop i1 = 0 .. " + rows +
                                 " { loop i2 = 0 .. n { s0: A[i0, i1, i2] = A[i0, i1, i2] * 3.0 } } }");
    return written(outer_threads_strategy, images).value()[0].text;
  };
  const std::string both = "parallelize(loop=i0, kind=$kind); parallelize(loop=i1, kind=$kind)";
  EXPECT_EQ(scaled("m", "n"), both + " -> highway");
  EXPECT_EQ(scaled("2", "n"), both + " -> highway");
  EXPECT_EQ(scaled("2", "3"), both + "; parallelize(loop=i2, kind=$kind) -> highway");
  EXPECT_EQ(scaled("300", "n"), "parallelize(loop=i0, kind=$kind) -> highway");
  EXPECT_EQ(scaled("8", "n - i0"), "parallelize(loop=i0, kind=$kind) -> highway");
  // Parts that were made one, too.
  const Sdfg two =
      nest("array A: f64[2, n, n] argument array B: f64[2, n, n] argument", "A, B",
           "loop i0 = 0 .. 2 { loop i1 = 0 .. n { loop i2 = 0 .. n { s0: A[i0, i1, i2] = A[i0, i1, i2] * 3.0 } } } "
           "loop i3 = 0 .. 2 { loop i4 = 0 .. n { loop i5 = 0 .. n { s1: B[i3, i4, i5] = A[i3, i4, i5] + 1.0 } } }");
  const std::string fused = written(fused_loops_strategy, two).value()[0].text;
  EXPECT_NE(fused.find("parallelize(loop=i0, kind=$kind); parallelize(loop=i1, kind=$kind)"), std::string::npos)
      << fused;
}

// Skewed by less than least_skew says loops do not go in tiles, skewed by that much they do.
TEST(Strategies, DependencesTellHowFarLoopsAreSkewedForTiles) {
  const std::string two = "loop i0 = 3 .. n { loop i1 = 3 .. m { ";
  for (const auto& [body, expected] : std::vector<std::pair<std::string, std::optional<int>>>{
           {two + "s0: A[i0, i1] = A[i0 - 1, i1 - 1] + A[i0, i1 - 1] } }", 0},
           {two + "s0: A[i0, i1] = A[i0 - 1, i1 + 1] + A[i0, i1 - 1] } }", 1},
           {two + "s0: A[i0, i1] = A[i0 - 2, i1 + 3] + A[i0, i1 - 1] } }", 2},
           {two + "s0: A[i0, i1] = A[i0 - 1, i1 + 3] + A[i0 - 1, i1] } }", 3},
           {two + "s0: A[i0, i1] = A[i0 - 1, i1 + 4] } }", std::nullopt},
           {two + "s0: A[i0, i1] = A[i0, i1] + 1.0 } }", 0},
           {two + "s0: x[i0] = x[i0] + A[i0, i1] } }", 0},
           {two + "s0: t[] = A[i0, i1] s1: A[i0, i1] = t[] + A[i0 - 1, i1 + 1] } }", std::nullopt},
           {two + "s0: x[0] = x[0] + A[i0, i1] } }", std::nullopt},
           {"loop i0 = 3 .. n { loop i1 = 3 .. i0 { s0: A[i0, i1] = A[i0 - 1, i1 + 1] + A[i1, i1] } }", 1},
           {"loop i0 = 3 .. n { loop i1 = 3 .. m private(t) { s0: t[] = A[i0 - 1, i1 + 2] s1: A[i0, i1] = t[] } }", 2},
           {"loop k0 = 0 .. n { loop i0 = 3 .. n { loop i1 = 3 .. m { s0: A[i0, i1] = A[i0 + 1, i1 - 1] + A[i0 - 1, "
            "i1] } } }",
            1}}) {
    const Sdfg one =
        nest("array A: f64[n, m] argument array x: f64[n] argument array t: f64 stack transient", "A, x", body);
    const sdfg::Scop scop = sdfg::scop_of(one);
    const auto dependences = sdfg::Dependences::compute(scop);
    ASSERT_TRUE(dependences);
    const auto least = sdfg::least_skew(*dependences, scop, scop.tree, "i0", "i1", 3);
    ASSERT_TRUE(least) << body;
    EXPECT_EQ(*least, expected) << body;
    for (int factor = 0; factor <= 3; ++factor) {
      const std::string skew = factor > 0 ? "skew(loop=i1, by=i0, factor=" + std::to_string(factor) + "); " : "";
      const auto recipe = recipe_from_text(skew + "tile(loops=[i0, i1], sizes=[32, 64], count=numbers) -> cpp");
      const auto tiled = apply(one, recipe.value(), {.context = avx512, .budget = {}});
      EXPECT_EQ(tiled.has_value(), *least && **least <= factor) << body << factor;
    }
  }
}

// Each row is as far behind the one before as the elements that it waits for are ahead.
TEST(Strategies, RowsThatWaitAreStaggered) {
  EXPECT_TRUE(written(staggered_rows_strategy, relaxation).value()[0].text.contains("skew(loop=i2, by=i1, factor=1)"));
  EXPECT_TRUE(written(staggered_rows_strategy, corners).value()[0].text.contains("skew(loop=i1, by=i0, factor=2)"));
  // A single sum for each element, and what is no float: other operations take longer than the waiting.
  for (const std::string body : {"A[i0, i1] + A[i0, i1 - 1] + A[i0 - 1, i1]", "A[i0, i1 - 1]"})
    for (const std::string type : {"f64", "i32"}) {
      if (type == "f64" && body.size() > 20) continue;
      const Sdfg other = nest("array A: " + type + "[n, m] argument", "A",
                              "loop i0 = 1 .. n { loop i1 = 1 .. m { s0: A[i0, i1] = " + body + " } }");
      EXPECT_EQ(written(staggered_rows_strategy, other).error().code, "staggered-rows.none") << body << type;
    }
}

// Of any elements, as many rows as there are lanes; with threads on tiles, or without; two loops over columns become
// one.
TEST(Strategies, RowsThatWaitRunInLanes) {
  const auto text = [](const Sdfg& nest, std::size_t k) {
    const auto recipes = written(staggered_lanes_strategy, nest);
    return recipes && k < recipes->size() ? (*recipes)[k].text : std::string();
  };
  EXPECT_EQ(text(distances, 1),
            "skew(loop=i1, by=i0, factor=1); tile(loops=[i0], sizes=[simd_bits floordiv 32]); "
            "interchange(outer=i0, inner=i1); split(loop=i1, offset=15); split(loop=i1_s, offset=-15); "
            "vectorize(loop=i0_s) -> highway");
  EXPECT_TRUE(text(corners, 0)
                  .starts_with("skew(loop=i1, by=i0, factor=1); tile(loops=[i0, i1], sizes=[$rows, "
                               "$columns], count=numbers); "))
      << text(corners, 0);
  EXPECT_TRUE(text(corners, 0).contains("split(loop=i1, offset=14)")) << text(corners, 0);
  const Sdfg affine_gaps =
      nest("array A: i32[n + 1, m + 1] argument array B: i32[n + 1, m + 1] argument", "A, B",
           "loop i0 = 0 .. n { loop i1 = 0 .. m { s0: B[i0 + 1, i1 + 1] = max(B[i0, i1 + 1] - 1, A[i0, i1 + 1] - 4) } "
           "loop i2 = 0 .. m { s1: A[i0 + 1, i2 + 1] = max(A[i0 + 1, i2] - 2, B[i0 + 1, i2 + 1]) } }");
  EXPECT_TRUE(text(affine_gaps, 1).starts_with("fuse(first=i1, second=i2); skew(loop=i1, by=i0, factor=1); "))
      << text(affine_gaps, 1);
  const Sdfg narrow =
      nest("array A: i16[n, m] argument", "A",
           "loop i0 = 1 .. n { loop i1 = 1 .. m { s0: A[i0, i1] = max(A[i0 - 1, i1], A[i0, i1 - 1]) } }");
  for (const Sdfg& other : {narrow, elementwise, scan})
    EXPECT_EQ(written(staggered_lanes_strategy, other).error().code, "staggered-lanes.none");
}

// One row is filled again and again, two columns behind the row before; in lanes alone.
TEST(Strategies, RowsThatKeepOneRowRunInLanes) {
  const auto one = written(staggered_lanes_strategy, one_row).value(),
             two = written(staggered_lanes_strategy, two_rows).value();
  EXPECT_EQ(one.size(), 1U);
  EXPECT_TRUE(one[0].text.starts_with("sink(loop=i1, what=before, count=1); skew(loop=i1, by=i0, factor=2); "));
  EXPECT_TRUE(one[0].text.contains("split(loop=i1, offset=32)")) << one[0].text;
  EXPECT_TRUE(two[0].text.starts_with("fuse(first=i1, second=i2); skew(loop=i1, by=i0, factor=2); "));
}

// Columns that only later ones overwrite are lanes as they stand: compilers need nobody for these.
TEST(Strategies, RowsThatAreLanesAreLeft) {
  const Sdfg pascal = nest("array R: i32[m + 1] argument", "R",
                           "loop i0 = 0 .. n { loop i1 = 0 .. m { s0: R[m - i1] = R[m - i1] + R[m - i1 - 1] } }");
  EXPECT_EQ(written(staggered_lanes_strategy, pascal).error().code, "staggered-lanes.none");
  EXPECT_EQ(written(tile_diagonals_strategy, pascal).error().code, "tile-diagonals.none");
}

// What all rows and columns read stands by itself: the others are parallel, each of them in vectors.
TEST(Strategies, PivotsStandByThemselves) {
  const auto recipes = written(pivots_strategy, paths).value();
  ASSERT_EQ(recipes.size(), 2U);
  EXPECT_TRUE(recipes[0].text.starts_with("split(loop=i1, at=i0); split(loop=i1_s, at=i0, offset=1); "))
      << recipes[0].text;
  EXPECT_TRUE(recipes[0].text.contains("parallelize(loop=i1, kind=$kind); parallelize(loop=i1_s, kind=$kind)"));
  EXPECT_EQ(recipes[0].open.at("kind").front(), "static");
  EXPECT_FALSE(recipes[1].text.contains("parallelize"));
  // Of these the rows are parallel as they are: only the column is cut out.
  EXPECT_TRUE(written(pivots_strategy, scaled).value()[0].text.starts_with("split(loop=i2, at=i0); split(loop=i2_s"));
  // Rows of a triangle are handed out as they come.
  const Sdfg half = nest("array D: i32[n, n] argument", "D",
                         "loop i0 = 0 .. n { loop i1 = 0 .. n { loop i2 = 0 .. i1 + 1 { "
                         "s0: D[i1, i2] = min(D[i1, i2], D[i1, i0] + D[i0, i2]) } } }");
  EXPECT_EQ(written(pivots_strategy, half).value()[0].open.at("kind").front(), "dynamic");
  // The element at the point is not the only one that is met again.
  const Sdfg next = nest("array D: i32[n + 1, n + 1] argument", "D",
                         "loop i0 = 0 .. n { loop i1 = 0 .. n { loop i2 = 0 .. n { "
                         "s0: D[i1, i2] = min(D[i1, i2 + 1], D[i1 + 1, i0] + D[i1, i2]) } } }");
  const auto none = written(pivots_strategy, next);
  EXPECT_TRUE(none || none.error().code == "pivots.none");
}

// Grids of three dimensions that no cache holds run two sweeps at a time on tiles; of smaller ones a thread takes two
// rows, which share what they read.
TEST(Strategies, SweepsInThreeDimensions) {
  const auto recipe = [](const std::string& n) {
    const std::string shape = "f64[" + n + ", " + n + ", " + n + "] argument ", to = " = 1 .. " + n + " - 1 { ";
    const Sdfg nest =
        sdfg::parse("sdfg 1 t symbols s array A: " + shape + "array B: " + shape + "arguments s, A, B " +
                    "loop i0 = 0 .. s { loop i1" + to + "loop i2" + to + "loop i3" + to +
                    "s0: B[i1, i2, i3] = A[i1 + 1, i2, i3] - A[i1 - 1, i2, i3] } } } loop i4" + to + "loop i5" + to +
                    "loop i6" + to + "s1: A[i4, i5, i6] = B[i4, i5 + 1, i6] + B[i4, i5, i6 - 1] } } } }")
            .value();
    return to_text(closed(written(offload_strategy, nest).value()[0]).value());
  };
  const std::string tiles = "overlap(loop=i0, loops=[i1, i2, i3], sizes=[16, 8, 32], steps=1, rows=8)";
  const std::string rows = "offload(loops=[i1_t, i2, i3], sizes=[1, 4, 64]); unroll(loop=i1, factor=2)";
  EXPECT_TRUE(recipe("200").starts_with(tiles)) << recipe("200");
  EXPECT_FALSE(recipe("120").contains("overlap")) << recipe("120");
  EXPECT_TRUE(recipe("120").contains(rows)) << recipe("120");
}

// A recurrence down each column: one launch, whose threads go down a column each. Where neighbours need each other,
// each row is a launch; and what updates everything by one row and one column goes several of them at a time.
TEST(Strategies, LoopsThatWaitForThemselvesOnAGpu) {
  const auto first = [](const std::string& body) {
    const Sdfg nest = sdfg::parse(
                          "sdfg 1 t symbols n array A: f64[n, n] argument array x: f64[n] argument arguments n, A, x "
                          "loop i0 = 1 .. n { " +
                          body + " }")
                          .value();
    return to_text(closed(written(offload_strategy, nest).value()[0]).value());
  };
  EXPECT_EQ(first("loop i1 = 1 .. n { s0: A[i0, i1] = A[i0 - 1, i1] * 0.5 + A[i0, i1] }"),
            "interchange(outer=i0, inner=i1); offload(loops=[i1], sizes=[128]) -> cuda");
  EXPECT_EQ(first("loop i1 = 1 .. n { s0: A[i0, i1] = A[i0 - 1, i1 - 1] * 0.5 }"),
            "offload(loops=[i1], sizes=[128]) -> cuda");
  EXPECT_EQ(first("loop i1 = 1 .. n { loop i2 = 1 .. n { s0: A[i1, i2] = A[i1, i2] - A[i1, i0] * A[i0, i2] } }"),
            "block_pivots(loop=i0, size=32, each=4) -> cuda");
  // Two parts of the recurrence; of which the second needs its neighbour.
  const std::string rows = "loop i1 = 1 .. n { s0: A[i0, i1] = A[i0, i1] + x[i1] } ";
  EXPECT_EQ(first(rows + "loop i2 = 1 .. n { s1: x[i2] = A[i0, i2] * 0.5 }"),
            "fuse(first=i1, second=i2); interchange(outer=i0, inner=i1); offload(loops=[i1], sizes=[128]) -> cuda");
  EXPECT_FALSE(first(rows + "loop i2 = 1 .. n - 1 { s1: x[i2] = A[i0, i2 + 1] * 0.5 }").contains("fuse"));
}

// Large tiles read less; of a small product they leave multiprocessors idle.
TEST(Strategies, TilesOfProductsFitTheGrid) {
  const auto tiles = [](const std::string& rows) {
    const Sdfg nest =
        sdfg::parse("sdfg 1 t array A: f64[" + rows + ", 900] argument array B: f64[900, 1000] argument " +
                    "array C: f64[" + rows + ", 1000] argument arguments A, B, C " + "loop i0 = 0 .. " + rows +
                    " { loop i1 = 0 .. 900 { loop i2 = 0 .. 1000 { "
                    "s0: C[i0, i2] = C[i0, i2] + A[i0, i1] * B[i1, i2] } } }")
            .value();
    return to_text(closed(written(offload_strategy, nest).value()[0]).value());
  };
  EXPECT_TRUE(tiles("800").contains("sizes=[4, 4]); offload(loops=[i0_t, i2_t], sizes=[8, 8])")) << tiles("800");
  EXPECT_TRUE(tiles("800").contains("buffers=2")) << tiles("800");
  EXPECT_TRUE(tiles("4000").contains("sizes=[4, 8]); offload(loops=[i0_t, i2_t], sizes=[16, 8])")) << tiles("4000");
}

// Of a triangle above the diagonal, columns are the rows; operands of two products are staged in flat tiles.
TEST(Strategies, TilesOfTrianglesAndOfSeveralProducts) {
  const auto recipe = [](const std::string& columns, const std::string& value) {
    const Sdfg nest = sdfg::parse(
                          "sdfg 1 t array A: f64[900, 4000] argument array B: f64[900, 4000] argument "
                          "array C: f64[4000, 4000] argument arguments A, B, C "
                          "loop i0 = 0 .. 4000 { loop i1 = 0 .. 900 { loop i2 = " +
                          columns + " { s0: C[i0, i2] = C[i0, i2] + " + value + " } } }")
                          .value();
    const auto written_first = closed(written(offload_strategy, nest).value()[0]).value();
    EXPECT_TRUE(apply(nest, written_first, {.context = avx512, .budget = {}})) << to_text(written_first);
    return to_text(written_first);
  };
  const std::string one = "A[i1, i0] * A[i1, i2]", two = "(A[i1, i0] * B[i1, i2] + B[i1, i0] * A[i1, i2])";
  EXPECT_TRUE(recipe("i0 .. 4000", one).contains("register_tile(loops=[i2, i0]")) << recipe("i0 .. 4000", one);
  EXPECT_TRUE(recipe("0 .. i0 + 1", one).contains("register_tile(loops=[i0, i2]")) << recipe("0 .. i0 + 1", one);
  EXPECT_TRUE(recipe("0 .. i0 + 1", one).contains("fold=no, along=yes, buffers=2"));
  EXPECT_TRUE(recipe("0 .. i0 + 1", two).contains("size=8, fold=yes, along=no, buffers=2"))
      << recipe("0 .. i0 + 1", two);
}

TEST(Strategies, SayWhyNot) {
  std::set<std::string> said;
  for (const StrategyInfo* strategy : strategies()) {
    for (const Sdfg& nest : {sequential, elementwise}) {
      const auto recipes = written(*strategy, nest);
      if (!recipes) said.insert(recipes.error().code);
    }
    for (const RefusalInfo& r : strategy->refusals) EXPECT_TRUE(said.contains(std::string(r.code))) << r.code;
  }
}

TEST(Strategies, FactsOfANest) {
  const auto facts = NestFacts::of(batch, avx512).value();
  EXPECT_EQ(facts.band("i0"), (std::vector<std::string>{"i0", "i1", "i2", "i3"}));
  EXPECT_EQ(facts.parallel(facts.band("i0")), (std::vector<std::string>{"i0", "i1", "i2"}));
  EXPECT_EQ(facts.reductions(facts.band("i0")), std::vector<std::string>{"i3"});
  EXPECT_EQ(facts.element_bytes(), 4);
  const auto swept = NestFacts::of(sweeps, avx512).value();
  EXPECT_EQ(swept.loop("i0").inside, (std::vector<std::string>{"i1", "i3"}));
  EXPECT_FALSE(swept.loop("i0").is_band || swept.loop("i0").parallel);
  EXPECT_TRUE(swept.loop("i1").is_band && swept.loop("i1").parallel);
}

TEST(Strategies, OpenNamesAreDeclared) {
  EXPECT_EQ(closed({"unroll(loop=i0, factor=$n) -> cpp", {}}).error().code, "recipe.text");
  const OpenRecipe twice{"tile(loops=[i0], sizes=[$n]); unroll(loop=i0, factor=$n) -> cpp", {{"n", {"4", "8"}}}};
  EXPECT_EQ(closed(twice, {{"n", 1}}),
            recipe_from_text("tile(loops=[i0], sizes=[8]); unroll(loop=i0, factor=8) -> cpp"));
}

}  // namespace
}  // namespace sous::transforms
