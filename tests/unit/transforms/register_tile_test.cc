// register_tile against the interpreter, interpreted and as Highway vectors, bit for bit: the nests that it is for, in
// all sizes around its tiles; and what it must refuse, because the tile in registers would be another one than the
// container's.
#include <gtest/gtest.h>

#include "sdfg/text.h"
#include "tests/support/rewritten.h"

namespace sous::transforms {
namespace {

using tests::applied;
using tests::refusal;
using tests::Sizes;

// `type` stands for T in `body`.
sdfg::Sdfg nest(const std::string& body, const std::string& type = "f64") {
  std::string text =
      "sdfg 1 t symbols n, m, l array A: T[n, l] argument array B: T[l, m] argument array C: T[n, m] argument "
      "array D: T[n, m] argument array S: T[n, n] argument array X: i32[n, m] argument array z: i64 argument "
      "array U: T[n, m] heap transient arguments n, m, l, A, B, C, D, S, X, z " +
      body;
  for (std::size_t at = 0; (at = text.find(": T", at)) != std::string::npos;) text.replace(at + 2, 1, type);
  auto parsed = sdfg::parse(text);
  if (!parsed) ADD_FAILURE() << parsed.error().to_string();
  return parsed.value_or(sdfg::Sdfg{});
}

struct Case {
  std::string body, steps, type = "f64";
};

// --- What it is for -------------------------------------------------------------------------------------------------

const std::string product =
    "loop i = 0 .. n { loop j = 0 .. m { loop k = 0 .. l { s: C[i, j] = C[i, j] + A[i, k] * B[k, j] } } }";
const std::string transposed =
    "loop i = 0 .. m { loop j = 0 .. n { loop k = 0 .. l { s: C[j, i] = C[j, i] - B[k, i] * A[j, k] } } }";
const std::string lower =
    "loop i = 0 .. n { loop j = 0 .. i + 1 { loop k = 0 .. l { s: S[i, j] = S[i, j] + A[i, k] * A[j, k] } } }";
const std::string upper =
    "loop i = 0 .. n { loop j = i .. n { loop k = 0 .. l { s: S[j, i] = S[j, i] + A[i, k] * A[j, k] } } }";
const std::string slanted =
    "loop i = 0 .. n { loop j = n - 1 - i .. n { loop k = 0 .. l { s: S[i, j] = S[i, j] + A[i, k] * A[j, k] } } }";
const std::string band =
    "loop i = 0 .. n { loop j = max(i - 2, 0) .. min(i + 6, n) { loop k = 0 .. l { s: S[i, j] = S[i, j] * A[j, k] } } "
    "}";
const std::string syr2k =
    "loop i = 0 .. n { loop j = 0 .. i + 1 { loop k = 0 .. l {"
    " s: S[i, j] = S[i, j] + A[i, k] * A[j, k] t: S[i, j] = S[i, j] + A[j, k] * A[i, k] } } }";
const std::string results =
    "loop i = 0 .. n { loop j = 0 .. m { loop k = 0 .. l {"
    " s: C[i, j] = C[i, j] + A[i, k] * B[k, j] t: D[i, j] = D[i, j] * B[k, j] - C[i, j] } } }";
const std::string within =
    "loop i = 2 .. n - 1 { loop j = 1 .. m - 2 { loop k = 3 .. l - 1 { s: C[i, j] = C[i, j] - A[i, k] * B[k, j] } } }";
// The result is read elsewhere, too, but never in the tile: to the left of it and above it.
const std::string update =
    "loop o = 1 .. 9 { loop i = o .. n { loop j = o .. n { loop k = 0 .. min(o, n) {"
    " s: S[i, j] = S[i, j] - S[i, k] * S[k, j] } } } }";
const std::string shifted =
    "loop i = 1 .. n { loop j = 0 .. m - 1 { loop k = 0 .. l { s: C[i - 1, m - 1 - j] = C[i - 1, m - 1 - j] - A[i, k] "
    "} } }";
const std::string sparse =
    "loop i = 0 .. n floordiv 2 { loop j = 0 .. m floordiv 3 { loop k = 0 .. l {"
    " s: C[2 * i + 1, 3 * j] = C[2 * i + 1, 3 * j] + A[i, k] } } }";
const std::string last = "loop i = 0 .. n { loop j = 0 .. m { loop k = 0 .. l { s: C[i, j] = A[i, k] } } }";
// Nothing is read of U before it is written: the tile is loaded from what nobody has set.
const std::string fresh =
    "loop i = 0 .. n { loop j = 0 .. m { loop k = 0 .. l { s: U[i, j] = A[i, k] * B[k, j] t: C[i, j] = U[i, j] } } }";
const std::string index =
    "loop i = 0 .. n { loop j = 0 .. m { loop k = 0 .. l { s: X[i, j] = X[i, j] * 3i32 + i32({i * 7 + j * k}i64) } } }";
const std::string mixed =
    "loop i = 0 .. n { loop j = 0 .. m { loop k = 0 .. l {"
    " s: C[i, j] = C[i, j] + f64(X[i, j]) t: X[i, j] = X[i, j] + i32({k}i64) } } }";
const std::string outside =
    "loop o = 0 .. 2 { loop i = 0 .. n { loop j = 0 .. m { loop k = 0 .. l { s: C[i, j] = C[i, j] + A[i, k] * B[k, j] "
    "} } } }";
const std::string beside = "loop p = 0 .. n { loop q = 0 .. m { r: C[p, q] = C[p, q] * D[p, q] } }" + product +
                           "loop e = 0 .. n { loop f = 0 .. m { g: D[e, f] = C[e, f] } }";

const std::string row =
    "loop o = 0 .. n { loop j = o .. n { loop k = 0 .. l { s: S[o, j] = S[o, j] + A[o, k] * A[j, k] } } "
    "loop q = 0 .. n { t: S[o, q] = S[o, q] * 0.5 } }";

// Several sums inside each other: all of them while the tile stays in registers, and none if one is empty.
const std::string window =
    "loop i = 0 .. n { loop j = 0 .. m { loop k = 0 .. l { loop o = 1 .. n - 2 {"
    " s: C[i, j] = C[i, j] + A[i, k] * B[k, j] * A[o, k] } } } }";
const std::string last_of_several =
    "loop i = 0 .. n { loop j = 0 .. m { loop k = 0 .. l { loop o = 0 .. 3 { loop p = 0 .. m - 4 {"
    " s: C[i, j] = A[i, k] * B[k, p] + f64({o + j}i64) } } } } }";

const std::string tile_3_4 = "register_tile(loops=[i, j], sizes=[3, 4], lanes=2)";

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {product, tile_3_4},
      {product, "register_tile(loops=[i, j], sizes=[1, 8], lanes=8)"},
      {product, "register_tile(loops=[i, j], sizes=[6, 16], lanes=8)"},
      {product, "register_tile(loops=[i, j], sizes=[2, 3], lanes=1)"},
      {product, "register_tile(loops=[i, j], sizes=[4, 6], lanes=2, vector=inner)", "f32"},
      {product, "register_tile(loops=[i, j], sizes=[3, 8], lanes=4)", "i32"},
      {product, "register_tile(loops=[i, j], sizes=[2, 16], lanes=16)", "i8"},
      {product, "register_tile(loops=[i, j], sizes=[4, 3], lanes=2, vector=outer)"},
      {product, "register_tile(loops=[i, j], sizes=[8, 5], lanes=8, vector=outer)", "f32"},
      {product, "register_tile(loops=[i, j], sizes=[4, 1], lanes=4, vector=outer)", "i32"},
      {product, "interchange(outer=i, inner=j); register_tile(loops=[j, i], sizes=[4, 3], lanes=4, vector=outer)"},
      {product, "interchange(outer=i, inner=j); register_tile(loops=[j, i], sizes=[2, 4], lanes=4)"},
      {product, "tile(loops=[i, j, k], sizes=[8, 8, 4]); register_tile(loops=[i, j], sizes=[2, 4], lanes=4)"},
      {product,
       "tile(loops=[i, j, k], sizes=[5, 7, 3]); register_tile(loops=[i, j], sizes=[4, 2], lanes=4, vector=outer)"},
      {product,
       "tile(loops=[i], sizes=[6]); parallelize(loop=i_t); register_tile(loops=[i, j], sizes=[4, 4], lanes=4)"},
      {product, tile_3_4 + "; parallelize(loop=i_r)"},
      {product, tile_3_4 + "; parallelize(loop=j_r)"},
      {transposed, tile_3_4},
      {transposed, "register_tile(loops=[i, j], sizes=[8, 3], lanes=4, vector=outer)"},
      {transposed, "register_tile(loops=[i, j], sizes=[2, 4], lanes=2)", "i32"},
      {lower, "register_tile(loops=[i, j], sizes=[2, 2], lanes=2)"},
      {lower, "register_tile(loops=[i, j], sizes=[5, 4], lanes=4)", "f32"},
      {lower, "tile(loops=[i, j, k], sizes=[7, 9, 5]); register_tile(loops=[i, j], sizes=[3, 4], lanes=4)"},
      {lower, tile_3_4 + "; parallelize(loop=i_r)"},
      {upper, tile_3_4},
      {upper, "tile(loops=[i, j], sizes=[6, 10]); register_tile(loops=[i, j], sizes=[4, 4], lanes=2)"},
      {slanted, tile_3_4},
      {band, "register_tile(loops=[i, j], sizes=[2, 4], lanes=2)"},
      {syr2k, "register_tile(loops=[i, j], sizes=[4, 4], lanes=4)"},
      {results, tile_3_4},
      {results, "register_tile(loops=[i, j], sizes=[4, 2], lanes=4, vector=outer)", "f32"},
      {within, "register_tile(loops=[i, j], sizes=[3, 8], lanes=8)"},
      {within, "register_tile(loops=[i, j], sizes=[8, 3], lanes=8, vector=outer)"},
      {update, tile_3_4},
      {update, "register_tile(loops=[i, j], sizes=[4, 3], lanes=4, vector=outer)", "f32"},
      {shifted, tile_3_4},
      {sparse, tile_3_4},
      {last, tile_3_4},
      {fresh, tile_3_4},
      {index, "register_tile(loops=[i, j], sizes=[3, 8], lanes=8)"},
      {mixed, tile_3_4},
      {outside, tile_3_4},
      {beside, tile_3_4},
      // A row alone.
      {product, "register_tile(loops=[j], sizes=[8], lanes=4)"},
      {lower, "register_tile(loops=[j], sizes=[4], lanes=2)", "f32"},
      {row, "register_tile(loops=[j], sizes=[8], lanes=8)"},
      {row, "tile(loops=[j], sizes=[8]); register_tile(loops=[j], sizes=[8], lanes=4)"},
      {product, "register_tile(loops=[j], sizes=[4], lanes=4, partial=padded)"},
      {window, tile_3_4},
      {window, "register_tile(loops=[i, j], sizes=[4, 3], lanes=4, vector=outer)", "f32"},
      {window, "register_tile(loops=[j], sizes=[8], lanes=4)"},
      {window, tile_3_4 + "; parallelize(loop=i_r)"},
      {last_of_several, tile_3_4},
      {last_of_several, "register_tile(loops=[j], sizes=[8], lanes=8)"},
  };
  return all;
}

// Every size from 0 to 20 in each place, with others that have nothing to do with it; squares; nothing to sum up.
std::vector<Sizes> all_sizes() {
  std::vector<Sizes> sizes;
  for (std::int64_t n = 0; n <= 20; ++n) {
    sizes.push_back({{"n", n}, {"m", (7 * n + 3) % 21}, {"l", (5 * n + 2) % 11}});
    sizes.push_back({{"n", n}, {"m", n}, {"l", n % 4}});
  }
  sizes.push_back({{"n", 12}, {"m", 12}, {"l", 20}});
  return sizes;
}

std::vector<tests::Rewritten> rewritten() {
  std::vector<tests::Rewritten> result;
  for (const Case& c : cases()) result.push_back(tests::rewritten(nest(c.body, c.type), c.steps));
  return result;
}

TEST(RegisterTile, InterpretedSameBits) {
  for (const tests::Rewritten& n : rewritten()) tests::expect_same_interpreted(n, all_sizes());
}

TEST(RegisterTile, VectorsSameBitsBetweenGuardPages) {
  const auto functions = tests::expect_same_compiled(rewritten(), all_sizes(), "highway");
  for (std::size_t k = 0; k < functions.size(); ++k)
    EXPECT_EQ(functions[k].contains("// Not as vectors"), cases()[k].steps.contains("lanes=1)"))
        << cases()[k].steps << "\n"
        << functions[k];
}

// --- What it must refuse --------------------------------------------------------------------------------------------

// The body of the product's three loops.
std::string in_loops(const std::string& statements, const std::string& bounds = "0 .. l") {
  return "loop i = 0 .. n { loop j = 0 .. n { loop k = " + bounds + " { " + statements + " } } }";
}

TEST(RegisterTile, RefusesWhatDoesNotStayInOnePlace) {
  const std::string bodies[] = {
      in_loops("s: S[i, j] = S[i, j] + S[k, j] * A[i, k]", "0 .. n"),
      in_loops("s: S[i, j] = S[i, j] + S[j, i]"),
      in_loops("s: S[i, j] = S[i, j] + S[i, 0] * A[i, k]"),
      in_loops("s: S[i, k] = S[i, k] + A[i, j]", "0 .. n"),
      in_loops("s: C[0, k] = A[i, k]", "0 .. m"),
      in_loops("s: S[i, i] = S[i, i] + A[j, k]"),
      in_loops("s: S[i, 0] = S[i, 0] + A[j, k]"),
      in_loops("s: z[] = z[] + 1i64"),
      in_loops("s: S[i floordiv 2, j] = S[i floordiv 2, j] + A[i, 0]", "0 .. 1"),
      in_loops("s: S[i, j mod 3] = S[i, j mod 3] + A[i, 0]", "0 .. 1"),
      in_loops("s: S[min(i, 3), j] = S[min(i, 3), j] + A[i, 0]", "0 .. 1"),
      in_loops("s: S[i + j - i, i + j - j] = S[i, j] + A[i, k]"),
      in_loops("s: S[i, j] = A[i, k] t: S[j, i] = A[j, k]"),
      in_loops("s: X[i, j] = X[i, j] + 1i32 t: D[i, j] = A[X[i, j] mod n, k]"),
      in_loops("s: X[X[i, j] mod n, j] = 1i32"),
  };
  for (const std::string& body : bodies)
    for (const char* vector : {"inner", "outer"}) {
      const std::string code =
          refusal(nest(body), "register_tile(loops=[i, j], sizes=[2, 2], lanes=2, vector=" + std::string(vector) + ")");
      EXPECT_TRUE(code == "register-tile.not-invariant" || code == "register-tile.illegal") << body << "\n" << code;
    }
}

TEST(RegisterTile, RefusesSharedAliasClassesAndPrivates) {
  const std::string head =
      "sdfg 1 t symbols n array A: f64[n, n] argument alias 1 array C: f64[n, n] argument alias 1 ";
  const auto aliased = sdfg::parse(head + "arguments n, A, C " + in_loops("s: C[i, j] = C[i, j] + A[i, k]", "0 .. n"));
  ASSERT_TRUE(aliased) << aliased.error().to_string();
  EXPECT_EQ(refusal(*aliased, tile_3_4).substr(0, 14), "register-tile.");
  for (const char* at : {"i", "j", "k"}) {
    std::string loops = in_loops("s: t[] = A[i, k] u: C[i, j] = C[i, j] + t[]", "0 .. n");
    loops.replace(loops.find(std::string("loop ") + at) + 16, 0, "private(t) ");
    const auto temporary = sdfg::parse(
        "sdfg 1 t symbols n array A: f64[n, n] argument array C: f64[n, n] argument "
        "array t: f64 stack transient arguments n, A, C " +
        loops);
    ASSERT_TRUE(temporary) << temporary.error().to_string() << loops;
    EXPECT_TRUE(refusal(*temporary, tile_3_4).starts_with("register-tile.")) << loops;
  }
}

// What is private to one of the loops has no place outside of it for the tile to come from.
TEST(RegisterTile, RefusesTilesOfWhatIsPrivate) {
  for (const char* at : {"i", "j", "k"}) {
    std::string loops = in_loops("s: U[i, j] = A[i, k] t: C[i, j] = C[i, j] + U[i, j]", "0 .. n");
    loops.replace(loops.find(std::string("loop ") + at) + 16, 0, "private(U) ");
    const auto graph = sdfg::parse(
        "sdfg 1 t symbols n array A: f64[n, n] argument array C: f64[n, n] argument "
        "array U: f64[n, n] stack transient arguments n, A, C " +
        loops);
    ASSERT_TRUE(graph) << graph.error().to_string() << loops;
    EXPECT_EQ(refusal(*graph, tile_3_4), "register-tile.not-invariant") << loops;
  }
}

TEST(RegisterTile, RefusesBoundsAndBodiesThatDoNotFit) {
  const std::pair<std::string, std::string> refused[] = {
      {"loop i = 0 .. n { loop j = 0 .. n { loop k = 0 .. i { s: S[i, j] = S[i, j] + A[i, 0] } } }", "bounds"},
      {"loop i = 0 .. n { loop j = 0 .. i mod 3 { loop k = 0 .. l { s: S[i, j] = S[i, j] + A[i, k] } } }", "bounds"},
      {"loop i = 0 .. n { loop j = 0 .. X[i, 0] { loop k = 0 .. l { s: S[i, j] = S[i, j] + A[i, k] } } }", "no-loop"},
      {"loop i = 0 .. n { loop j = 0 .. n { loop k = 0 .. l { if ({k}i64 < {j}i64) { s: S[i, j] = A[i, k] } } } }",
       "body"},
      {"loop i = 0 .. n { loop j = 0 .. n { loop k = 0 .. l { if (A[i, k] > 0.0) { s: S[i, j] = A[i, k] } } } }",
       "body"},
      {"loop i = 0 .. n { loop j = 0 .. n { loop k = 0 .. l { loop o = 0 .. 2 { s: S[i, j] = A[i, k] } r: S[i, j] = "
       "0.0 "
       "} } }",
       "body"},
      {"loop i = 0 .. n { loop j = 0 .. n { loop k = 0 .. l { loop o = 0 .. k { s: S[i, j] = A[i, o] } } } }",
       "bounds"},
      {"loop i = 0 .. n { loop j = 0 .. n { loop k = 0 .. l { loop o = 0 .. j { s: S[i, j] = A[i, o] } } } }",
       "bounds"},
      {"loop i = 0 .. n { loop j = 0 .. n { loop k = l - 1 .. -1 step -1 { s: S[i, j] = S[i, j] + A[i, k] } } }",
       "step"},
      {"loop i = 0 .. n { loop j = 0 .. n { r: S[i, j] = 0.0 loop k = 0 .. l { s: S[i, j] = A[i, k] } } }",
       "not-nested"},
  };
  for (const auto& [body, code] : refused) EXPECT_EQ(refusal(nest(body), tile_3_4), "register-tile." + code) << body;
  EXPECT_EQ(refusal(nest(lower), "register_tile(loops=[i, j], sizes=[2, 2], lanes=2, vector=outer)"),
            "register-tile.bounds");
  const std::string two_sums =
      "loop i = 0 .. n { loop j = 0 .. m { loop k = 0 .. l { loop o = 0 .. n { s: C[i, j] = C[i, j] + A[i, k] * A[o, "
      "k] "
      "} } } }";
  EXPECT_EQ(refusal(nest(two_sums), "register_tile(loops=[i, j], sizes=[2, 2], lanes=2, partial=padded)"),
            "register-tile.body");
}

// The third loop's end lies in what the tile holds.
TEST(RegisterTile, RefusesBoundsThatTheBodyWrites) {
  const std::string body =
      "loop i = 0 .. n { loop j = 0 .. m { loop k = 0 .. X[0, 0] { s: X[i, j] = X[i, j] + 1i32 } } }";
  EXPECT_TRUE(refusal(nest(body), tile_3_4).starts_with("register-tile."));
}

}  // namespace
}  // namespace sous::transforms
