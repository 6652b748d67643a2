// pack, and the padded register tiles that it feeds, against the interpreter, interpreted and as Highway vectors, bit
// for bit and between guard pages: the nests that it is for, in all sizes around its tiles; and what it must refuse.
#include <gtest/gtest.h>

#include <algorithm>

#include "sdfg/text.h"
#include "tests/support/rewritten.h"

namespace sous::transforms {
namespace {

using tests::applied;
using tests::refusal;
using tests::Sizes;

// `type` stands for T in `body`.
sdfg::Sdfg nest(const std::string& body, const std::string& type = "f64", const std::string& more = "") {
  std::string text =
      "sdfg 1 t symbols n, m, l array A: T[n, l] argument array B: T[l, m] argument array C: T[n, m] argument "
      "array S: T[n, n] argument array E: T[2, n, l] argument array x: T[n] argument array a: T argument "
      "array X: i32[n, m] argument " +
      more + "arguments n, m, l, A, B, C, S, E, x, a, X" + (more.contains("array D:") ? ", D " : " ") + body;
  for (std::size_t at = 0; (at = text.find(": T", at)) != std::string::npos;) text.replace(at + 2, 1, type);
  auto parsed = sdfg::parse(text);
  if (!parsed) ADD_FAILURE() << parsed.error().to_string() << "\n" << text;
  return parsed.value_or(sdfg::Sdfg{});
}

struct Case {
  std::string body, steps, type = "f64";
  int buffers = 1;
};

// --- What it is for -------------------------------------------------------------------------------------------------

const std::string product =
    "loop i = 0 .. n { loop j = 0 .. m { loop k = 0 .. l { s: C[i, j] = C[i, j] + A[i, k] * B[k, j] } } }";
const std::string scaled =
    "loop i = 0 .. n { loop j = 0 .. m { loop k = 0 .. l { s: C[i, j] = C[i, j] + a[] * A[i, k] * B[k, j] } } }";
const std::string lower =
    "loop i = 0 .. n { loop j = 0 .. i + 1 { loop k = 0 .. l { s: S[i, j] = S[i, j] + A[i, k] * A[j, k] } } }";
const std::string syr2k =
    "loop i = 0 .. n { loop j = 0 .. i + 1 { loop k = 0 .. l {"
    " s: S[i, j] = S[i, j] + A[j, k] * a[] * E[0, i, k] + E[0, j, k] * a[] * A[i, k] } } }";
const std::string batched =
    "loop o = 0 .. 2 { loop i = 0 .. n { loop j = 0 .. m { loop k = 0 .. l {"
    " s: C[i, j] = C[i, j] + E[o, i, k] * B[k, j] } } } }";
const std::string shifted =
    "loop i = 1 .. n { loop j = 0 .. m - 2 { loop k = 1 .. l {"
    " s: C[i, j] = C[i, j] + A[i - 1, k] * B[k - 1, j + 2] } } }";
const std::string converted =
    "loop i = 0 .. n { loop j = 0 .. m { loop k = 0 .. l { s: C[i, j] = C[i, j] + f64(X[i, j]) * B[k, j] } } }";
const std::string twice =
    "loop i = 0 .. n { loop j = 0 .. m { loop k = 0 .. l {"
    " s: C[i, j] = C[i, j] + (A[i, k] * a[] - A[i, k]) * B[k, j] } } }";
const std::string rows =
    "loop i = 0 .. n { loop j = 0 .. m { loop k = 0 .. l { s: C[i, j] = C[i, j] + x[i] * A[i, k] * B[k, j] } } }";

// In place: what is packed lies in the container that is written, where nothing inside the loop writes it.
const std::string trailing =
    "loop t = 0 .. n { loop i = t + 1 .. n { loop j = t + 1 .. n { s: S[i, j] = S[i, j] - S[i, t] * S[t, j] } } }";
const std::string trailing_blocks =
    "loop b = 0 .. n step 4 { loop i = b + 4 .. n { loop j = b + 4 .. i + 1 { loop k = b .. b + 4 {"
    " s: S[i, j] = S[i, j] - S[i, k] * S[j, k] } } } }";

// Rows of a triangular solve by blocks: what is read of the block on the diagonal is a triangle.
const std::string solve_blocks =
    "loop b = 0 .. n step 4 { loop i = b + 4 .. n { loop k = b .. b + 4 { t: S[i, k] = S[i, k] * 0.5"
    " loop j = k + 1 .. b + 4 { s: S[i, j] = S[i, j] - S[i, k] * S[j, k] } } } }";
const std::string sums_of_rows =
    "loop o = 0 .. 2 { loop j = 0 .. n { loop k = j .. l { s: C[j, 0] = C[j, 0] + E[1, j, k] } } }";

const std::string blocks = "tile(loops=[i, j, k], sizes=[6, 8, 5])";
const std::string tiles = "register_tile(loops=[i, j], sizes=[3, 4], lanes=4)";

const std::string padded = "register_tile(loops=[i, j], sizes=[3, 4], lanes=4, partial=padded)";
const std::string upper =
    "loop i = 0 .. n { loop j = i .. n { loop k = 0 .. l { s: S[i, j] = S[i, j] + A[i, k] * A[j, k] } } }";
const std::string set = "loop i = 0 .. n { loop j = 0 .. m { loop k = 0 .. l { s: C[i, j] = A[i, k] - B[k, j] } } }";

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      // Without tiles: panels of one row, and columns.
      {product, "pack(loop=i, panel=j)"},
      {product, "interchange(outer=j, inner=k); pack(loop=i, panel=k)", "f64", 2},
      // Panels of a tile.
      {product, "tile(loops=[j], sizes=[4]); pack(loop=i, panel=j_t)"},
      {product, "tile(loops=[j], sizes=[4]); vectorize(loop=j, lanes=4); pack(loop=i, panel=j_t)"},
      // Register tiles, full and partial, at every depth of blocks.
      {product, blocks + "; " + tiles + "; pack(loop=k_t, panel=j_r)"},
      {product, blocks + "; " + tiles + "; pack(loop=k_t, panel=i_r)"},
      {product, blocks + "; " + tiles + "; pack(loop=j_t, panel=j_r); pack(loop=k_t, panel=i_r)", "f64", 2},
      {product, blocks + "; " + tiles + "; pack(loop=i_t, panel=j_r); pack(loop=i_t, panel=i_r)", "f64", 2},
      {product, blocks + "; " + tiles + "; pack(loop=i_t, panel=j_r); pack(loop=i_t, panel=i_r)", "f32", 2},
      {product, blocks + "; " + tiles + "; pack(loop=i_t, panel=j_r); pack(loop=i_t, panel=i_r)", "i32", 2},
      // Shared by threads, and each thread's own.
      {product,
       "tile(loops=[i, j, k], sizes=[6, 64, 5]); interchange(outer=j_t, inner=k_t); interchange(outer=i_t, inner=k_t); "
       "parallelize(loop=i_t); " +
           tiles + "; pack(loop=k_t, panel=j_r); pack(loop=i_t, panel=i_r)",
       "f64", 2},
      // Folded values.
      {scaled, blocks + "; " + tiles + "; pack(loop=k_t, panel=i_r, fold=yes); pack(loop=j_t, panel=j_r)", "f64", 2},
      {scaled, blocks + "; " + tiles + "; pack(loop=k_t, panel=i_r, fold=no)", "f32"},
      {converted, "tile(loops=[i, j], sizes=[4, 4]); pack(loop=i_t, panel=j_t, fold=yes)", "f64", 2},
      {twice, blocks + "; " + tiles + "; pack(loop=k_t, panel=i_r, fold=yes)"},
      {rows, "tile(loops=[k], sizes=[4]); pack(loop=i, panel=k_t, fold=yes)", "f64", 2},
      // Triangles, two operands in one array.
      {lower,
       "tile(loops=[i, j, k], sizes=[8, 64, 4]); interchange(outer=j_t, inner=k_t); " + tiles +
           "; pack(loop=k_t, panel=i_r); pack(loop=k_t, panel=j_r)",
       "f64", 2},
      {syr2k,
       "tile(loops=[i, j, k], sizes=[8, 64, 4]); interchange(outer=j_t, inner=k_t); " + tiles +
           "; pack(loop=k_t, panel=i_r); pack(loop=k_t, panel=j_r, fold=yes)",
       "f64", 4},
      // Padded tiles, without and with packed operands.
      {product, padded, "f64", 0},
      {product, "register_tile(loops=[i, j], sizes=[4, 3], lanes=4, vector=outer, partial=padded)", "f32", 0},
      {product, "tile(loops=[i, j, k], sizes=[6, 8, 5]); " + padded, "i32", 0},
      {product, "tile(loops=[i, j, k], sizes=[5, 7, 5]); " + padded, "f64", 0},
      {lower, padded, "f64", 0},
      {upper, padded, "f64", 0},
      {set, padded, "f64", 0},
      {product, blocks + "; " + padded + "; pack(loop=k_t, panel=j_r)"},
      {scaled, blocks + "; " + padded + "; pack(loop=i_t, panel=j_r); pack(loop=i_t, panel=i_r, fold=yes)", "f32", 2},
      {product,
       "tile(loops=[i, j, k], sizes=[6, 8, 5]); interchange(outer=j_t, inner=k_t); interchange(outer=i_t, inner=k_t); "
       "parallelize(loop=i_t); " +
           padded + "; pack(loop=k_t, panel=j_r); pack(loop=i_t, panel=i_r)",
       "i32", 2},
      {lower,
       "tile(loops=[i, j, k], sizes=[9, 64, 4]); interchange(outer=j_t, inner=k_t); " + padded +
           "; pack(loop=k_t, panel=i_r); pack(loop=k_t, panel=j_r)",
       "f64", 2},
      {syr2k,
       "tile(loops=[i, j, k], sizes=[9, 64, 4]); interchange(outer=j_t, inner=k_t); interchange(outer=i_t, "
       "inner=k_t); " +
           padded + "; pack(loop=k_t, panel=i_r); pack(loop=k_t, panel=j_r, fold=yes)",
       "f64", 4},
      {shifted, blocks + "; " + padded + "; pack(loop=k_t, panel=i_r); pack(loop=k_t, panel=j_r)", "f64", 2},
      // In place.
      {trailing, "pack(loop=t, panel=j)"},
      {trailing, "pack(loop=t, panel=i)"},
      {trailing, "tile(loops=[i], sizes=[5]); parallelize(loop=i_t); pack(loop=t, panel=j); pack(loop=i_t, panel=i)",
       "f64", 2},
      {trailing_blocks, tiles + "; pack(loop=b, panel=j_r)"},
      {trailing_blocks, tiles + "; pack(loop=b, panel=i_r); pack(loop=b, panel=j_r)", "f32", 2},
      {trailing_blocks, "tile(loops=[i], sizes=[6]); parallelize(loop=i_t); " + tiles + "; pack(loop=i_t, panel=j_r)"},
      // Triangles alone.
      {solve_blocks, "tile(loops=[i], sizes=[5]); pack(loop=i_t, panel=k)"},
      {solve_blocks,
       "tile(loops=[i], sizes=[5]); tile(loops=[i], sizes=[3]); interchange(outer=i, inner=k); distribute(loop=i); "
       "interchange(outer=i_d, inner=j); unroll(loop=i_d, factor=3); parallelize(loop=i_t); vectorize(loop=j, "
       "lanes=4); "
       "pack(loop=i_t, panel=k)"},
      {sums_of_rows, "pack(loop=o, panel=j)"},
      {sums_of_rows, "interchange(outer=j, inner=k); pack(loop=o, panel=k)"},
      // Squares that are transposed on the way.
      {lower,
       "tile(loops=[i, j, k], sizes=[16, 64, 16]); interchange(outer=j_t, inner=k_t); register_tile(loops=[i, j], "
       "sizes=[2, 8], lanes=8); pack(loop=k_t, panel=j_r)"},
      {lower,
       "tile(loops=[i, j, k], sizes=[16, 64, 16]); interchange(outer=j_t, inner=k_t); register_tile(loops=[i, j], "
       "sizes=[2, 8], lanes=8, partial=padded); pack(loop=k_t, panel=j_r)"},
      // Others.
      {batched,
       "tile(loops=[i, j, k], sizes=[6, 8, 5]); " + tiles + "; pack(loop=o, panel=i_r); pack(loop=o, panel=j_r)", "f64",
       2},
      {shifted, blocks + "; " + tiles + "; pack(loop=k_t, panel=i_r); pack(loop=k_t, panel=j_r)", "f64", 2},
  };
  return all;
}

// Every size from 0 to 20 in each place, with others that have nothing to do with it; nothing to sum up.
std::vector<Sizes> all_sizes() {
  std::vector<Sizes> sizes;
  for (std::int64_t n = 0; n <= 20; ++n) {
    sizes.push_back({{"n", n}, {"m", (7 * n + 3) % 21}, {"l", (5 * n + 2) % 11}});
    sizes.push_back({{"n", n}, {"m", n}, {"l", n % 4}});
  }
  return sizes;
}

std::vector<tests::Rewritten> rewritten() {
  std::vector<tests::Rewritten> result;
  for (const Case& c : cases()) result.push_back(tests::rewritten(nest(c.body, c.type), c.steps));
  return result;
}

TEST(Pack, InterpretedSameBits) {
  const auto nests = rewritten();
  for (std::size_t k = 0; k < nests.size(); ++k) {
    tests::expect_same_interpreted(nests[k], all_sizes());
    const auto is_buffer = [](const sdfg::Container& x) { return x.transient && x.storage == sdfg::Storage::heap; };
    EXPECT_EQ(std::ranges::count_if(nests[k].after.containers, is_buffer), cases()[k].buffers)
        << sdfg::print(nests[k].after);
  }
}

TEST(Pack, CompiledSameBitsBetweenGuardPages) {
  const auto functions = tests::expect_same_compiled(rewritten(), all_sizes(), "highway");
  for (std::size_t k = 0; k < functions.size(); ++k)
    EXPECT_FALSE(functions[k].contains("// Not as vectors")) << cases()[k].steps << "\n" << functions[k];
}

// Computed ahead, a product that a sum uses is rounded once more than a fused operation rounds it: only its factors
// are.
TEST(Pack, FoldsNoProductThatASumUses) {
  const auto packed = [](const std::string& value) {
    const auto graph = nest("loop i = 0 .. n { loop j = 0 .. m { loop k = 0 .. l { s: C[i, j] = " + value + " } } }");
    const auto after = applied(graph, "tile(loops=[k], sizes=[4]); pack(loop=i, panel=k_t, fold=yes)");
    EXPECT_TRUE(after) << value;
    return after ? sdfg::print(*after) : "";
  };
  EXPECT_TRUE(packed("C[i, j] + a[] * B[k, j]").contains("C[i, j] + a[] * "));
  EXPECT_TRUE(packed("C[i, j] - a[] * (B[k, j] * a[])").contains("C[i, j] - a[] * "));
  EXPECT_TRUE(packed("-(a[] * B[k, j]) + C[i, j]").contains("-(a[] * "));
  EXPECT_FALSE(packed("C[i, j] + uncontracted(a[] * B[k, j])").contains("C[i, j] + uncontracted("));
  EXPECT_FALSE(packed("C[i, j] * (a[] * B[k, j])").contains("C[i, j] * (a[] * "));
}

// --- What it must refuse --------------------------------------------------------------------------------------------

TEST(Pack, RefusesWhatIsWritten) {
  const std::string solve =
      "loop i = 0 .. n { loop j = 0 .. n { loop k = 0 .. n {"
      " s: S[i, j] = S[i, j] - S[i, k] * S[k, j] } } }";
  EXPECT_EQ(refusal(nest(solve), "pack(loop=i, panel=j)"), "pack.nothing");
  // One row too many is written, in some iteration, perhaps, or in a statement beside it.
  const std::string written[] = {
      "loop t = 0 .. n { loop i = t .. n { loop j = t + 1 .. n { s: S[i, j] = S[i, j] - S[t, j] } } }",
      "loop t = 0 .. n { loop i = 0 .. n { loop j = 0 .. n { s: S[i, j] = S[i, j] - S[t, j] } } }",
      "loop t = 0 .. n { loop i = t + 1 .. n { loop j = 0 .. n {"
      " if (x[j] > 0.0) { s: S[t, j] = 0.0 } u: S[i, j] = S[t, j] } } }",
      "loop t = 0 .. n { loop i = t + 1 .. n { loop j = 0 .. n { s: S[i, j] = S[t, j] } } u: S[t, 0] = 1.0 }",
      "loop t = 0 .. n { loop i = t + 1 .. n { loop j = 0 .. n { s: S[X[i, 0], j] = S[t, j] } } }",
  };
  for (const std::string& body : written)
    EXPECT_EQ(refusal(nest(body), "pack(loop=t, panel=j)"), "pack.nothing") << body;
  // Another container of the same alias class, unless the two are checked to be disjoint.
  const std::string head =
      "sdfg 1 t symbols n array A: f64[n, n] argument alias 1 array C: f64[n, n] argument alias 1 arguments n, A, C ";
  const std::string copy = "loop i = 0 .. n { loop j = 0 .. n { s: C[i, j] = A[j, i] } }";
  const auto overlapping = sdfg::parse(head + copy), apart = sdfg::parse(head + "disjoint A, C " + copy);
  ASSERT_TRUE(overlapping && apart);
  EXPECT_EQ(refusal(*overlapping, "pack(loop=i, panel=j)"), "pack.nothing");
  EXPECT_TRUE(applied(*apart, "pack(loop=i, panel=j)"));
}

TEST(Pack, RefusesWhatIsNotABoxOfPanels) {
  const std::string bodies[] = {
      // Two triangles of one array, every second element, a diagonal, elements that a condition may leave out.
      "loop o = 0 .. 2 { loop i = 0 .. n { loop j = i .. n { s: S[i, j] = A[i, 0] + E[o, j, 0] u: C[i, 0] = "
      "E[o, j, 1] } } }",
      "loop o = 0 .. 2 { loop j = 0 .. n floordiv 2 { s: C[o, 0] = x[2 * j] } }",
      "loop o = 0 .. 2 { loop j = 0 .. n { loop k = 0 .. 2 { s: C[o, 0] = E[k, j, j] } } }",
      "loop o = 0 .. 2 { loop j = 0 .. n { if ({j}i64 != {3}i64) { s: C[o, 0] = x[j] } } }",
      "loop o = 0 .. 2 { loop j = 0 .. n { if ({j}i64 < {m}i64) { s: C[o, 0] = x[j] } } }",
  };
  for (const std::string& body : bodies) {
    const std::string code = refusal(nest(body), "pack(loop=o, panel=j)");
    EXPECT_TRUE(code == "pack.footprint" || code == "pack.nothing") << body << "\n" << code;
  }
}

// What lies past a tile may be what another thread writes.
TEST(Pack, PaddingRefusesWhatAnotherThreadWrites) {
  const std::string reads =
      "loop o = 0 .. 2 { loop i = 0 .. n { loop j = 0 .. o + 3 { loop k = 0 .. l {"
      " s: E[o, i, j] = E[o, i, j] + S[j, k] } } }";
  const std::string writes = " loop q = 3 .. o + 3 { u: S[q, 0] = 1.0 } }";
  EXPECT_TRUE(applied(nest(reads + " }"), "parallelize(loop=o); " + padded));
  EXPECT_TRUE(applied(nest(reads + writes), padded));
  EXPECT_TRUE(applied(nest(reads + writes), "parallelize(loop=o)"));
  EXPECT_EQ(refusal(nest(reads + writes), "parallelize(loop=o); " + padded), "register-tile.padding");
  EXPECT_FALSE(applied(nest(reads + writes), padded + "; parallelize(loop=o)"));
  // What the same iteration of the parallel loop wrote before is its own.
  const std::string own =
      "loop o = 0 .. 2 { loop p = 0 .. n { loop q = 0 .. l { w: E[o, p, q] = A[p, q] } }"
      " loop i = 0 .. n { loop j = 0 .. m { loop k = 0 .. l { s: D[o, i, j] = D[o, i, j] + E[o, i, k] * B[k, j] } } } "
      "}";
  const sdfg::Sdfg with_result = nest(own, "f64", "array D: f64[2, n, m] argument ");
  EXPECT_TRUE(applied(with_result, "parallelize(loop=o); " + padded));
  EXPECT_TRUE(applied(with_result, padded + "; prefetch(loop=k, distance=16)"));
}

// A temporary may have no value yet where a padded tile would read it.
TEST(Pack, PaddingRefusesTemporariesThatAreWritten) {
  const std::string rows =
      "loop o = 0 .. n { loop q = 0 .. n { w: U[o, q] = S[o, q] }"
      " loop i = 0 .. l { loop j = 0 .. o + 1 { loop k = 0 .. n { s: E[0, j, i] = E[0, j, i] + U[j, k] } } } }";
  const sdfg::Sdfg with_temporary = nest(rows, "f64", "array U: f64[n, n] heap transient ");
  EXPECT_EQ(refusal(with_temporary, padded), "register-tile.padding");
  EXPECT_TRUE(applied(with_temporary, tiles));
  // Set ahead of all loops around the tile, it has all the values that it ever gets; set again behind them, it has not.
  const std::string set = "loop p = 0 .. n { loop q = 0 .. n { w: U[p, q] = S[p, q] } }";
  const std::string product =
      " loop i = 0 .. n { loop j = 0 .. n { loop k = 0 .. n { s: C[i, j] = C[i, j] + U[i, k] * "
      "A[k, 0] } } }";
  const std::string again = " loop a = 0 .. n { v: U[a, 0] = 1.0 }";
  EXPECT_TRUE(applied(nest(set + product, "f64", "array U: f64[n, n] heap transient "), padded));
  EXPECT_EQ(refusal(nest(set + product + again, "f64", "array U: f64[n, n] heap transient "), padded),
            "register-tile.padding");
}

// An operand that is no box stays where it is, and does not keep others from being packed.
TEST(Pack, LeavesOutWhatIsNoBox) {
  const std::string second =
      "loop o = 0 .. 2 { loop j = 0 .. n { loop k = j .. n step 2 { s: C[j, 0] = C[j, 0] + S[j, k] * x[j] } } }";
  const auto packed = applied(nest(second), "pack(loop=o, panel=j)");
  ASSERT_TRUE(packed) << packed.error().to_string();
  EXPECT_NE(packed->find("x_pack"), nullptr);
  EXPECT_EQ(packed->find("S_pack"), nullptr);
  // The first row of each panel alone is no panel.
  const std::string first =
      "loop o = 0 .. 2 { loop b = 0 .. n step 4 { loop i = b .. min(b + 4, n) { s: C[i, 0] = C[i, 0] + S[b, i] } } }";
  EXPECT_EQ(refusal(nest(first), "pack(loop=o, panel=b)"), "pack.footprint");
}

TEST(Pack, PaddingRefusesWhatMayFailOrIsNotRead) {
  const std::string bodies[] = {
      "loop i = 0 .. n { loop j = 0 .. m { loop k = 0 .. l { s: X[i, j] = X[i, j] / 3i32 } } }",
      // Only every second row is read.
      "loop i = 0 .. n floordiv 2 { loop j = 0 .. m { loop k = 0 .. l { s: C[i, j] = C[i, j] + A[2 * i, k] } } }",
  };
  for (const std::string& body : bodies) EXPECT_EQ(refusal(nest(body), padded), "register-tile.padding") << body;
}

TEST(Pack, RefusesLoopsThatDoNotFit) {
  const sdfg::Sdfg before = nest(product);
  EXPECT_EQ(refusal(before, "pack(loop=i, panel=q)"), "pack.no-loop");
  EXPECT_EQ(refusal(before, "pack(loop=j, panel=i)"), "pack.not-inside");
  EXPECT_EQ(refusal(before, "pack(loop=i, panel=i)"), "pack.not-inside");
  EXPECT_EQ(refusal(before, "vectorize(loop=j, lanes=4); pack(loop=i, panel=j)"), "pack.scheduled");
  EXPECT_EQ(refusal(before, "unroll(loop=i, factor=4); pack(loop=i, panel=j)"), "pack.scheduled");
  const sdfg::Sdfg down =
      nest("loop o = n .. 0 step -1 { loop i = 0 .. 2 { loop j = 0 .. o { s: C[0, 0] = C[0, 0] + x[j] } } }");
  EXPECT_EQ(refusal(down, "pack(loop=i, panel=j)"), "pack.size");
}

}  // namespace
}  // namespace sous::transforms
