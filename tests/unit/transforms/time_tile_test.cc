#include "tests/unit/transforms/sweep_nests.h"
#include "transforms/motion.h"

namespace sous::transforms {
namespace {

void expect_same(const Sdfg& before, const std::vector<std::string>& recipes, const std::string& target = "openmp") {
  std::vector<tests::Rewritten> all;
  for (const std::string& steps : recipes) {
    all.push_back(tests::rewritten(before, steps, target));
    tests::expect_same_interpreted(all.back(), sizes(), tests::Undefined::LeftOut);
  }
  tests::expect_same_compiled(all, sizes(), target, tests::Undefined::LeftOut);
}

// Tiles of a wavefront in parallel.
std::string wave(const std::string& space, int factor) {
  return "; skew(loop=" + space + "_t, by=t_t, factor=" + std::to_string(factor) +
         "); interchange(outer=t_t, inner=" + space + "_t); parallelize(loop=t_t)";
}

TEST(TimeTile, TwoGridsInTurns) {
  expect_same(between, {"time_tile(loop=t, loops=[i], sizes=[4], steps=2)",
                        "time_tile(loop=t, loops=[i, j], sizes=[3, 5], steps=3)" + wave("i", 3),
                        "time_tile(loop=t, loops=[k, l], sizes=[4, 4], steps=2)" + wave("k", 2)});
}

// Several rows of a tile at a time.
TEST(TimeTile, RowsTogether) {
  const std::string rows = "; tile(loops=[i], sizes=[4]); interchange(outer=i, inner=j); unroll(loop=i, factor=4)";
  expect_same(between, {"time_tile(loop=t, loops=[i], sizes=[8], steps=3)" + rows + "; vectorize(loop=j)"}, "highway");
}

// An edge runs in the tile that holds its place, also where there is nothing but the edge.
TEST(TimeTile, InPlaceWithAnEdge) {
  expect_same(fields, {"time_tile(loop=t, loops=[i1], sizes=[4], steps=4)" + wave("i1", 2),
                       "time_tile(loop=t, loops=[i2, j2], sizes=[5, 3], steps=2)"});
}

TEST(TimeTile, CornersAndTime) {
  expect_same(corners, {"time_tile(loop=t, loops=[i, j], sizes=[3, 4], steps=2)" + wave("i", 3),
                        "time_tile(loop=t, loops=[i], sizes=[1], steps=1)"});
}

TEST(TimeTile, OneDimensionAndThree) {
  expect_same(line, {"time_tile(loop=t, loops=[i], sizes=[5], steps=3)" + wave("i", 3)});
  expect_same(cube, {"time_tile(loop=t, loops=[i, j], sizes=[4, 3], steps=2)",
                     "time_tile(loop=t, loops=[i, j, k], sizes=[4, 3, 6], steps=2)" + wave("i", 2)});
}

// The least that the sweeps need: two rows per step between two grids, one where each is updated in its place.
TEST(TimeTile, Motions) {
  const auto of = [](const Sdfg& before, std::size_t dimension) {
    const auto sweeps = sweeps_of(before, std::get<sdfg::Loop>(before.root.nodes[0].value), 2);
    return motion(sweeps.value(), dimension).value();
  };
  EXPECT_EQ(of(between, 0).factor, 2);
  EXPECT_EQ(of(between, 0).shifts, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(of(fields, 0).factor, 1);
  EXPECT_EQ(of(fields, 0).shifts, (std::vector<std::int64_t>{0, 0, 0, 1}));
  EXPECT_EQ(of(corners, 0).factor, 2);
  EXPECT_EQ(of(corners, 1).factor, 3);
}

TEST(TimeTile, TilesThatStartTooEarlyAreRefused) {
  EXPECT_EQ(tests::refusal(between, "time_tile(loop=t, loops=[i], sizes=[4], steps=2)" + wave("i", 1)),
            "parallelize.carried");
}

TEST(TimeTile, Refusals) {
  const auto of = [](const std::string& body, const std::string& arguments = "loops=[i, j], sizes=[8, 8], steps=2") {
    return tests::refusal(nest(grids, "A, B", body), "time_tile(loop=t, " + arguments + ")");
  };
  const auto plain = [](const std::string& right) {
    return "loop t = 0 .. s { loop i = 0 .. n { loop j = 0 .. m { s0: A[i, j] = " + right + " } } }";
  };
  EXPECT_EQ(of(plain("A[i, j] + 1.0"), "loops=[i, j], sizes=[8], steps=2"), "time-tile.sizes");
  EXPECT_EQ(of(plain("A[i, j] + 1.0"), "loops=[j, i], sizes=[8, 8], steps=2"), "time-tile.not-nested");
  EXPECT_EQ(of(plain("A[i, j] + 1.0"), "loops=[z], sizes=[8], steps=2"), "time-tile.no-loop");
  EXPECT_EQ(of(plain("A[i, j] + 1.0"), "loops=[t], sizes=[8], steps=2"), "time-tile.place");
  EXPECT_EQ(of("loop t = 0 .. s step 2 { loop i = 0 .. n { loop j = 0 .. m { s0: A[i, j] = A[i, j] + 1.0 } } }"),
            "time-tile.place");
  EXPECT_EQ(of(plain("A[i + 1, j] + 1.0")), "time-tile.sweeps");
  EXPECT_EQ(of("loop t = 0 .. s { loop i = t .. n { loop j = 0 .. m { s0: A[i, j] = A[i, j] + 1.0 } } }"),
            "time-tile.sweeps");
  const std::string back = "loop t = 0 .. s { loop i = 0 .. n { loop j = 0 .. m { s0: A[i, j] = B[i + ";
  const std::string last = ", j] } } loop k = 0 .. n { loop l = 0 .. m { s1: B[k, l] = A[k, l] } } }";
  EXPECT_EQ(of(back + "2000" + last), "time-tile.distances");
  EXPECT_EQ(of(back + "65" + last), "time-tile.distances");
}

}  // namespace
}  // namespace sous::transforms
