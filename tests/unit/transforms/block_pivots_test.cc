#include <gtest/gtest.h>

#include "sdfg/text.h"
#include "tests/support/rewritten.h"

namespace sous::transforms {
namespace {

using sdfg::Sdfg;

Sdfg nest(const std::string& arrays, const std::string& names, const std::string& body) {
  const auto sdfg = sdfg::parse("sdfg 1 t symbols n, m " + arrays + " arguments n, m, " + names + " " + body);
  if (!sdfg) ADD_FAILURE() << sdfg.error().to_string();
  return sdfg.value_or(Sdfg{});
}

const std::string one = "array A: f64[n, n] argument";
const std::string loops = "loop k = 0 .. n { loop i = 0 .. n { loop j = 0 .. n { ";

std::vector<tests::Sizes> sizes() {
  std::vector<tests::Sizes> all;
  for (const auto& [n, m] :
       {std::pair{9, 2}, {1, 1}, {2, 0}, {3, 5}, {4, 3}, {8, 1}, {13, 4}, {17, 0}, {0, 4}, {7, 9}, {5, 5}, {12, 1}})
    all.push_back({{"n", n}, {"m", m}});
  return all;
}

// On the CPU, with the threads of a block one after another, and between guard pages.
void expect_same(const Sdfg& before, const std::vector<std::string>& arguments) {
  std::vector<tests::Rewritten> all;
  for (const std::string& a : arguments) {
    all.push_back(tests::rewritten(before, "block_pivots(loop=k" + a + ")", "cuda"));
    tests::expect_same_interpreted(all.back(), sizes(), tests::Undefined::LeftOut);
  }
  tests::expect_same_compiled(all, sizes(), "cuda", tests::Undefined::LeftOut);
}

// Whose diagonal matters: a path through a vertex may be shorter than none.
TEST(BlockPivots, ShortestPaths) {
  expect_same(nest("array A: i32[n, n] argument", "A",
                   loops + "s0: A[i, j] = select(A[i, j] < A[i, k] + A[k, j], A[i, j], A[i, k] + A[k, j]) } } }"),
              {", size=4, each=2", ", size=6, each=3", ", size=8, each=4", ", size=3, each=1", ""});
}

// Not associative, and each value depends on what row and column were at that time.
TEST(BlockPivots, SumsOfProducts) {
  expect_same(nest(one, "A", loops + "s0: A[i, j] = 0.5 * A[i, j] - A[i, k] * A[k, j] } } }"),
              {", size=4, each=2", ", size=5, each=1", ", size=2, each=2"});
}

TEST(BlockPivots, ConditionsOnData) {
  expect_same(nest(one, "A", loops + "if (A[i, j] > A[k, j] + A[i, k]) { s0: A[i, j] = A[k, j] + A[i, k] } } } }"),
              {", size=4, each=4", ", size=2, each=1"});
}

// More rows and columns than pivots, which begin elsewhere; a batch; what is read beside the array; where the iteration
// is.
TEST(BlockPivots, BordersAndOthers) {
  expect_same(nest("array A: f32[3, n + 6, n + 4] argument array w: f32[n + 9] argument", "A, w",
                   "loop b = 0 .. 3 { loop k = 2 .. n { loop i = 2 .. n + 3 { loop j = 2 .. n + 1 { "
                   "s0: A[b, i + 3, j + 1] = A[b, i + 3, j + 1] + A[b, k + 3, j + 1] * w[i] - A[b, i + 3, k + 1] * "
                   "f32({i - 2*j + 3*k}i32) } } } }"),
              {", size=4, each=2", ", size=3, each=3"});
}

TEST(BlockPivots, ColumnsFirst) {
  expect_same(nest("array A: u8[n, n] argument", "A", loops + "s0: A[j, i] = A[j, i] | A[k, i] & A[j, k] } } }"),
              {", size=4, each=2"});
}

TEST(BlockPivots, Refusals) {
  const auto refused = [](const std::string& body, const std::string& arguments = "") {
    return tests::refusal(nest(one + " array x: i64[n] argument array B: f64[n, n] argument alias 1 array C: f64[n, n] "
                                     "argument alias 1",
                               "A, x, B, C", body),
                          "block_pivots(loop=k" + arguments + ")");
  };
  const std::string good = "s0: A[i, j] = A[i, j] + A[i, k] * A[k, j] } } }";
  EXPECT_EQ(refused(loops + good, ", size=32, each=5"), "block-pivots.tile");
  EXPECT_EQ(refused(loops + good, ", size=64, each=8"), "block-pivots.tile");
  EXPECT_EQ(refused(loops + "s0: A[i, j] += A[i, k] * A[k, j] } } }"), "block-pivots.body");
  EXPECT_EQ(refused(loops + "s0: A[i, j] = A[i, j] + A[k, k] } } }"), "block-pivots.subscripts");
  EXPECT_EQ(refused(loops + "s0: A[i, j] = A[i, j] + A[i, k + 1] } } }"), "block-pivots.subscripts");
  EXPECT_EQ(refused(loops + "s0: A[i, i] = A[i, i] + A[i, k] } } }"), "block-pivots.subscripts");
  EXPECT_EQ(refused(loops + "s0: A[i, 2*j] = A[i, 2*j] + 1.0 } } }"), "block-pivots.subscripts");
  EXPECT_EQ(refused(loops + "s0: A[i, x[j]] = A[i, x[j]] + 1.0 } } }"), "block-pivots.subscripts");
  EXPECT_EQ(refused(loops + "s0: B[i, j] = B[i, j] + C[i, k] * B[k, j] } } }"), "block-pivots.alias");
  EXPECT_EQ(refused("loop k = 0 .. n { loop i = k .. n { loop j = 0 .. n { " + good), "block-pivots.bounds");
  EXPECT_EQ(refused("loop k = 0 .. n { loop i = 0 .. m { loop j = 0 .. n { " + good), "block-pivots.bounds");
  EXPECT_EQ(refused("loop k = 0 .. n { loop i = 1 .. n { loop j = 0 .. n { " + good), "block-pivots.bounds");
  EXPECT_EQ(refused("loop b = 0 .. m { loop k = 0 .. b { loop i = 0 .. b { loop j = 0 .. b { " + good + " }"),
            "block-pivots.bounds");
  EXPECT_EQ(refused("loop k = 0 .. n { loop i = 0 .. n { s1: A[i, 0] = 0.0 loop j = 0 .. n { " + good),
            "block-pivots.body");
}

}  // namespace
}  // namespace sous::transforms
