#include "tests/unit/transforms/sweep_nests.h"

namespace sous::transforms {
namespace {

// On the CPU, with the threads of a block one after another, and between guard pages.
void expect_same(const Sdfg& before, const std::vector<std::string>& recipes) {
  std::vector<tests::Rewritten> all;
  for (const std::string& steps : recipes) {
    all.push_back(tests::rewritten(before, steps, "cuda"));
    tests::expect_same_interpreted(all.back(), sizes(), tests::Undefined::LeftOut);
  }
  tests::expect_same_compiled(all, sizes(), "cuda", tests::Undefined::LeftOut);
}

TEST(Overlap, TwoGridsInTurns) {
  expect_same(between,
              {"overlap(loop=t, loops=[i, j], sizes=[6, 8], steps=1)",
               "overlap(loop=t, loops=[i, j], sizes=[14, 11], steps=2, rows=4)",
               "overlap(loop=t, loops=[k, l], sizes=[9, 9], steps=2, rows=3); offload(loops=[i, j], sizes=[2, 4]); "
               "offload(loops=[k, l], sizes=[2, 4])"});
}

TEST(Overlap, InPlace) {
  expect_same(fields, {"overlap(loop=t, loops=[i1, j1], sizes=[6, 8], steps=1)",
                       "overlap(loop=t, loops=[i1, j1], sizes=[8, 8], steps=3, rows=2)"});
}

TEST(Overlap, CornersAndTime) {
  expect_same(corners, {"overlap(loop=t, loops=[i, j], sizes=[8, 12], steps=2, rows=2)",
                        "overlap(loop=t, loops=[i, j], sizes=[4, 5], steps=1)"});
}

TEST(Overlap, OneDimensionAndThree) {
  expect_same(line, {"overlap(loop=t, loops=[i], sizes=[13], steps=2)",
                     "overlap(loop=t, loops=[i], sizes=[11], steps=1, rows=3)"});
  expect_same(cube, {"overlap(loop=t, loops=[i, j, k], sizes=[6, 6, 7], steps=1, rows=2)"});
}

// A grid that each iteration computes anew has no second place.
TEST(Overlap, OnlyWhatGoesOnHasASecondPlace) {
  const auto after = tests::rewritten(between, "overlap(loop=t, loops=[i, j], sizes=[12, 12])", "cuda").after;
  EXPECT_NE(after.find("A_2"), nullptr);
  EXPECT_EQ(after.find("B_2"), nullptr);
}

// A grid that is not read once it has been written comes from one place and goes to another, past the tile.
TEST(Overlap, WhatPassesHasNoPlaceInTheTile) {
  const auto has_place = [](const Sdfg& before, const std::string& steps, const std::string& name) {
    return tests::rewritten(before, steps, "cuda").after.find(name) != nullptr;
  };
  const std::string once = "overlap(loop=t, loops=[i, j], sizes=[12, 12], steps=1)";
  const std::string twice = "overlap(loop=t, loops=[i, j], sizes=[12, 12], steps=2)";
  EXPECT_FALSE(has_place(between, once, "A_s"));
  EXPECT_TRUE(has_place(between, once, "B_s"));
  EXPECT_TRUE(has_place(between, twice, "A_s"));
  // Written by two sweeps, the second of which reads what the first one wrote; and added to.
  const Sdfg again = nest(grids, "A, B",
                          "loop t = 0 .. s { " + inner + "s0: A[i, j] = A[i, j] * 0.5 + B[i, j] } } " + inner2 +
                              "s1: A[k, l] = A[k, l] + B[k + 1, l] } } }");
  EXPECT_TRUE(has_place(again, once, "A_s"));
  const Sdfg added = nest(grids, "A, B", "loop t = 0 .. s { " + inner + "s0: A[i, j] += B[i, j - 1] } } }");
  const Sdfg alone = nest(grids, "A, B", "loop t = 0 .. s { " + inner + "s0: A[i, j] = A[i, j] * 0.5 + B[i, j] } } }");
  EXPECT_FALSE(has_place(alone, once, "A_s"));
  // Two sweeps write the same elements of what passes, and the second one's stay.
  const Sdfg over = nest(grids, "A, B",
                         "loop t = 0 .. s { " + inner + "s0: B[i, j] = A[i - 1, j] + A[i, j + 1] * 0.5 } } " +
                             "loop k = 0 .. n { loop l = 0 .. m { s1: A[k, l] = B[k, l] * 2.0 } } " +
                             "loop p = 0 .. n { loop q = 0 .. m - 1 { s2: A[p, q] = B[p, q + 1] } } }");
  EXPECT_FALSE(has_place(over, once, "A_s"));
  expect_same(over, {"overlap(loop=t, loops=[i, j], sizes=[6, 8], steps=1, rows=2)", once});
  for (const Sdfg* before : {&again, &added, &alone})
    tests::expect_same_interpreted(
        tests::rewritten(*before, "overlap(loop=t, loops=[i, j], sizes=[6, 8], steps=1, rows=2)", "cuda"), sizes(),
        tests::Undefined::LeftOut);
}

TEST(Overlap, Refusals) {
  const auto refused = [](const Sdfg& before, const std::string& arguments) {
    return tests::refusal(before, "overlap(loop=t, " + arguments + ")");
  };
  const auto of = [&](const std::string& body, const std::string& loops = "[i, j], sizes=[8, 8]") {
    return refused(
        nest(
            grids + " array x: i64[n] argument array q: f64[n, m] argument alias 1 array r: f64[n, m] argument alias 1",
            "A, B, x, q, r", body),
        "loops=" + loops);
  };
  EXPECT_EQ(refused(between, "loops=[i, j], sizes=[8]"), "overlap.sizes");
  EXPECT_EQ(refused(between, "loops=[i, j], sizes=[8, 8]"), "overlap.tile");  // all of it is around
  EXPECT_EQ(refused(line, "loops=[i], sizes=[2000]"), "overlap.tile");
  EXPECT_EQ(refused(between, "loops=[i, j], sizes=[64, 64]"), "overlap.tile");
  EXPECT_EQ(refused(between, "loops=[t], sizes=[64]"), "overlap.place");
  EXPECT_EQ(refused(between, "loops=[i, k], sizes=[16, 16]"), "overlap.not-nested");
  EXPECT_EQ(refused(between, "loops=[i, z], sizes=[16, 16]"), "overlap.no-loop");
  EXPECT_EQ(tests::refusal(between, "overlap(loop=z, loops=[i, j], sizes=[16, 16])"), "overlap.no-loop");
  EXPECT_EQ(of("loop t = 0 .. s { loop t2 = 0 .. s { loop i = 0 .. n { loop j = 0 .. m { s0: A[i, j] = A[i, j] + B[i, "
               "j] } } } }"),
            "overlap.body");
  EXPECT_EQ(of("loop t = 0 .. s { loop i = t .. n { loop j = 0 .. m { s0: A[i, j] = A[i, j] + 1.0 } } }"),
            "overlap.body");
  EXPECT_EQ(of("loop t = 0 .. s { loop i = 0 .. n { loop j = 0 .. i { s0: A[i, j] = A[i, j] + 1.0 } } }"),
            "overlap.body");
  EXPECT_EQ(of("loop t = 0 .. s { loop i = 1 .. n { loop j = 0 .. m { s0: A[i, j] = A[i - 1, j] + 1.0 } } }"),
            "overlap.carried");
  EXPECT_EQ(of("loop t = 0 .. s { loop i = 0 .. n { loop j = 0 .. m { s0: A[i, j] = B[i, j] + 1.0 } } }"),
            "overlap.carried");
  EXPECT_EQ(of("loop t = 0 .. min(n, m) { loop i = 0 .. n { loop j = 0 .. m { s0: A[i, j] = A[i, j] + B[t, j] } } loop "
               "k = 0 .. n { loop l = 0 .. m { s1: B[k, l] = A[l, k] } } }"),
            "overlap.subscripts");
  EXPECT_EQ(of("loop t = 0 .. s { loop i = 0 .. n { loop j = 0 .. m { s0: A[i, j] = A[i, j] + 1.0 } } loop k = 0 .. m "
               "{ s1: A[t, k] = 0.0 } }"),
            "overlap.subscripts");
  EXPECT_EQ(of("loop t = 0 .. s { loop i = 0 .. n { loop j = 0 .. m { s0: q[i, j] = q[i, j] + r[i, j] } } }"),
            "overlap.alias");
  EXPECT_EQ(of("loop t = 0 .. s step 2 { loop i = 0 .. n { loop j = 0 .. m { s0: A[i, j] = A[i, j] + 1.0 } } }"),
            "overlap.place");
}

}  // namespace
}  // namespace sous::transforms
