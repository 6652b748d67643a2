// promote against the interpreter, interpreted and compiled for every target, bit for bit and between guard pages: the
// nests that it is for, in all sizes around its tiles; and what it must leave alone.
#include <gtest/gtest.h>

#include "sdfg/text.h"
#include "tests/support/rewritten.h"

namespace sous::transforms {
namespace {

using tests::applied;
using tests::nodes;
using tests::refusal;
using tests::Sizes;

sdfg::Sdfg nest(const std::string& body, const std::string& more = "") {
  const std::string text =
      "sdfg 1 t symbols n, m, l array A: f64[n, l] argument array B: f64[l, m] argument array C: f64[n, m] argument "
      "array S: f64[n, n] argument array R: f64[n, n] argument array x: f64[n] argument array y: f64[n] argument "
      "array k: i64[n] argument array T: f64[n, n] heap transient array u: f64[n] heap transient " +
      more + " arguments n, m, l, A, B, C, S, R, x, y, k " + body;
  auto parsed = sdfg::parse(text);
  if (!parsed) ADD_FAILURE() << parsed.error().to_string() << "\n" << text;
  return parsed.value_or(sdfg::Sdfg{});
}

struct Case {
  std::string body, steps;
  // Names and shapes of the local copies.
  std::map<std::string, std::vector<sdfg::Expr>> locals;
};

const std::string product =
    "loop i = 0 .. n { loop j = 0 .. m { loop q = 0 .. l { s: C[i, j] = C[i, j] + A[i, q] * B[q, j] } } }";
const std::string blocks = "tile(loops=[i, j, q], sizes=[3, 4, 5])";
const std::string lower =
    "loop i = 0 .. n { loop j = 0 .. i + 1 { loop q = 0 .. l { s: S[i, j] = S[i, j] + A[i, q] * A[j, q] } } }";
const std::string stencil =
    "loop i = 1 .. n - 1 { loop j = 1 .. n - 1 {"
    " s: S[i, j] = R[i - 1, j] + R[i + 1, j] + R[i, j - 1] + R[i, j + 1] + R[i, j] } }";
const std::string in_place =
    "loop t = 0 .. 3 { loop i = 1 .. n - 1 { loop j = 1 .. n - 1 {"
    " s: S[i, j] = S[i - 1, j] + S[i + 1, j] + S[i, j - 1] + S[i, j + 1] + S[i, j] } } }";
const std::string solve =
    "loop i = 0 .. n { loop j = 0 .. i { s: x[i] = x[i] - S[i, j] * x[j] } w: x[i] = x[i] / S[i, i] }";
const std::string factors =
    "loop i = 0 .. n { loop j = 0 .. i { loop p = 0 .. j { s: S[i, j] = S[i, j] - S[i, p] * S[p, j] }"
    " t: S[i, j] = S[i, j] / S[j, j] } loop j2 = i .. n { loop p2 = 0 .. i {"
    " u: S[i, j2] = S[i, j2] - S[i, p2] * S[p2, j2] } } }";
const std::string fused =
    "loop i = 0 .. n { loop j = 0 .. n { s: T[i, j] = R[i, j] * 2.0 }"
    " loop p = 0 .. n { w: S[i, p] = T[i, p] + T[i, p] * x[p] } }";
const std::string at_tiles = "tile(loops=[j], sizes=[4]); tile(loops=[p], sizes=[4]); fuse(first=j_t, second=p_t)";

const std::string sums =
    "loop i = 0 .. n { loop j = 0 .. n { z: T[i, j] = 0.0 } }"
    " loop p = 0 .. n - 1 { loop q = 0 .. p + 1 { loop r = 0 .. n {"
    " s: T[p + 1, r] = T[p + 1, r] + R[p + 1, q] * R[q, r] } } }"
    " loop i2 = 0 .. n { loop j2 = 0 .. n { w: S[i2, j2] = S[i2, j2] * 0.5 + T[i2, j2] } }";
const std::string chain =
    "loop i = 0 .. n { loop j = 0 .. n { z: T[i, j] = 0.0 } }"
    " loop i2 = 0 .. n { loop j2 = 0 .. n { y: S[i2, j2] = S[i2, j2] * 0.5 } }"
    " loop p = 0 .. n { loop q = 0 .. l { loop r = 0 .. n { s: T[p, r] = T[p, r] + A[p, q] * A[r, q] } } }"
    " loop p2 = 0 .. n { loop q2 = 0 .. n { loop r2 = 0 .. n { w: S[p2, r2] = S[p2, r2] + T[p2, q2] * R[q2, r2] } } }";
const std::string by_rows =
    "interchange(outer=q, inner=r); fuse(first=i, second=p, shift=1); fuse(first=i, second=i2);"
    " fuse(first=j, second=r); fuse(first=j, second=j2); tile(loops=[i, j], sizes=[4, 8]); distribute(loop=j);"
    " distribute(loop=i)";

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      // Scalars.
      {product, "promote(loop=j, most=1)", {{"C_l", {}}}},
      {product, "interchange(outer=j, inner=q); promote(loop=q, most=1)", {{"A_l", {}}}},
      // Parts that nothing else in the body touches.
      {solve, "promote(loop=i, most=1)", {{"x_l", {}}}},
      {factors, "promote(loop=j, most=1)", {{"S_l", {}}}},
      {"loop i = 1 .. n { loop j = 0 .. 3 { s: x[i] = x[i] + x[i - 1] w: x[0] = x[0] * 0.5 + y[j] } }",
       "promote(loop=i, most=3)",
       {{"x_l", {}}}},
      {"loop i = 0 .. n { loop j = 0 .. k[i] mod 3 { s: x[i] = x[i] + y[i] } w: x[i] = x[i] * y[i] }",
       "promote(loop=i, most=1)",
       {{"x_l", {}}, {"y_l", {}}}},
      {"loop i = 0 .. n { s: x[i] = y[i] * 2.0 if (y[i] > 0.0) { w: x[i] = x[i] + 1.0 } }",
       "promote(loop=i, most=1)",
       {{"x_l", {}}, {"y_l", {}}}},
      {"loop i = n - 1 .. -1 step -1 { loop j = 0 .. i { s: x[i] = x[i] + S[i, j] } }",
       "promote(loop=i, most=1)",
       {{"x_l", {}}}},
      {"loop i = 0 .. n { loop j = 0 .. m { s: x[i] += C[i, j] } }", "promote(loop=i, most=1)", {{"x_l", {}}}},
      // Tiles, whole and partial.
      {product, blocks + "; promote(loop=j_t, most=12)", {{"C_l", {3, 4}}}},
      {product, blocks + "; promote(loop=q_t, most=20)", {{"A_l", {3, 5}}, {"B_l", {5, 4}}, {"C_l", {3, 4}}}},
      {product,
       "tile(loops=[i, j, q], sizes=[3, 4, 5]); parallelize(loop=i_t); promote(loop=j_t, most=12)",
       {{"C_l", {3, 4}}}},
      {product, blocks + "; promote(loop=j_t, most=12); vectorize(loop=j)", {{"C_l", {3, 4}}}},
      {product, blocks + "; promote(loop=j_t, most=12); vectorize(loop=C_l1); vectorize(loop=C_w1)", {{"C_l", {3, 4}}}},
      {product, "tile(loops=[i], sizes=[4]); promote(loop=j, most=1)", {{"C_l", {}}}},
      // What later steps make of it.
      {product, "promote(loop=j, most=1); vectorize(loop=j)", {{"C_l", {}}}},
      {product, "promote(loop=j, most=1); tile(loops=[j], sizes=[4]); parallelize(loop=i)", {{"C_l", {}}}},
      {product, blocks + "; promote(loop=j_t, most=12); parallelize(loop=i)", {{"C_l", {3, 4}}}},
      {product, blocks + "; promote(loop=q_t, most=20); promote(loop=j, most=1)", {{"C_l", {3, 4}}, {"C_l_l", {}}}},
      {product, "tile(loops=[i, j, q], sizes=[60, 60, 5]); promote(loop=j_t, most=4096)", {{"C_l", {60, 60}}}},
      // Halos, corners left out; read in one place, written in another.
      {stencil, "tile(loops=[i, j], sizes=[3, 4]); promote(loop=j_t, most=30)", {{"R_l", {5, 6}}}},
      {stencil,
       "tile(loops=[i, j], sizes=[3, 4]); parallelize(loop=i_t); promote(loop=j_t, most=64); vectorize(loop=j)",
       {{"R_l", {5, 6}}}},
      {in_place, "skew(loop=i, by=t); skew(loop=j, by=t); tile(loops=[j], sizes=[4]); promote(loop=j_t, most=30)", {}},
      {in_place,
       "skew(loop=i, by=t); skew(loop=j, by=t); skew(loop=j, by=i); tile(loops=[i, j], sizes=[3, 4]); "
       "promote(loop=j_t, most=64)",
       {{"S_l", {5, 8}}}},
      {in_place, "tile(loops=[i, j], sizes=[3, 4]); promote(loop=j_t, most=30)", {{"S_l", {5, 6}}}},
      // Triangles.
      {lower, "promote(loop=j, most=1)", {{"S_l", {}}}},
      {lower, "tile(loops=[i, j, q], sizes=[4, 3, 5]); promote(loop=j_t, most=12)", {{"S_l", {4, 3}}}},
      {lower,
       "tile(loops=[i, j, q], sizes=[4, 3, 5]); promote(loop=q_t, most=20)",
       {{"A_l", {4, 5}}, {"A_l_2", {3, 5}}, {"S_l", {4, 3}}}},
      {"loop b = 0 .. n step 4 { loop i = b .. min(n, b + 4) { loop j = b .. i + 1 { loop q = 0 .. 2 {"
       " s: S[i, j] = S[i, j] * 0.5 + x[j] } } } }",
       "promote(loop=b, most=16)",
       {{"S_l", {4, 4}}, {"x_l", {4}}}},
      // Contraction.
      {fused, "fuse(first=j, second=p); promote(loop=j, most=1)", {{"T_l", {}}}},
      {fused, at_tiles + "; promote(loop=j_t, most=4)", {{"T_l", {4}}}},
      {fused, at_tiles + "; parallelize(loop=i); promote(loop=j_t, most=4); vectorize(loop=p)", {{"T_l", {4}}}},
      {"loop i = 0 .. n { loop j = 0 .. 5 { s: u[i] = R[i, 0] v: y[i] = y[i] + u[i] } }",
       "promote(loop=i, most=1)",
       {{"R_l", {}}, {"u_l", {}}, {"y_l", {}}}},
      // A product below a diagonal by blocks of rows, whose sums stay in a tile of their own.
      {sums, by_rows + "; promote(loop=j_t, most=32)", {{"T_l", {4, 8}}}},
      {sums,
       by_rows +
           "; promote(loop=j_t, most=32); parallelize(loop=i_t); split(loop=q, at=i_t); distribute(loop=j_d);"
           " distribute(loop=i_d); tile(loops=[j_d, q], sizes=[4, 3]); interchange(outer=j_d_t, inner=q_t);"
           " interchange(outer=i_d, inner=q_t); interchange(outer=i_d, inner=j_d_t);"
           " register_tile(loops=[i_d, j_d], sizes=[2, 4], lanes=4, partial=padded); pack(loop=j_d_t, panel=j_d_r);"
           " pack(loop=q_t, panel=i_d_r)",
       {{"T_l", {4, 8}}}},
      // Two products by blocks of rows: the first one's result is used at once.
      {chain,
       "reorder(loop=i2); interchange(outer=q, inner=r); fuse(first=i, second=p); fuse(first=j, second=r);"
       " fuse(first=i, second=p2); fuse(first=j, second=q2); tile(loops=[i, j], sizes=[4, 8]); distribute(loop=j);"
       " distribute(loop=i); parallelize(loop=i_t); promote(loop=j_t, most=32);"
       " register_tile(loops=[i_d, j_d], sizes=[2, 4], lanes=4, partial=padded)",
       {{"T_l", {4, 8}}}},
      // A temporary that others look at, and one whose values cross iterations.
      {"loop i = 0 .. n { s: u[i] = x[i] loop j = 0 .. 3 { v: u[i] = u[i] * y[i] } } loop p = 0 .. n { w: x[p] = u[p] "
       "}",
       "promote(loop=i, most=1)",
       {{"u_l", {}}, {"y_l", {}}}},
      {"s: u[0] = 1.0 loop i = 0 .. n { loop j = 0 .. n { v: u[0] = u[0] + S[i, j] } w: x[i] = u[0] }",
       "promote(loop=i, most=1)",
       {{"u_l", {}}}},
      // Threads: odd elements are read by all, even ones each iteration's own.
      {"loop i = 0 .. (n - 1) floordiv 2 { loop j = 0 .. 3 {"
       " s: x[2 * i] = x[2 * i] + x[2 * i + 1] * y[j] } }",
       "parallelize(loop=i); promote(loop=i, most=4)",
       {{"x_l", {2}}}},
      // One element is read, another one written.
      {"loop i = 0 .. n - 1 { loop j = 0 .. 3 { s: x[i + 1] = x[i] * y[j] } }",
       "promote(loop=i, most=2)",
       {{"x_l", {2}}}},
      // Two sets apart.
      {"loop i = 0 .. n - 9 { loop j = 0 .. 3 { s: x[i + 8] = x[i + 8] + x[i] * x[i + 1] } }",
       "promote(loop=i, most=16)",
       {{"x_l", {9}}}},
  };
  return all;
}

std::vector<Sizes> all_sizes() {
  std::vector<Sizes> sizes;
  for (std::int64_t n = 0; n <= 13; ++n) {
    sizes.push_back({{"n", n}, {"m", (7 * n + 3) % 14}, {"l", (5 * n + 2) % 11}});
    sizes.push_back({{"n", n}, {"m", n}, {"l", n % 4}});
  }
  return sizes;
}

std::vector<tests::Rewritten> rewritten(const std::string& target) {
  std::vector<tests::Rewritten> result;
  for (const Case& c : cases()) result.push_back(tests::rewritten(nest(c.body), c.steps, target));
  return result;
}

TEST(Promote, InterpretedSameBits) {
  const auto nests = rewritten("highway");
  for (std::size_t k = 0; k < nests.size(); ++k) {
    tests::expect_same_interpreted(nests[k], all_sizes(), tests::Undefined::LeftOut);
    for (const auto& [name, shape] : cases()[k].locals) {
      const sdfg::Container* local = nests[k].after.find(name);
      ASSERT_TRUE(local) << name << "\n" << sdfg::print(nests[k].after);
      EXPECT_EQ(local->shape, shape) << name << "\n" << sdfg::print(nests[k].after);
    }
  }
}

TEST(Promote, CompiledSameBitsBetweenGuardPages) {
  for (const std::string target : {"cpp", "openmp", "highway"})
    tests::expect_same_compiled(rewritten(target), all_sizes(), target, tests::Undefined::LeftOut);
}

// --- What the copies are --------------------------------------------------------------------------------------------

// Nothing is copied where the sum is empty; what is only the iteration's own is not copied at all.
TEST(Promote, CopiesWhatIsTouched) {
  const auto scalar = applied(nest(product), "promote(loop=j, most=1)");
  ASSERT_TRUE(scalar) << scalar.error().to_string();
  EXPECT_EQ(nodes(*scalar),
            "loop i = 0 .. n {\n"
            "  loop j = 0 .. m private(C_l) {\n"
            "    if ({1}i64 <= {l}i64) {\n"
            "      read_C: C_l[] = C[i, j]\n"
            "    }\n"
            "    loop q = 0 .. l {\n"
            "      s: C_l[] = C_l[] + A[i, q] * B[q, j]\n"
            "    }\n"
            "    if ({1}i64 <= {l}i64) {\n"
            "      write_C: C[i, j] = C_l[]\n"
            "    }\n"
            "  }\n"
            "}\n");
  const auto contracted = applied(nest(fused), "fuse(first=j, second=p); promote(loop=j, most=1)");
  ASSERT_TRUE(contracted) << contracted.error().to_string();
  EXPECT_EQ(contracted->find("T"), nullptr);
  EXPECT_EQ(nodes(*contracted),
            "loop i = 0 .. n {\n"
            "  loop j = 0 .. n private(T_l) {\n"
            "    s: T_l[] = R[i, j] * 2.0\n"
            "    w: S[i, j] = T_l[] + T_l[] * x[j]\n"
            "  }\n"
            "}\n");
}

// Only what the iteration writes is written back: the element beside it is read by other threads, or constant.
TEST(Promote, WritesBackWhatIsWritten) {
  const std::string body = "loop i = 0 .. n floordiv 2 { loop j = 0 .. 3 { s: x[2 * i] = x[2 * i] + x[2 * i + 1] } }";
  const auto after = applied(nest(body), "parallelize(loop=i); promote(loop=i, most=2)");
  ASSERT_TRUE(after) << after.error().to_string();
  EXPECT_TRUE(nodes(*after).contains("write_x: x[2*i] = x_l[0]")) << nodes(*after);
  EXPECT_FALSE(nodes(*after).contains("x[x_w0]")) << nodes(*after);
}

// --- What it must leave alone ---------------------------------------------------------------------------------------

TEST(Promote, RefusesWhatIsNotCertain) {
  const std::string bodies[] = {
      // Written under a condition; all of it read in any case, or not.
      "loop i = 0 .. n { loop j = 0 .. 3 { if (y[j] > 0.0) { s: x[i] = x[i] + 1.0 } } }",
      "loop i = 0 .. n { loop j = 0 .. 3 { w: y[j] = x[i] if (y[j] > 0.0) { s: x[i] = 1.0 } } }",
      "loop i = 0 .. n { loop j = 0 .. k[i] { s: x[i] = x[i] + 1.0 } }",
      // Read under a condition: the element may lie outside.
      "loop i = 0 .. n { loop j = 0 .. 3 { if (y[j] > 0.0) { s: y[j] = x[i + 1] } } }",
  };
  for (const std::string& body : bodies) {
    const auto after = applied(nest(body), "promote(loop=i, most=4)");
    if (after)
      EXPECT_EQ(after->find("x_l"), nullptr) << sdfg::print(*after);
    else
      EXPECT_EQ(after.error().code, "promote.footprint") << body;
  }
  EXPECT_EQ(refusal(nest(bodies[2]), "promote(loop=i, most=4)"), "promote.footprint");
}

TEST(Promote, RefusesWhatOthersMayTouch) {
  // Another container of the same alias class, unless the two are checked to be disjoint, or neither is written.
  const std::string head =
      "sdfg 1 t symbols n array A: f64[n] argument alias 1 array C: f64[n] argument alias 1 array x: f64[n] argument "
      "arguments n, A, C, x ";
  const std::string sums = "loop i = 0 .. n { loop j = 0 .. n { s: C[i] = C[i] + A[j] } }";
  const std::string reads = "loop i = 0 .. n { loop j = 0 .. n { s: x[i] = x[i] + A[j] * C[i] } }";
  const auto overlapping = sdfg::parse(head + sums), apart = sdfg::parse(head + "disjoint A, C " + sums);
  const auto read = sdfg::parse(head + reads);
  ASSERT_TRUE(overlapping && apart && read);
  EXPECT_EQ(refusal(*overlapping, "promote(loop=i, most=1)"), "promote.nothing");
  EXPECT_TRUE(applied(*apart, "promote(loop=i, most=1)"));
  const auto both_read = applied(*read, "promote(loop=i, most=1)");
  ASSERT_TRUE(both_read) << both_read.error().to_string();
  EXPECT_TRUE(both_read->find("C_l")) << sdfg::print(*both_read);
}

TEST(Promote, LeavesAloneWhatIsNotTouchedThroughBoxes) {
  // Subscripts and bounds; a subscript that data decides; a while loop; a reduction; a private.
  const std::string bodies[] = {
      "loop i = 0 .. n { loop j = 0 .. k[i] { s: x[j] = 1.0 } w: k[i] = k[i] + k[i] }",
      "loop i = 0 .. n { loop j = 0 .. 3 { s: x[k[i]] = x[k[i]] + 1.0 } }",
      "loop i = 0 .. n { while (x[i] > 0.0) { s: x[i] = x[i] - 1.0 } }",
      "loop i = 0 .. n reduce(+: x) { loop j = 0 .. 3 { s: x[i] += 1.0 } }",
      "loop i = 0 .. n { loop j = 0 .. 3 reduce(+: x) { s: x[i] += 1.0 } }",
      "loop i = 0 .. n private(u) { s: u[0] = x[i] w: x[i] = u[0] * u[0] }",
  };
  for (const std::string& body : bodies) {
    const auto after = applied(nest(body), "promote(loop=i, most=4)");
    if (!after) {
      EXPECT_TRUE(after.error().code == "promote.nothing" || after.error().code == "promote.footprint") << body;
      continue;
    }
    for (const char* name : {"k_l", "u_l", "x_l"})
      EXPECT_TRUE(after->find(name) == nullptr || (std::string(name) == "x_l" && body == bodies[5]))
          << sdfg::print(*after);
  }
}

// A temporary of which an iteration reads what it may not have written, and what nobody wrote.
TEST(Promote, RefusesTemporariesWithoutAValue) {
  const std::string body =
      "s: u[0] = 1.0 loop i = 1 .. n { loop j = 0 .. 2 { v: u[i] = u[i - 1] + 1.0 w: x[i] = u[i] + u[i] } }";
  const auto after = applied(nest(body), "promote(loop=i, most=4)");
  ASSERT_TRUE(after) << after.error().to_string();
  EXPECT_EQ(after->find("u_l"), nullptr) << sdfg::print(*after);
  EXPECT_TRUE(after->find("x_l")) << sdfg::print(*after);
}

// A second time there is nothing left to spare.
TEST(Promote, OnceIsEnough) {
  EXPECT_EQ(refusal(nest(product), "promote(loop=j, most=1); promote(loop=j, most=1)"), "promote.nothing");
}

}  // namespace
}  // namespace sous::transforms
