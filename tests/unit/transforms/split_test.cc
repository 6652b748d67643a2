// Steps for triangles: split, sink and join, alone and as the composition that blocks a factorization; bit for bit
// against the interpreter. And the local proof, against the one of the whole tree.
#include <gtest/gtest.h>

#include "sdfg/check.h"
#include "sdfg/interp.h"
#include "sdfg/text.h"
#include "tests/support/random_nest.h"
#include "tests/support/random_recipe.h"
#include "tests/support/run_compiled.h"
#include "transforms/apply.h"

namespace sous::transforms {
namespace {

sdfg::Sdfg nest(const std::string& body) {
  auto parsed = sdfg::parse(
      "sdfg 1 t symbols n, m array A: f64[n, n] argument array B: f64[n, n] argument array x: f64[n] argument "
      "arguments n, m, A, B, x " +
      body);
  if (!parsed) ADD_FAILURE() << parsed.error().to_string();
  return parsed.value_or(sdfg::Sdfg{});
}

Result<sdfg::Sdfg> applied(const sdfg::Sdfg& before, const std::string& steps) {
  TRY(Recipe recipe, recipe_from_text(steps + " -> highway"));
  return apply(before, recipe, {});
}

// Applies the steps, all of which must apply, runs both for every size from 0 to 20 and wants equal bits. Returns the
// result's loops as text.
std::string same(const std::string& body, const std::string& steps) {
  const sdfg::Sdfg before = nest(body);
  const auto after = applied(before, steps);
  if (!after) {
    ADD_FAILURE() << steps << ": " << after.error().to_string();
    return {};
  }
  const auto valid = sdfg::check(*after);
  EXPECT_TRUE(valid) << valid.error().to_string() << "\n" << sdfg::print(*after);
  for (std::int64_t n = 0; n <= 20; ++n) {
    sdfg::Memory expected = tests::random_memory(before, 1, {{"n", n}, {"m", (7 * n + 3) % 21}}), actual = expected;
    const auto first = sdfg::interpret(before, expected), second = sdfg::interpret(*after, actual);
    EXPECT_TRUE(first) << first.error().to_string();
    EXPECT_TRUE(second) << second.error().to_string() << "\n" << sdfg::print(*after);
    const auto found = tests::difference(expected, actual);
    EXPECT_FALSE(found) << "n = " << n << ": " << *found << "\n" << sdfg::print(*after);
    if (::testing::Test::HasFailure()) break;
  }
  const std::string text = sdfg::print(*after);
  return text.substr(text.find("\n\n") + 2);
}

// Each part has a temporary of its own, so that each may run on threads; what an iteration hands to the next stays one.
TEST(Split, TemporariesBecomeTwo) {
  const auto text = [](const std::string& temporary, const std::string& body) {
    return "sdfg 1 t symbols n array A: f64[n, n] argument array t: f64" + temporary +
           " stack transient arguments n, A loop i = 0 .. n { loop j = 0 .. n " + body + " }";
  };
  const sdfg::Sdfg before =
      sdfg::parse(text("", "private(t) { s: t[] = A[i, j] * 2.0 if (t[] < A[j, j]) { u: A[i, j] = t[] } }")).value();
  const auto after = applied(before, "split(loop=j, at=i); parallelize(loop=j_s)");
  ASSERT_TRUE(after) << after.error().to_string();
  EXPECT_TRUE(sdfg::check(*after));
  EXPECT_TRUE(sdfg::print(*after).contains("private(t_s)")) << sdfg::print(*after);
  for (const std::int64_t n : {0, 1, 2, 7}) {
    sdfg::Memory expected = tests::random_memory(before, 1, {{"n", n}}), actual = expected;
    ASSERT_TRUE(sdfg::interpret(before, expected) && sdfg::interpret(*after, actual));
    EXPECT_FALSE(tests::difference(expected, actual)) << n;
  }
  // A subscript that reads it is no memlet of it.
  const sdfg::Sdfg index =
      sdfg::parse(
          "sdfg 1 t symbols n array A: f64[n] argument array p: i64[n] argument array t: i64 stack transient "
          "arguments n, A, p assume n - 1 >= 0 loop i = 0 .. n { loop j = 0 .. n private(t) { "
          "s: t[] = p[j] u: A[min(n - 1, max(0, t[]))] = 1.0 } }")
          .value();
  EXPECT_EQ(applied(index, "split(loop=j, at=i)").error().code, "split.illegal");
}

TEST(Split, AtAnOuterLoop) {
  EXPECT_EQ(same("loop i = 0 .. n { loop j = 0 .. n { s: A[i, j] = A[i, j] + B[j, i] } }", "split(loop=j, at=i)"),
            "loop i = 0 .. n {\n"
            "  loop j = 0 .. i {\n    s: A[i, j] = A[i, j] + B[j, i]\n  }\n"
            "  loop j_s = i .. n {\n    s_1: A[i, j_s] = A[i, j_s] + B[j_s, i]\n  }\n"
            "}\n");
}

TEST(Split, DecidesConditionsAndBounds) {
  EXPECT_EQ(same("loop i = 0 .. n { loop j = 0 .. n { if ({j}i64 < {i}i64) { s: A[i, j] = B[i, j] } loop k = 0 .. "
                 "min(i, j) { t: B[i, j] = B[i, j] + x[k] } } }",
                 "split(loop=j, at=i)"),
            "loop i = 0 .. n {\n"
            "  loop j = 0 .. i {\n    s: A[i, j] = B[i, j]\n"
            "    loop k = 0 .. j {\n      t: B[i, j] = B[i, j] + x[k]\n    }\n  }\n"
            "  loop j_s = i .. n {\n"
            "    loop k_s = 0 .. i {\n      t_1: B[i, j_s] = B[i, j_s] + x[k_s]\n    }\n  }\n"
            "}\n");
}

TEST(Split, PeelsIterationsOff) {
  EXPECT_EQ(same("loop i = 0 .. n { loop j = i .. n { s: A[i, j] = A[i, j] + B[j, i] } }", "split(loop=j, offset=1)"),
            "loop i = 0 .. n {\n"
            "  s: A[i, i] = A[i, i] + B[i, i]\n"
            "  loop j = i + 1 .. n {\n    s_1: A[i, j] = A[i, j] + B[j, i]\n  }\n"
            "}\n");
  const std::string recurrence = "loop i = 1 .. n { s: x[i] = x[i - 1] + x[i] }";
  same(recurrence, "split(loop=i, offset=-1)");
  same(recurrence, "split(loop=i, offset=3); split(loop=i_s, offset=-2); split(loop=i, offset=1)");
}

TEST(Sink, BehindAndBefore) {
  const std::string sums =
      "loop i = 0 .. n { r: x[i] = 0.5 loop j = 0 .. i { s: x[i] = x[i] - A[i, j] * x[j] } t: x[i] = "
      "x[i] / A[i, i] }";
  EXPECT_EQ(same(sums, "sink(loop=j)"),
            "loop i = 0 .. n {\n  r: x[i] = 0.5\n  loop j = 0 .. i + 1 {\n"
            "    if ({j}i64 < {i}i64) {\n      s: x[i] = x[i] - A[i, j] * x[j]\n    }\n"
            "    if ({j}i64 == {i}i64) {\n      t: x[i] = x[i] / A[i, i]\n    }\n  }\n}\n");
  same(sums, "sink(loop=j, what=before)");
  same("loop i = 0 .. n { r: x[i] = 0.5 p: A[i, i] = x[i] loop j = 0 .. i { s: x[i] = x[i] - A[i, j] * x[j] } }",
       "sink(loop=j, what=before, count=0)");
  same(sums, "sink(loop=j, what=before); sink(loop=j); interchange(outer=i, inner=j)");
}

TEST(Join, TakesASplitBack) {
  EXPECT_EQ(same("loop i = 0 .. n { loop j = 0 .. n { loop k = 0 .. i { s: A[i, j] = A[i, j] + B[j, k] } } }",
                 "split(loop=j, at=i); join(first=j, second=j_s)"),
            "loop i = 0 .. n {\n  loop j = 0 .. n {\n    loop k = 0 .. i {\n      s: A[i, j] = A[i, j] + B[j, k]\n"
            "    }\n  }\n}\n");
}

TEST(Join, TakesAPeeledIterationBack) {
  EXPECT_EQ(same("loop i = 0 .. n { loop j = 0 .. i { s: A[i, j] = A[i, j] - B[i, j] * B[j, i] } "
                 "t: A[i, i] = A[i, i] - B[i, i] * B[i, i] u: x[i] = A[i, i] }",
                 "join(first=j)"),
            "loop i = 0 .. n {\n  loop j = 0 .. i + 1 {\n    s: A[i, j] = A[i, j] - B[i, j] * B[j, i]\n  }\n"
            "  u: x[i] = A[i, i]\n}\n");
}

// LU as PolyBench writes it: row by row, the two triangles apart.
const std::string lu =
    "loop i = 0 .. n { loop j = 0 .. i { loop k = 0 .. j { s: A[i, j] = A[i, j] - A[i, k] * A[k, j] } "
    "t: A[i, j] = A[i, j] / A[j, j] } "
    "loop p = 0 .. i { loop q = i .. n { u: A[i, q] = A[i, q] - A[i, p] * A[p, q] } } }";

// Its textbook form, with the reduction outermost and one statement for both triangles.
const std::string right_looking =
    "sink(loop=k); interchange(outer=j, inner=k); fuse(first=k, second=p); interchange(outer=i, inner=k); "
    "split(loop=j, at=k, offset=1); join(first=j, second=q)";

TEST(Compositions, LuBecomesRightLooking) {
  EXPECT_EQ(same(lu, right_looking),
            "loop k = 0 .. n - 1 {\n  loop i = k + 1 .. n {\n    t: A[i, k] = A[i, k] / A[k, k]\n"
            "    loop j = k + 1 .. n {\n      s: A[i, j] = A[i, j] - A[i, k] * A[k, j]\n    }\n  }\n}\n");
}

TEST(Compositions, BlockedLuOnRegisterTiles) {
  const std::string blocked =
      right_looking +
      "; tile(loops=[k], sizes=[4]); split(loop=i, at=k_t, offset=4); split(loop=j, at=k_t, offset=4); "
      "split(loop=j_s, at=k_t, offset=4); distribute(loop=i, at=2); distribute(loop=i_s, at=2); distribute(loop=k); "
      "interchange(outer=k_d2, inner=i_s); parallelize(loop=i_s); vectorize(loop=j_s, lanes=4); "
      "interchange(outer=k_d3, inner=i_s_d); interchange(outer=k_d3, inner=j_s_s); ";
  for (const char* tiles : {"register_tile(loops=[i_s_d, j_s_s], sizes=[2, 4], lanes=4)",
                            "tile(loops=[i_s_d], sizes=[6]); parallelize(loop=i_s_d_t); interchange(outer=i_s_d, "
                            "inner=j_s_s); register_tile(loops=[j_s_s, i_s_d], sizes=[4, 2], lanes=2, vector=outer)"}) {
    const std::string text = same(lu, blocked + tiles);
    EXPECT_TRUE(text.contains("A_r[")) << text;
  }
}

// Cholesky: the diagonal's update is the triangle's last column.
TEST(Compositions, CholeskyBecomesRightLooking) {
  EXPECT_EQ(same("loop i = 0 .. n { loop j = 0 .. i { loop k = 0 .. j { s: A[i, j] = A[i, j] - A[i, k] * A[j, k] } "
                 "t: A[i, j] = A[i, j] / A[j, j] } loop p = 0 .. i { u: A[i, i] = A[i, i] - A[i, p] * A[i, p] } "
                 "v: A[i, i] = A[i, i] * 0.5 }",
                 "sink(loop=k); interchange(outer=j, inner=k); sink(loop=p); fuse(first=k, second=p); "
                 "interchange(outer=i, inner=k); split(loop=i, at=k, offset=1); split(loop=j, at=k, offset=1); "
                 "join(first=j)"),
            "loop k = 0 .. n {\n  v: A[k, k] = A[k, k] * 0.5\n  loop i = k + 1 .. n {\n"
            "    t: A[i, k] = A[i, k] / A[k, k]\n"
            "    loop j = k + 1 .. i + 1 {\n      s: A[i, j] = A[i, j] - A[i, k] * A[j, k]\n    }\n  }\n}\n");
}

// What the check of the difference, with the dependences of what a step concerns, accepts, that of the whole tree with
// all dependences accepts as well; and a step that is refused is so with all of them, too.
TEST(Prove, OfTheDifferenceAgreesWithTheWhole) {
  const char* seed_text = std::getenv("SOUS_SEED");
  const std::uint64_t first = seed_text ? std::strtoull(seed_text, nullptr, 10) : 1;
  int steps_proven = 0, partial = 0;
  for (std::uint64_t seed = first; seed < first + 80; ++seed) {
    const sdfg::Sdfg graph = tests::random_nest(
        seed, {.max_depth = 3, .max_statements = 4, .tidy = seed % 2 == 0, .products = seed % 5 == 0});
    const Recipe recipe = tests::random_recipe(graph, seed, {});
    Nest state{.scop = sdfg::scop_of(graph), .dependences = {}, .tree = {}, .stale = true};
    state.tree = state.scop.tree;
    for (const StepCall& call : recipe.steps) {
      const auto all = sdfg::Dependences::compute(state.scop);
      if (!all) break;
      const Nest before{.scop = state.scop, .dependences = *all, .tree = state.tree};
      const auto plan = plan_of(*find_step(call.step), call, state, {});
      const auto with_all = find_step(call.step)->plan(before, call, {});
      ASSERT_EQ(plan.has_value(), with_all.has_value())
          << (plan ? with_all.error().to_string() : plan.error().to_string()) << "\n"
          << sdfg::print(graph) << to_text(recipe) << "\nrepeat: SOUS_SEED=" << seed
          << " test_transforms --gtest_filter=Prove.*";
      if (!plan) break;
      state = rewrite(std::move(state), *plan);
      if (state.stale) continue;
      partial += state.dependences.all().size() < all->all().size() ? 1 : 0;
      const auto whole = sdfg::respects(*all, state.scop, state.tree);
      ++steps_proven;
      ASSERT_TRUE(whole || whole.error().code == "isl.budget")
          << whole.error().to_string() << "\n"
          << sdfg::print(graph) << to_text(recipe) << "\nrepeat: SOUS_SEED=" << seed
          << " test_transforms --gtest_filter=Prove.*";
    }
  }
  EXPECT_GT(steps_proven, 50);
  EXPECT_GT(partial, 0);
}

}  // namespace
}  // namespace sous::transforms
