// What a loop computes before it waits for the iteration before: detach, hand_over, and the strategy that uses both.
#include <gtest/gtest.h>

#include "sdfg/check.h"
#include "sdfg/interp.h"
#include "sdfg/text.h"
#include "tests/support/random_nest.h"
#include "tests/support/run_compiled.h"
#include "transforms/apply.h"
#include "transforms/strategies/strategy.h"

namespace sous::transforms {
namespace {

sdfg::Sdfg nest(const std::string& body) {
  auto parsed = sdfg::parse(
      "sdfg 1 t symbols n, m array A: f64[n, m] argument array x: f64[n] argument array k: i32[n] argument "
      "array s: f64 argument array at: i64 argument array count: i64[40] argument array t: f64 stack transient "
      "array u: i32 stack transient arguments n, m, A, x, k, s, at, count " +
      body);
  if (!parsed) ADD_FAILURE() << parsed.error().to_string();
  return parsed.value_or(sdfg::Sdfg{});
}

Result<sdfg::Sdfg> applied(const std::string& body, const std::string& steps) {
  TRY(Recipe recipe, recipe_from_text(steps + " -> cpp"));
  return apply(nest(body), recipe, {});
}

std::string refusal(const std::string& body, const std::string& steps) {
  const auto result = applied(body, steps);
  return result ? "applied" : result.error().code;
}

// The result as text; it does what the nest does, at each of these sizes.
std::string same(const std::string& body, const std::string& steps) {
  const auto after = applied(body, steps);
  if (!after) {
    ADD_FAILURE() << steps << ": " << after.error().to_string();
    return {};
  }
  EXPECT_TRUE(sdfg::check(*after)) << sdfg::print(*after);
  for (const std::int64_t n : {0, 1, 2, 7, 20}) {
    sdfg::Memory expected = tests::random_memory(nest(body), 1, {{"n", n}, {"m", 3}}), actual = expected;
    const auto first = sdfg::interpret(nest(body), expected), second = sdfg::interpret(*after, actual);
    EXPECT_TRUE(first && second) << sdfg::print(*after);
    const auto found = tests::difference(expected, actual);
    EXPECT_FALSE(found) << "n = " << n << ": " << *found << "\n" << sdfg::print(*after);
  }
  return sdfg::print(*after);
}

// The place of the largest: what is compared each iteration computes for itself.
const std::string largest =
    "loop i = 0 .. n private(t) { s0: t[] = x[i] * x[i] s1: t[] = t[] + sqrt(t[]) "
    "if (s[] < t[]) { s2: s[] = t[] s3: at[] = {i}i64 } }";

TEST(ComputedAhead, HandsScalarsOver) {
  EXPECT_EQ(refusal(largest, "distribute(loop=i, at=2)"), "distribute.illegal");
  const std::string text = same(largest, "hand_over(loop=i, at=2); distribute(loop=i, at=3); parallelize(loop=i)");
  EXPECT_NE(text.find("put_t: t_x[i] = t[]"), std::string::npos) << text;
  EXPECT_NE(text.find("get_t: t_u[] = t_x[i_d]"), std::string::npos) << text;
  same(largest, "hand_over(loop=i, at=1); distribute(loop=i, at=2)");
  same(largest, "tile(loops=[i], sizes=[4]); hand_over(loop=i, at=2); distribute(loop=i, at=3); vectorize(loop=i)");
}

// Where it is a subscript, and with rows around, whose places are expanded after it.
TEST(ComputedAhead, HandsSubscriptsOver) {
  same(
      "loop i = 0 .. n { loop j = 0 .. m private(u) { s0: u[] = min(max(i32(A[i, j] * 7.0), 0), 39) "
      "s1: count[u[]] = count[u[]] + 1i64 } }",
      "hand_over(loop=j, at=1); distribute(loop=j, at=2); expand(loop=i); distribute(loop=i, at=1); "
      "parallelize(loop=i)");
}

TEST(ComputedAhead, RefusesWhatHasNoValue) {
  const std::string sometimes =
      "loop i = 0 .. n private(t) { if (x[i] > 1.0) { s0: t[] = x[i] } "
      "if (x[i] > 1.0) { s1: s[] = s[] + t[] } }";
  EXPECT_EQ(refusal(sometimes, "hand_over(loop=i, at=1)"), "hand-over.nothing");
  EXPECT_EQ(refusal(largest, "hand_over(loop=i, at=3)"), "hand-over.nothing");
  EXPECT_EQ(refusal("loop i = 0 .. n { s0: t[] = x[i] s1: s[] = s[] + t[] }", "hand_over(loop=i, at=1)"),
            "hand-over.nothing");  // one for all iterations
  EXPECT_EQ(
      refusal("loop i = 0 .. n step 2 private(t) { s0: t[] = x[i] s1: s[] = s[] + t[] }", "hand_over(loop=i, at=1)"),
      "hand-over.step");
  EXPECT_EQ(refusal("loop j = n .. 0 step -1 { loop i = 0 .. j private(t) { s0: t[] = x[i] s1: s[] = s[] + t[] } }",
                    "hand_over(loop=i, at=1)"),
            "hand-over.size");
  EXPECT_EQ(refusal(largest, "hand_over(loop=q, at=1)"), "hand-over.no-loop");
}

TEST(ComputedAhead, DetachesWhatAnUpdateTakes) {
  const std::string sum = "loop i = 0 .. n { s0: s[] = s[] + sqrt(x[i] * x[i] + 1.0) / 3.0 }";
  const std::string text = same(sum, "detach(loop=i)");
  EXPECT_NE(text.find("s0_p: s_p[] = sqrt(x[i] * x[i] + 1.0) / 3.0\n"), std::string::npos) << text;
  EXPECT_NE(text.find("s0: s[] = s[] + s_p[]\n"), std::string::npos) << text;
  same(sum, "detach(loop=i); hand_over(loop=i, at=1); distribute(loop=i, at=2); vectorize(loop=i)");
  EXPECT_EQ(refusal("loop i = 0 .. n { s0: x[i] = sqrt(x[i]) }", "detach(loop=i)"), "detach.nothing");
  EXPECT_EQ(refusal("loop i = 0 .. n { s0: s[] = s[] + x[i] }", "detach(loop=i)"), "detach.nothing");
  EXPECT_EQ(refusal("loop i = 0 .. n { s0: s[] = s[] * sqrt(s[]) }", "detach(loop=i)"), "detach.nothing");
  EXPECT_EQ(refusal(sum, "detach(loop=q)"), "detach.no-loop");
  EXPECT_EQ(refusal(sum, "unroll(loop=i); detach(loop=i)"), "detach.scheduled");
}

// A product that a sum takes with one rounding stays with it; its factors need not. Arms of a choice are computed only
// where it takes them.
TEST(ComputedAhead, LeavesProductsToTheirSums) {
  std::string text = same("loop i = 0 .. n { s0: s[] = s[] - -(sqrt(x[i]) * (x[i] + 1.0)) }", "detach(loop=i)");
  EXPECT_NE(text.find("s0: s[] = s[] - -(s_p[] * s_p2[])\n"), std::string::npos) << text;
  text = same("loop i = 0 .. n { s0: s[] = s[] + uncontracted(x[i] * 2.0) }", "detach(loop=i)");
  EXPECT_NE(text.find("s0: s[] = s[] + s_p[]\n"), std::string::npos) << text;
  text = same("loop i = 0 .. n { s0: at[] = select(x[i] > 1.0, at[] + i64(k[i] / 3), at[]) }", "detach(loop=i)");
  EXPECT_EQ(text.find("at_p2"), std::string::npos) << text;
}

std::string recipe_for(const std::string& body, std::int64_t cores = 16) {
  const StepContext machine{
      .hardware = {{"simd_bits", 512}, {"l1_bytes", 32768}, {"l2_bytes", 1 << 20}, {"cores", cores}}};
  const auto facts = NestFacts::of(nest(body), machine);
  EXPECT_TRUE(facts);
  const auto recipes = computed_ahead_strategy.write(*facts);
  return recipes ? recipes->at(0).text : recipes.error().code;
}

TEST(ComputedAhead, Strategy) {
  EXPECT_EQ(recipe_for("loop i = 0 .. n { s0: s[] = s[] + exp(x[i]) }"),
            "detach(loop=i); tile(loops=[i], sizes=[$block]); hand_over(loop=i, at=1); distribute(loop=i, at=2); "
            "parallelize(loop=i, kind=$kind) -> highway");
  EXPECT_EQ(recipe_for("loop i = 0 .. n { loop j = 0 .. m { s0: s[] = s[] + 1.0 / sqrt(A[i, j]) } }"),
            "detach(loop=j); hand_over(loop=j, at=1); distribute(loop=j, at=2); tile(loops=[i], sizes=[$rows]); "
            "expand(loop=i); distribute(loop=i, at=1); parallelize(loop=i, kind=$kind) -> highway");
  // A sum in order waits longer than half of an exponential takes, and longer than a division does.
  EXPECT_EQ(recipe_for("loop i = 0 .. n { s0: s[] = s[] + exp(x[i]) }", 2), "computed-ahead.none");
  EXPECT_EQ(recipe_for("loop i = 0 .. n { s0: s[] = s[] + 1.0 / x[i] }"), "computed-ahead.none");
  // Nothing is ahead of a recurrence; what no iteration waits for needs no such thing.
  EXPECT_EQ(recipe_for("loop i = 0 .. n { s0: s[] = exp(s[] + x[i]) }"), "computed-ahead.none");
  EXPECT_EQ(recipe_for("loop i = 0 .. n { s0: x[i] = exp(x[i]) }"), "computed-ahead.none");
}

}  // namespace
}  // namespace sous::transforms
