#include <gtest/gtest.h>

#include <set>

#include "sdfg/check.h"
#include "sdfg/interp.h"
#include "sdfg/text.h"
#include "tests/support/random_nest.h"
#include "tests/support/run_compiled.h"
#include "transforms/apply.h"

namespace sous::transforms {
namespace {

// A plan is made of proofs: a graph that no step has shown to compute the same is none.
static_assert(!std::is_constructible_v<Plan, sdfg::ScheduleTree>);
static_assert(!std::is_constructible_v<Equivalent, sdfg::Sdfg>);
static_assert(!std::is_invocable_v<decltype(restructure), Plan, sdfg::Sdfg>);

constexpr const char* head =
    "sdfg 1 t symbols n, m array A: f64[n, n] argument array B: f64[n, n] argument array x: f64[n] argument "
    "array k: i64[n] argument array s: f64 argument array c: i64 argument array t: f64 stack transient "
    "array w: f64[n] heap transient arguments n, m, A, B, x, k, s, c ";

sdfg::Sdfg nest(const std::string& body) {
  auto sdfg = sdfg::parse(head + body);
  if (!sdfg) ADD_FAILURE() << sdfg.error().to_string();
  return sdfg.value_or(sdfg::Sdfg{});
}

Result<sdfg::Sdfg> run(const std::string& body, const std::string& steps, bool reassociate = false) {
  TRY(Recipe recipe, recipe_from_text(steps + " -> cpp"));
  ApplyOptions options;
  options.context.reassociate = reassociate;
  options.context.hardware = {{"l1_bytes", 32768}};
  return apply(nest(body), recipe, options);
}

std::string refusal(const std::string& body, const std::string& steps, bool reassociate = false) {
  auto result = run(body, steps, reassociate);
  return result ? "applied" : result.error().code;
}

// The loops of the result, outermost first, and their schedules.
void expect_same_result(const std::string& body, const std::string& steps, bool reassociate = false) {
  auto result = run(body, steps, reassociate);
  ASSERT_TRUE(result) << result.error().to_string();
  for (std::int64_t n : {1, 2, 5, 9}) {
    const sdfg::Memory memory = tests::random_memory(nest(body), 1, {{"n", n}, {"m", 3}});
    sdfg::Memory expected = memory, actual = memory;
    auto first = sdfg::interpret(nest(body), expected);
    ASSERT_TRUE(first) << first.error().to_string();
    auto second = sdfg::interpret(*result, actual);
    ASSERT_TRUE(second) << second.error().to_string() << sdfg::print(*result);
    const auto found = tests::difference(expected, actual);
    EXPECT_FALSE(found) << "n = " << n << ": " << *found << "\n" << sdfg::print(*result);
  }
}

constexpr const char* copy2 = "loop i = 0 .. n { loop j = 0 .. n { s0: A[i, j] = B[j, i] + 1.0 } }";
constexpr const char* triangle = "loop i = 0 .. n { loop j = 0 .. i + 1 { s0: A[i, j] = A[i, j] + B[i, j] * x[j] } }";
constexpr const char* sweep = "loop i = 1 .. n { loop j = 0 .. n - 1 { s0: A[i, j] = A[i - 1, j + 1] + 1.0 } }";
constexpr const char* two = "loop i = 0 .. n { s0: x[i] = B[i, 0] } loop j = 0 .. n { s1: A[j, 0] = x[j] }";
constexpr const char* late = "loop i = 0 .. n { s0: x[i] = B[i, 0] } loop j = 0 .. n - 1 { s1: A[j, 0] = x[j + 1] }";
constexpr const char* both = "loop i = 0 .. n { s0: x[i] = B[i, 0] s1: A[i, 0] = x[i] s2: A[i, 0] = A[i, 0] * 2.0 }";
constexpr const char* sum = "loop i = 0 .. n { s0: s[] = s[] + x[i] }";
constexpr const char* seidel =
    "loop i = 1 .. n - 1 { loop j = 1 .. n - 1 { s0: A[i, j] = A[i - 1, j] + A[i, j - 1] + A[i, j + 1] } }";

constexpr const char* paths =
    "loop o = 0 .. n { loop i = 0 .. n { loop j = 0 .. n { s0: A[i, j] = A[i, j] + A[i, o] * A[o, j] } } }";
constexpr const char* relaxed =
    "loop o = 0 .. m { loop i = 1 .. n - 1 { loop j = 1 .. n - 1 { s0: B[i, j] = A[i - 1, j] + A[i, j + 1] } } "
    "loop k = 1 .. n - 1 { loop l = 1 .. n - 1 { s1: A[k, l] = B[k, l + 1] } } }";

TEST(Steps, Interchange) {
  expect_same_result(copy2, "interchange(outer=i, inner=j)");
  expect_same_result(triangle, "interchange(outer=i, inner=j)");
}

constexpr const char* gemv = "loop i = 0 .. n { loop j = 0 .. n { s0: x[i] = x[i] + B[i, j] * A[j, 0] } }";

std::ptrdiff_t buffers_of(const sdfg::Sdfg& nest) {
  return std::ranges::count(nest.containers, sdfg::Storage::device_shared, &sdfg::Container::storage);
}

// What the threads of a block read alike comes from shared memory; what a thread keeps has a place for each of them.
TEST(Steps, Stage) {
  expect_same_result(gemv, "offload(loops=[i], sizes=[4]); stage(loop=j, size=3)");
  expect_same_result(gemv, "offload(loops=[i], sizes=[4]); stage(loop=j, size=2, pad=0, reads=all)");
  for (const char* loop : {"0 .. n", "1 .. n - 1"})
    expect_same_result("loop i = 0 .. n { loop j = " + std::string(loop) + " { s0: x[i] = x[i] + B[i, j] * A[j, 0] } }",
                       "offload(loops=[i], sizes=[4]); stage(loop=j, size=2, reads=all, buffers=2)");
  const std::string kept =
      "loop i = 0 .. n { s0: t[] = x[i] loop j = 1 .. n - 1 { s1: t[] = t[] * 0.5 + A[j, 0] * s[] "
      "} s2: B[i, 0] = t[] }";
  for (const char* fold : {"no", "yes"})
    expect_same_result(kept, std::string("offload(loops=[i], sizes=[4]); stage(loop=j, size=2, fold=") + fold + ")");
  const std::string tiled =
      "tile(loops=[i, q], sizes=[2, 2]); offload(loops=[i_t, q_t], sizes=[2, 2]); "
      "register_tile(loops=[i, q], sizes=[2, 2], lanes=1, partial=padded); stage(loop=j, size=2";
  for (const char* buffers : {")", ", buffers=2)"})
    expect_same_result(
        "loop i = 0 .. n { loop q = 0 .. n { loop j = 0 .. n { s0: A[i, q] = A[i, q] + B[i, j] * x[j] * B[q, j] } } }",
        tiled + buffers);
  // Columns that end elsewhere in each row: what all rows of a block read is staged, as far as the last of them reads.
  for (const char* end : {"i + 1", "min(i + 2, n)", "n - i"}) {
    const std::string body = "loop i = 0 .. n { loop q = 0 .. " + std::string(end) +
                             " { loop j = 0 .. n { s0: A[i, q] = A[i, q] + B[i, j] * x[j] * B[q, j] } } }";
    expect_same_result(body, tiled + ", buffers=2)");
    EXPECT_EQ(buffers_of(run(body, tiled + ")").value()), 3) << end;
  }
}

constexpr const char* rows_below =
    "loop i = 0 .. n { loop j = i + 1 .. n { loop q = 0 .. n { s0: A[i, q] = A[i, q] + B[j, i] * A[j, q] } } "
    "loop p = 0 .. n { s1: A[i, p] = A[i, p] * 0.5 } }";

// Rows that later iterations overwrite are copied ahead, as far as some iteration reads them.
TEST(Steps, Preserve) {
  expect_same_result(rows_below, "preserve(loop=i); distribute(loop=i); parallelize(loop=i)");
  expect_same_result("loop i = 0 .. n - 1 { s0: x[i] = x[i + 1] * 2.0 + x[i] }",
                     "preserve(loop=i); parallelize(loop=i)");
  expect_same_result("loop i = 2 .. n { s0: x[n - i] = x[n - i + 1] + x[n - i - 1] }", "preserve(loop=i)");
  // Under a condition, in a loop around, of two statements, from the end on.
  expect_same_result("loop i = 0 .. n - 2 { if ({i}i64 <= {n - 5}i64) { s0: x[i] = x[i + 2] + 1.0 } }",
                     "preserve(loop=i); parallelize(loop=i)");
  expect_same_result("loop q = 0 .. 3 { loop i = 0 .. n - 1 { s0: x[i] = x[i + 1] + 1.0 } }", "preserve(loop=i)");
  expect_same_result(
      "loop i = 0 .. n - 1 { loop j = 0 .. n { s0: A[i, j] = A[i + 1, j] + 1.0 s1: B[i, j] = A[i + 1, j] * x[j] } }",
      "preserve(loop=i); parallelize(loop=i)");
  expect_same_result("loop i = 0 .. n { loop j = 0 .. n - i - 1 { s0: x[n - i - 1] = x[n - i - 1] + x[j] } }",
                     "preserve(loop=i); parallelize(loop=i)");
  expect_same_result(seidel, "preserve(loop=i)");
}

TEST(Steps, Tile) {
  expect_same_result(copy2, "tile(loops=[i, j], sizes=[4, 3])");
  expect_same_result(copy2, "tile(loops=[i], sizes=[4]); tile(loops=[i], sizes=[2])");
  expect_same_result(triangle, "tile(loops=[i, j], sizes=[2, 2])");
  expect_same_result(triangle, "tile(loops=[j], sizes=[l1_bytes floordiv 16384])");
}

TEST(Steps, SkewMakesTilingLegal) {
  expect_same_result(sweep, "skew(loop=j, by=i, factor=1); tile(loops=[i, j], sizes=[3, 4])");
  expect_same_result(seidel, "skew(loop=j, by=i); interchange(outer=i, inner=j)");
  // A wavefront of tiles: those of equal number i_t + 2*j_t are independent.
  expect_same_result(
      sweep,
      "skew(loop=j, by=i); tile(loops=[i, j], sizes=[2, 3], count=numbers); skew(loop=j_t, by=i_t, factor=2); "
      "interchange(outer=i_t, inner=j_t); parallelize(loop=i_t)");
}

TEST(Steps, Reverse) {
  expect_same_result(copy2, "reverse(loop=j)");
  expect_same_result(triangle, "reverse(loop=i)");
}

TEST(Steps, Fuse) {
  expect_same_result(two, "fuse(first=i, second=j)");
  expect_same_result(two, "fuse(first=i, second=j, shift=1)");
  expect_same_result(two, "tile(loops=[i], sizes=[2]); tile(loops=[j], sizes=[2]); fuse(first=i_t, second=j_t)");
  expect_same_result(late, "fuse(first=i, second=j, shift=1)");
  // Both begin together, wherever that is.
  const std::string windows =
      "loop o = 0 .. n { loop k = max(0, o - 2) .. min(n, o + 3) { s0: x[o] = x[o] + A[o, k] }"
      " loop l = max(0, o - 2) - o .. min(n, o + 3) - o { s1: s[] = s[] + A[l + o, o] } }";
  expect_same_result(windows, "fuse(first=k, second=l, align=begin)");
  expect_same_result(windows, "fuse(first=k, second=l, align=begin, shift=1)");
  const auto fused = run(windows, "fuse(first=k, second=l, align=begin)");
  ASSERT_TRUE(fused) << fused.error().to_string();
  EXPECT_FALSE(sdfg::print(*fused).contains("if (")) << sdfg::print(*fused);
}

// No guard where the second body would not run anyway.
TEST(Steps, FuseGuardsWhatNeedsIt) {
  const std::string sums =
      "loop i = 0 .. n { s0: x[i] = 0.0 }"
      " loop j = 0 .. n - 1 { loop k = 0 .. j + 1 { s1: x[j + 1] = x[j + 1] + A[j + 1, k] } }"
      " loop l = 0 .. n - 1 { s2: B[l, 0] = x[l] }";
  const std::string steps = "fuse(first=i, second=j, shift=1); fuse(first=i, second=l)";
  const auto fused = run(sums, steps);
  ASSERT_TRUE(fused) << fused.error().to_string();
  EXPECT_TRUE(
      sdfg::print(*fused).ends_with("loop i = 0 .. n {\n"
                                    "  s0: x[i] = 0.0\n"
                                    "  loop k = 0 .. i {\n"
                                    "    s1: x[i] = x[i] + A[i, k]\n"
                                    "  }\n"
                                    "  if ({i}i64 < {n - 1}i64) {\n"
                                    "    s2: B[i, 0] = x[i]\n"
                                    "  }\n"
                                    "}\n"))
      << sdfg::print(*fused);
  expect_same_result(sums, steps);
  // Bounds that overflow are refused.
  const std::string long_loops =
      "loop i = 0 .. 9223372036854775807 { s0: s[] = 0.0 } loop j = 0 .. 9223372036854775807 { s1: s[] = 1.0 }";
  EXPECT_EQ(refusal(long_loops, "fuse(first=i, second=j, shift=1)"), "fuse.illegal");
  const std::string descending =
      "loop i = 0 .. n { s0: x[i] = 0.0 } loop j = 0 .. n - 1 { loop k = n .. 9223372036854775807 step -1 { s1: A[j, "
      "0] "
      "= 0.0 } }";
  EXPECT_EQ(refusal(descending, "fuse(first=i, second=j)"), "applied");
}

// Sums of integers wrap: nobody can tell in which order they were made, but what looks at one of them on the way.
TEST(Steps, UpdatesOfIntegersChangePlaces) {
  const auto sums = [](const std::string& op, const std::string& more = "") {
    return "loop i = 0 .. n { loop j = 0 .. n { s0: c[] = " + op + " " + more + "} }";
  };
  const std::string swap = "interchange(outer=i, inner=j)";
  expect_same_result(sums("c[] + k[i] * k[j]"), swap);
  expect_same_result(sums("max(c[], k[i] - k[j])"), swap);
  expect_same_result(sums("c[] - k[i] * k[j]"), "reverse(loop=j); " + swap);
  EXPECT_EQ(refusal(sums("c[] + k[i] * k[j]", "s1: x[j] = f64(c[])"), swap), "interchange.illegal");
  EXPECT_EQ(refusal(sums("c[] + k[i] * c[]"), swap), "interchange.illegal");
  EXPECT_EQ(refusal(sums("c[] + k[i] * k[j]", "s1: c[] = max(c[], k[i])"), swap), "interchange.illegal");
  EXPECT_EQ(refusal("loop i = 0 .. n { loop j = 0 .. n { s0: s[] = s[] + A[i, j] } }", swap), "interchange.illegal");
}

TEST(Steps, Reorder) {
  const std::string apart =
      "loop o = 0 .. 2 { loop i = 0 .. n { s0: x[i] = B[i, 0] } loop j = 0 .. n { s1: A[j, 0] = 1.0 } "
      "loop k = 0 .. n { s2: B[k, 0] = x[k] * 2.0 } }";
  expect_same_result(apart, "reorder(loop=j); fuse(first=i, second=k)");
  EXPECT_EQ(refusal(apart, "reorder(loop=k)"), "applied");
  EXPECT_EQ(refusal(apart, "reorder(loop=k); reorder(loop=k)"), "reorder.illegal");
  const std::string between =
      "loop o = 0 .. 2 { loop i = 0 .. n { s0: x[i] = B[i, 0] } s1: s[] = 1.0 "
      "loop k = 0 .. n { s2: B[k, 0] = x[k] * 2.0 } }";
  expect_same_result(between, "reorder(loop=k); fuse(first=i, second=k)");
  expect_same_result(between, "reorder(loop=i, to=behind); fuse(first=i, second=k)");
}

TEST(Steps, Distribute) {
  expect_same_result(both, "distribute(loop=i)");
  expect_same_result(both, "distribute(loop=i, at=2)");
}

TEST(Steps, ParallelizePrivatizesAndReduces) {
  expect_same_result("loop i = 0 .. n { s0: t[] = x[i] s1: x[i] = t[] * t[] }", "parallelize(loop=i)");
  auto temporary = run("loop i = 0 .. n { s0: t[] = x[i] s1: x[i] = t[] * t[] }", "parallelize(loop=i)");
  EXPECT_EQ(std::get<sdfg::Loop>(temporary->root.nodes[0].value).privates, std::vector<std::string>{"t"});
  // Integers are associative: no leave is needed.
  expect_same_result("loop i = 0 .. n { s0: c[] = c[] + k[i] }", "parallelize(loop=i)");
}

TEST(Steps, VectorizeAllowsWhatLockstepKeeps) {
  expect_same_result(copy2, "vectorize(loop=j)");
  expect_same_result("loop i = 0 .. n - 1 { s0: x[i] = x[i + 1] }", "vectorize(loop=i)");
  expect_same_result("loop i = 4 .. n { s0: x[i] = x[i - 4] }", "vectorize(loop=i, lanes=4)");
}

// What is under a condition on data is one statement for the analysis; in lockstep its states still run one by one.
TEST(Steps, VectorizeKnowsTheStatesUnderACondition) {
  const auto under = [](const std::string& body) { return "loop i = 0 .. n - 1 { if (s[] > 0.5) { " + body + " } }"; };
  EXPECT_EQ(refusal(under("s0: x[i] = 2.0 s1: A[i, 0] = x[i + 1]"), "vectorize(loop=i)"), "vectorize.carried");
  // The first of equal values stays where threads have neighbouring iterations each; lanes have not.
  const auto greatest = [](const std::string& compare) {
    return "loop i = 0 .. n { s0: s[] = select(x[i] " + compare + " s[], x[i], s[]) }";
  };
  EXPECT_EQ(refusal(greatest(">"), "parallelize(loop=i)"), "applied");
  EXPECT_EQ(refusal(greatest("<"), "parallelize(loop=i)"), "applied");
  EXPECT_EQ(refusal(greatest(">="), "parallelize(loop=i)"), "parallelize.carried");
  EXPECT_EQ(refusal("loop i = 0 .. n { s0: s[] = select(s[] > x[i], s[], x[i]) }", "parallelize(loop=i)"),
            "parallelize.carried");
  EXPECT_EQ(refusal(greatest(">"), "vectorize(loop=i)"), "vectorize.carried");
  // So each thread has to meet them in the order that they had, too; of integers nobody can tell.
  const auto over = [](const std::string& element, const std::string& to) {
    return "loop i = 0 .. n { loop j = 0 .. n { loop l = 0 .. n { s0: " + to + " = select(" + element + " > " + to +
           ", " + element + ", " + to + ") } } }";
  };
  const std::string floats = over("A[j, l]", "s[]"), integers = over("k[j + l - i]", "c[]");
  EXPECT_EQ(refusal(floats, "parallelize(loop=i)"), "applied");
  EXPECT_EQ(refusal(floats, "parallelize(loop=i); interchange(outer=j, inner=l)"), "interchange.illegal");
  EXPECT_EQ(refusal(floats, "parallelize(loop=i); reverse(loop=l)"), "reverse.illegal");
  EXPECT_EQ(refusal(floats, "parallelize(loop=j); interchange(outer=i, inner=j)"), "interchange.scheduled");
  EXPECT_EQ(refusal(floats, "parallelize(loop=i); vectorize(loop=l)"), "vectorize.carried");
  EXPECT_EQ(refusal(integers, "parallelize(loop=i); interchange(outer=j, inner=l)"), "applied");
  EXPECT_EQ(refusal("loop i = 0 .. n - 1 { if (x[i] > 0.5) { s0: x[i] = 2.0 } else { s1: A[i, 0] = x[i + 1] } }",
                    "vectorize(loop=i)"),
            "vectorize.carried");
  expect_same_result(under("s0: x[i] = x[i + 1]"), "vectorize(loop=i)");
  expect_same_result(under("if (x[i + 1] > 0.25) { s0: x[i] = x[i + 1] }"), "vectorize(loop=i)");
  expect_same_result(under("s0: A[i, 0] = x[i + 1] s1: B[i, 0] = x[i]"), "vectorize(loop=i)");
}

TEST(Steps, Unroll) { expect_same_result(copy2, "unroll(loop=j, factor=4)"); }

constexpr const char* product =
    "loop i = 0 .. n { loop j = 0 .. n { loop l = 0 .. n { s0: A[i, j] = A[i, j] + B[i, l] * B[l, j] } } }";

TEST(Steps, RegisterTileKeepsEveryElementsOrder) {
  expect_same_result(product, "register_tile(loops=[i, j], sizes=[3, 4], lanes=2)");
  expect_same_result(product,
                     "tile(loops=[i, j, l], sizes=[8, 8, 4]); register_tile(loops=[i, j], sizes=[2, 4], lanes=4)");
  expect_same_result(
      "loop i = 0 .. n { loop j = 0 .. i + 1 { loop l = 0 .. n { s0: A[i, j] = A[i, j] - B[i, l] * B[j, l] } } }",
      "register_tile(loops=[i, j], sizes=[2, 2], lanes=2)");
  expect_same_result(product, "register_tile(loops=[i, j], sizes=[4, 3], lanes=2, vector=outer)");
  auto tiled = run(product, "register_tile(loops=[i, j], sizes=[3, 4], lanes=2)");
  ASSERT_TRUE(tiled);
  EXPECT_TRUE(sdfg::check(*tiled)) << sdfg::check(*tiled).error().to_string();
  EXPECT_EQ(tiled->find("A_r")->storage, sdfg::Storage::registers);
  // Other steps may follow: their dependences are those of the new statements.
  expect_same_result(product, "register_tile(loops=[i, j], sizes=[3, 4], lanes=2); parallelize(loop=i_r)");
}

TEST(Steps, UncontractKeepsProductsOutOfSums) {
  expect_same_result(product, "uncontract(loop=l)", true);
  const auto apart =
      run("loop i = 0 .. n { s0: s[] = x[i] * B[i, 0] + s[] - B[i, i] * 2.0 }", "uncontract(loop=i)", true);
  ASSERT_TRUE(apart);
  EXPECT_NE(sdfg::print(*apart).find("uncontracted(x[i] * B[i, 0]) + s[] - uncontracted(B[i, i] * 2.0)"),
            std::string::npos)
      << sdfg::print(*apart);
}

constexpr const char* row =
    "loop i = 0 .. n - 1 { loop j = 0 .. n { s0: x[j] = B[i, j] } "
    "loop l = 0 .. n { loop j2 = 0 .. n { s1: x[j2] = x[j2] + B[l, j2] } } "
    "loop j3 = 0 .. n { s2: A[i, j3] = x[j3] + x[n - j3 - 1] } }";

// The argument keeps what the last iteration wrote; nothing where there is none (n = 1).
TEST(Steps, ExpandMakesIterationsIndependent) {
  EXPECT_EQ(refusal(row, "distribute(loop=i)"), "distribute.illegal");
  expect_same_result(row, "expand(loop=i)");
  expect_same_result(row, "expand(loop=i); distribute(loop=i); parallelize(loop=i)");
  expect_same_result("loop i = 0 .. n { s0: s[] = B[i, 0] s1: x[i] = s[] * 2.0 }",
                     "expand(loop=i); distribute(loop=i); vectorize(loop=i)");
  expect_same_result("loop o = 0 .. n { loop i = 0 .. n { s0: s[] = B[o, i] s1: A[o, i] = s[] * 2.0 } }",
                     "expand(loop=i); expand(loop=o); distribute(loop=i); parallelize(loop=o)");
}

// A copy that each iteration has stays in a cache: it gets places for all iterations only where nothing else waits.
TEST(Steps, ExpandLeavesCopiesWhereOthersWait) {
  const std::string text =
      "loop o = 0 .. n { loop i = 0 .. n { loop j = 0 .. n { s0: x[j] = B[i, j] } "
      "loop k = 0 .. n { s1: A[o, k] = A[o, k] + x[n - k - 1] } } }";
  const auto copies = [&](const std::string& steps) {
    const auto result = apply(nest(text), recipe_from_text(steps + " -> cpp").value(), {});
    EXPECT_TRUE(result) << result.error().to_string();
    return std::get<sdfg::Loop>(result->root.nodes[0].value).privates.size();
  };
  EXPECT_EQ(copies("expand(loop=i)"), 1U);
  EXPECT_EQ(copies("expand(loop=i); expand(loop=o)"), 1U);
  EXPECT_EQ(copies("expand(loop=i); expand(loop=o); expand(loop=o)"), 0U);
  expect_same_result(text, "expand(loop=i); expand(loop=o); expand(loop=o); distribute(loop=o)");
}

// An earlier iteration may have written what the last one does not, and a value may come from an earlier iteration.
TEST(Steps, ExpandKnowsTheLastValues) {
  EXPECT_EQ(refusal("loop i = 0 .. n { loop j = 0 .. n - i { s0: x[j] = B[i, j] } "
                    "loop j2 = 0 .. n - i { s1: A[i, j2] = x[j2] } }",
                    "expand(loop=i)"),
            "expand.nothing");
  EXPECT_EQ(refusal("loop i = 0 .. n { if (B[i, 0] > 0.0) { s0: s[] = B[i, 0] s1: x[i] = s[] } }", "expand(loop=i)"),
            "expand.nothing");
  EXPECT_EQ(refusal("loop i = 0 .. n { s0: x[i] = s[] s1: s[] = B[i, 0] }", "expand(loop=i)"), "expand.nothing");
}

// The same with a copy for each iteration, of which the last one fills the argument; nothing where there is none (n =
// 1).
TEST(Steps, PrivatizeMakesIterationsIndependent) {
  EXPECT_EQ(refusal(row, "parallelize(loop=i)"), "parallelize.carried");
  expect_same_result(row, "privatize(loop=i)");
  expect_same_result(row, "privatize(loop=i); parallelize(loop=i)");
  expect_same_result("loop i = 0 .. n { s0: s[] = B[i, 0] s1: x[i] = s[] * 2.0 }",
                     "privatize(loop=i); parallelize(loop=i)");
  // What stands around a loop is the last one's of that loop's last iteration.
  expect_same_result(
      "loop o = 0 .. n { loop i = 0 .. n { loop j = 0 .. n { s0: x[j] = B[o, j] + A[i, j] } "
      "loop j2 = 0 .. n { s1: A[i, j2] = x[n - j2 - 1] } } }",
      "privatize(loop=i); parallelize(loop=i)");
  // Several statements write it, some of them under a condition that is the same in each iteration.
  expect_same_result(
      "loop i = 0 .. n { loop j = 0 .. n { s0: x[j] = B[i, j] } if ({m}i64 > {2}i64) { s1: x[0] = 3.0 } "
      "loop j2 = 0 .. n { s2: A[i, j2] = x[n - j2 - 1] + x[0] } }",
      "privatize(loop=i); parallelize(loop=i)");
}

TEST(Steps, PrivatizeKnowsTheLastValues) {
  const char* filled = "loop j2 = 0 .. n { s1: A[i, j2] = x[j2] } }";
  const auto filling = [&](const std::string& loop) { return "loop i = 0 .. n { " + loop + filled; };
  EXPECT_EQ(refusal(filling("loop j = 0 .. n { s0: x[j] = B[i, j] } "), "privatize(loop=i)"), "applied");
  // Elements of earlier iterations, values of earlier iterations, conditions on data.
  EXPECT_EQ(refusal("loop i = 0 .. n { loop j = 0 .. n - i { s0: x[j] = B[i, j] } "
                    "loop j2 = 0 .. n - i { s1: A[i, j2] = x[j2] } }",
                    "privatize(loop=i)"),
            "privatize.nothing");
  EXPECT_EQ(refusal(filling("loop j = 1 .. n { s0: x[j] = B[i, j] } "), "privatize(loop=i)"), "privatize.nothing");
  EXPECT_EQ(refusal(filling("loop j = 0 .. n { if (B[i, j] > 0.0) { s0: x[j] = B[i, j] } } "), "privatize(loop=i)"),
            "privatize.nothing");
  EXPECT_EQ(refusal("loop i = 0 .. n { if (B[i, 0] > 0.0) { s0: s[] = B[i, 0] s1: x[i] = s[] } }", "privatize(loop=i)"),
            "privatize.nothing");
  // What the loop's own conditions, bounds and subscripts are read from stays where it is.
  EXPECT_EQ(refusal("loop i = 0 .. n { s0: c[] = k[i] s1: x[i] = B[i, c[]] }", "privatize(loop=i)"),
            "privatize.nothing");
}

// A condition behind the loop reads the container in a subscript only.
TEST(Steps, WhatSubscriptsOfConditionsReadIsSeen) {
  const std::string head =
      "sdfg 1 t symbols n array x: f64[n] argument array y: f64[n] argument array k: i64[n] argument array t: i64[n] "
      "heap transient arguments n, x, y, k ";
  const std::string behind = " loop q = 0 .. n { if (y[t[q]] > 0.5) { w: x[q] = 1.0 } }";
  const auto last = [&](const std::string& body, const std::string& steps) {
    const auto before = sdfg::parse(head + body + behind);
    EXPECT_TRUE(before) << before.error().to_string();
    const auto after = apply(*before, recipe_from_text(steps + " -> cpp").value(), {});
    if (!after) return after.error().code;
    return std::string(sdfg::touched(after->root).written.contains("t") ? "written" : "lost");
  };
  EXPECT_EQ(last("loop i = 0 .. n { s: t[i] = k[i] loop j = 0 .. n { u: x[j] = x[j] + f64(t[i]) } }",
                 "promote(loop=i, most=1)"),
            "written");
  EXPECT_EQ(last("loop i = 0 .. n { loop j = 0 .. n { s: t[j] = k[i] } loop j2 = 0 .. n { u: x[j2] = f64(t[j2]) } }",
                 "expand(loop=i)"),
            "written");
}

// What a loop elsewhere has privately is none of a step's business.
TEST(Steps, PrivatesElsewhereStayAsTheyAre) {
  const auto before = sdfg::parse(
      "sdfg 1 t symbols n array x: f64[n] argument array y: f64[n] argument array t: f64 stack transient array u: f64 "
      "stack transient arguments n, x, y loop i = 0 .. n { a: t[] = x[i] * 2.0 b: x[i] = t[] * t[] } "
      "loop j = 0 .. n { c: u[] = y[j] * 2.0 d: y[j] = u[] * u[] }");
  ASSERT_TRUE(before);
  const auto after = apply(*before, recipe_from_text("parallelize(loop=i); parallelize(loop=j) -> openmp").value(), {});
  EXPECT_TRUE(after) << after.error().to_string();
}

// Its accesses never run, so nothing says which of two loops they are in; code for them has to name one place all the
// same.
TEST(Steps, ATemporaryThatIsNeverUsedIsPrivateToOneLoop) {
  const std::string never =
      "loop i = 0 .. n { loop j = 0 .. n private(t) { if ({j}i64 > {n}i64) { s0: t[] = A[i, j] s1: A[i, j] = t[] * t[] "
      "} if ({j}i64 <= {n}i64) { s2: A[i, j] = 1.0 } } }";
  const auto cut = run(never, "distribute(loop=j, at=1)");
  ASSERT_TRUE(cut) << cut.error().to_string();
  const std::string text = sdfg::print(*cut);
  EXPECT_TRUE(text.contains("loop j = 0 .. n private(t) {")) << text;
  EXPECT_TRUE(text.contains("loop j_d = 0 .. n {")) << text;
  expect_same_result(never, "distribute(loop=j, at=1)");
  expect_same_result(never, "split(loop=j, at=i)");
  // Where both parts name it, and neither uses it.
  const std::string in_both =
      "loop i = 0 .. n { loop j = 0 .. n private(t) { if ({j}i64 > {n}i64) { s0: t[] = A[i, j] } "
      "if ({j}i64 > {n}i64) { s1: A[i, j] = t[] * t[] } } }";
  EXPECT_EQ(refusal(in_both, "distribute(loop=j)"), "distribute.illegal");
}

TEST(Steps, EveryRefusalIsProvoked) {
  struct Case {
    const char *body, *steps;
    bool reassociate;
    const char* code;
  };
  const Case cases[] = {
      {sweep, "interchange(outer=i, inner=j)", false, "interchange.illegal"},
      {copy2, "interchange(outer=j, inner=i)", false, "interchange.not-nested"},
      {copy2, "interchange(outer=q, inner=i)", false, "interchange.no-loop"},
      {copy2, "parallelize(loop=i); interchange(outer=i, inner=j)", false, "interchange.scheduled"},
      {"loop i = 0 .. n { loop j = i mod 3 .. n { s0: A[i, j] = 1.0 } }", "interchange(outer=i, inner=j)", false,
       "interchange.bounds"},
      {sweep, "tile(loops=[i, j], sizes=[4, 4])", false, "tile.illegal"},
      {copy2, "tile(loops=[i, j], sizes=[4])", false, "tile.sizes"},
      {copy2, "tile(loops=[j, i], sizes=[4, 4])", false, "tile.not-nested"},
      {copy2, "tile(loops=[q], sizes=[4])", false, "tile.no-loop"},
      {"loop i = 0 .. n step 2 { s0: x[i] = 1.0 }", "tile(loops=[i], sizes=[4])", false, "tile.step"},
      {copy2, "vectorize(loop=j); tile(loops=[i, j], sizes=[4, 4])", false, "tile.scheduled"},
      {"loop i = 0 .. n { loop j = i mod 3 .. n { s0: A[i, j] = 1.0 } }", "tile(loops=[i, j], sizes=[4, 4])", false,
       "tile.bounds"},
      {copy2, "offload(loops=[q], sizes=[4])", false, "offload.no-loop"},
      {copy2, "offload(loops=[j, i], sizes=[4, 4])", false, "offload.not-nested"},
      {copy2, "offload(loops=[i, j], sizes=[4])", false, "offload.sizes"},
      {copy2, "offload(loops=[i, j], sizes=[64, 32])", false, "offload.threads"},
      {"loop i = n - 1 .. -1 step -1 { s0: x[i] = 1.0 }", "offload(loops=[i], sizes=[4])", false, "offload.step"},
      {"loop i = 0 .. n { loop j = i mod 3 .. n { s0: A[i, j] = 1.0 } }", "offload(loops=[i, j], sizes=[4, 4])", false,
       "offload.bounds"},
      {copy2, "offload(loops=[j], sizes=[4]); offload(loops=[i], sizes=[4])", false, "offload.scheduled"},
      {copy2, "parallelize(loop=i); offload(loops=[i], sizes=[4])", false, "offload.scheduled"},
      {sweep, "offload(loops=[i], sizes=[4])", false, "offload.carried"},
      {"loop i = 0 .. n { s0: k[0] = k[0] + 1i64 }", "offload(loops=[i], sizes=[4])", false, "offload.carried"},
      {copy2, "preserve(loop=q)", false, "preserve.no-loop"},
      {rows_below, "parallelize(loop=q); preserve(loop=q)", false, "preserve.step"},
      {copy2, "preserve(loop=i)", false, "preserve.nothing"},
      {"loop q = 0 .. 3 { loop i = 1 .. n - 1 { s0: x[i] = x[i - 1] + x[i + 1] } }", "preserve(loop=q)", false,
       "preserve.nothing"},
      {"loop i = 0 .. n { loop j = i + 1 .. min(i + 3, n) { s0: x[i] = x[i] + x[j] } }", "preserve(loop=i)", false,
       "preserve.size"},
      {copy2, "meet(loops=[q], down=2, across=4)", false, "meet.no-loop"},
      {copy2, "meet(loops=[j, i], down=2, across=4)", false, "meet.not-nested"},
      {copy2, "parallelize(loop=i); meet(loops=[i], down=2, across=4)", false, "meet.scheduled"},
      {copy2, "offload(loops=[j], sizes=[4]); meet(loops=[i], down=2, across=4)", false, "meet.scheduled"},
      {"loop i = n - 1 .. -1 step -1 { loop j = 0 .. n { s0: A[i, j] = 1.0 } }", "meet(loops=[i], down=2, across=4)",
       false, "meet.step"},
      {sweep, "meet(loops=[i], down=2, across=4)", false, "meet.carried"},
      {"loop i = 0 .. n { s0: x[i] = 1.0 }", "meet(loops=[i], down=2, across=4)", false, "meet.nothing"},
      {copy2, "meet(loops=[i], down=64, across=32)", false, "meet.threads"},
      {"loop i = 0 .. n { loop j = 0 .. n { s0: w[j] = A[i, j] } loop q = 0 .. n { s1: B[i, q] = w[n - 1 - q] } }",
       "meet(loops=[i], down=2, across=4)", false, "meet.private"},
      {copy2, "stage(loop=q, size=4)", false, "stage.no-loop"},
      {copy2, "stage(loop=j, size=4)", false, "stage.place"},
      {triangle, "offload(loops=[i], sizes=[4]); stage(loop=j, size=4)", false, "stage.bounds"},
      {"loop i = 0 .. n { loop j = 0 .. n { s0: w[j] = B[i, j] * x[j] } loop q = 0 .. n { s1: A[i, q] = w[q] } }",
       "offload(loops=[i], sizes=[4]); stage(loop=j, size=4)", false, "stage.private"},
      {"loop i = 0 .. n { loop j = 0 .. n { s0: A[i, j] = B[i, j] } }",
       "offload(loops=[i], sizes=[4]); stage(loop=j, size=4)", false, "stage.nothing"},
      {"loop i = 0 .. n { loop q = 0 .. n { loop j = 0 .. n { s0: A[i, q] = A[i, q] + B[q, j] } } }",
       "offload(loops=[i, q], sizes=[4, 64]); stage(loop=j, size=1024)", false, "stage.size"},
      {copy2, "skew(loop=i, by=j)", false, "skew.not-around"},
      {copy2, "skew(loop=q, by=i)", false, "skew.no-loop"},
      {"loop i = 1 .. n { s0: x[i] = x[i - 1] }", "reverse(loop=i)", false, "reverse.illegal"},
      {copy2, "reverse(loop=q)", false, "reverse.no-loop"},
      {"loop i = 0 .. n step 2 { s0: x[i] = 1.0 }", "reverse(loop=i)", false, "reverse.step"},
      {late, "fuse(first=i, second=j)", false, "fuse.illegal"},
      {two, "fuse(first=j, second=i)", false, "fuse.not-neighbours"},
      {two, "reorder(loop=j)", false, "reorder.illegal"},
      {two, "reorder(loop=i)", false, "reorder.nothing"},
      {two, "reorder(loop=j, to=behind)", false, "reorder.nothing"},
      {two, "reorder(loop=q)", false, "reorder.no-loop"},
      {two, "fuse(first=i, second=q)", false, "fuse.no-loop"},
      {two, "parallelize(loop=i); fuse(first=i, second=j)", false, "fuse.scheduled"},
      {"loop o = 0 .. n { loop k = max(0, o - 2) .. n { s0: x[k] = 1.0 } loop l = 0 .. n { s1: s[] = x[l] } }",
       "fuse(first=k, second=l, align=begin)", false, "fuse.align"},
      {"loop i = 0 .. n step 2 { s0: x[i] = 1.0 } loop j = 0 .. n { s1: A[j, 0] = 1.0 }", "fuse(first=i, second=j)",
       false, "fuse.step"},
      {"loop i = 0 .. n - 1 { s0: A[i, 0] = x[i] s1: x[i + 1] = B[i, 0] }", "distribute(loop=i)", false,
       "distribute.illegal"},
      {copy2, "distribute(loop=j)", false, "distribute.nothing"},
      {both, "distribute(loop=q)", false, "distribute.no-loop"},
      {both, "unroll(loop=i); distribute(loop=i)", false, "distribute.scheduled"},
      {sum, "parallelize(loop=i)", false, "parallelize.carried"},
      {sum, "parallelize(loop=i)", true, "applied"},
      {"loop i = 1 .. n { s0: x[i] = x[i - 1] }", "parallelize(loop=i)", true, "parallelize.carried"},
      {copy2, "parallelize(loop=q)", false, "parallelize.no-loop"},
      {copy2, "parallelize(loop=i); parallelize(loop=i)", false, "parallelize.scheduled"},
      {"loop i = 1 .. n { s0: x[i] = x[i - 1] }", "vectorize(loop=i)", false, "vectorize.carried"},
      {"loop i = 4 .. n { s0: x[i] = x[i - 4] }", "vectorize(loop=i, lanes=8)", false, "vectorize.carried"},
      {copy2, "vectorize(loop=q)", false, "vectorize.no-loop"},
      {copy2, "vectorize(loop=j); vectorize(loop=j)", false, "vectorize.scheduled"},
      {copy2, "unroll(loop=q)", false, "unroll.no-loop"},
      {copy2, "unroll(loop=j); unroll(loop=j)", false, "unroll.scheduled"},
      {copy2, "prefetch(loop=q, distance=8)", false, "prefetch.no-loop"},
      {copy2, "prefetch(loop=j, distance=0)", false, "recipe.parameter"},
      {copy2, "split(loop=q, at=i)", false, "split.no-loop"},
      {copy2, "split(loop=i, at=j)", false, "split.not-around"},
      {copy2, "split(loop=i, at=i)", false, "split.not-around"},
      {copy2, "unroll(loop=j); split(loop=j, at=i)", false, "split.step"},
      {copy2, "split(loop=j, at=i, offset=0); split(loop=j, at=i, offset=1)", false, "split.nothing"},
      {copy2, "split(loop=j, offset=0)", false, "split.nothing"},
      {"loop i = 0 .. n { loop j = 0 .. i mod 3 { s0: A[i, j] = 1.0 } }", "split(loop=j, at=i, where=ended)", false,
       "split.bounds"},
      {"loop i = 0 .. n { loop j = 0 .. n private(t) { s2: t[] = x[j] loop l = 0 .. n private(t) { s0: t[] = A[j, l] "
       "s1: A[j, l] = t[] * t[] } } }",
       "split(loop=j, at=i)", false, "split.illegal"},
      {copy2, "sink(loop=q)", false, "sink.no-loop"},
      {copy2, "sink(loop=j)", false, "sink.nothing"},
      {two, "sink(loop=i, count=2)", false, "sink.nothing"},
      {two, "sink(loop=i, what=before)", false, "sink.nothing"},
      {two, "unroll(loop=i); sink(loop=i)", false, "sink.step"},
      {"loop i = 0 .. m - 3 { s0: x[0] = 1.0 } s1: x[0] = 2.0", "sink(loop=i)", false, "sink.illegal"},
      {two, "join(first=i, second=q)", false, "join.no-loop"},
      {two, "join(first=j, second=i)", false, "join.not-neighbours"},
      {two, "join(first=j)", false, "join.not-neighbours"},
      {both, "join(first=i)", false, "join.not-neighbours"},
      {"loop i = 0 .. n { loop j = 0 .. i { s0: x[j] = 1.0 } s1: x[i] = 2.0 }", "join(first=j)", false,
       "join.different"},
      {"loop i = 0 .. n { s0: x[i] = 1.0 } loop j = n .. n { s1: x[j] = 1.0 }",
       "unroll(loop=i); join(first=i, second=j)", false, "join.step"},
      {two, "join(first=i, second=j)", false, "join.range"},
      {"loop i = 0 .. m { s0: s[] = 1.0 } loop j = m .. n { s1: s[] = 1.0 }", "join(first=i, second=j)", false,
       "join.range"},
      {"loop i = 0 .. n { loop j = 0 .. i { s0: A[i, j] = 1.0 } loop l = i .. n { s1: A[i, l] = 2.0 } }",
       "join(first=j, second=l)", false, "join.different"},
      {copy2, "tyle(loops=[i], sizes=[4])", false, "recipe.unknown-step"},
      {copy2, "tile(loops=[i], size=[4])", false, "recipe.parameter"},
      {copy2, "tile(loops=[i], sizes=[0])", false, "recipe.parameter"},
      {copy2, "tile(loops=[i], sizes=[l9_bytes])", false, "recipe.size"},
      {copy2, "register_tile(loops=[q, j], sizes=[2, 2], lanes=2)", false, "register-tile.no-loop"},
      {copy2, "register_tile(loops=[i, j], sizes=[2, 2], lanes=2)", false, "register-tile.not-nested"},
      {product, "register_tile(loops=[i, j], sizes=[2, 3], lanes=2)", false, "register-tile.sizes"},
      {product, "unroll(loop=l); register_tile(loops=[i, j], sizes=[2, 2], lanes=2)", false, "register-tile.step"},
      {"loop i = 0 .. n { loop j = 0 .. n { loop l = j .. n { s0: A[i, j] = A[i, j] + B[i, l] } } }",
       "register_tile(loops=[i, j], sizes=[2, 2], lanes=2)", false, "register-tile.bounds"},
      {"loop i = 0 .. n { loop j = 0 .. n { loop l = 0 .. n { if ({l}i64 < 3i64) { s0: A[i, j] = 1.0 } } } }",
       "register_tile(loops=[i, j], sizes=[2, 2], lanes=2)", false, "register-tile.body"},
      {"loop i = 0 .. n { loop j = 0 .. n { loop l = 0 .. n { s0: A[j, l] = A[j, l] + B[i, l] } } }",
       "register_tile(loops=[i, j], sizes=[2, 2], lanes=2)", false, "register-tile.not-invariant"},
      {product, "register_tile(loops=[j], sizes=[2, 2], lanes=2)", false, "register-tile.sizes"},
      {"loop i = 1 .. n { loop j = 0 .. n - 1 { loop l = 0 .. n { s0: A[i, j] = A[i - 1, j + 1] + B[i, l] } } }",
       "register_tile(loops=[i, j], sizes=[2, 2], lanes=2)", false, "register-tile.illegal"},
      {"loop o = 0 .. n { loop i = 0 .. n { loop j = 0 .. n { loop l = 0 .. n { s0: A[i, j] = A[i, j] + B[i, l] } } } "
       "}",
       "parallelize(loop=o); register_tile(loops=[i, j], sizes=[2, 2], lanes=2)", true, "register-tile.reduced"},
      {"loop i = 0 .. n floordiv 2 { loop j = 0 .. n { loop l = 0 .. n { s0: A[i, j] = A[i, j] + B[2 * i, l] } } }",
       "register_tile(loops=[i, j], sizes=[2, 2], lanes=2, partial=padded)", false, "register-tile.padding"},
      {copy2, "uncontract(loop=q)", false, "uncontract.no-loop"},
      {product, "uncontract(loop=l)", false, "uncontract.leave"},
      {copy2, "uncontract(loop=i)", true, "uncontract.nothing"},
      {copy2, "expand(loop=q)", false, "expand.no-loop"},
      {"loop i = 0 .. n step 2 { s0: s[] = B[i, 0] s1: x[i] = s[] }", "expand(loop=i)", false, "expand.step"},
      {sum, "expand(loop=i)", false, "expand.nothing"},
      {"loop o = n .. 0 step -1 { loop i = 0 .. o { s0: s[] = B[i, 0] s1: x[i] = s[] } }", "expand(loop=i)", false,
       "expand.size"},
      {copy2, "privatize(loop=q)", false, "privatize.no-loop"},
      {"loop i = 0 .. n step 2 { s0: s[] = B[i, 0] s1: x[i] = s[] }", "privatize(loop=i)", false, "privatize.step"},
      {sum, "privatize(loop=i)", false, "privatize.nothing"},
      {copy2, "pack(loop=i, panel=q)", false, "pack.no-loop"},
      {copy2, "pack(loop=j, panel=i)", false, "pack.not-inside"},
      {copy2, "vectorize(loop=j, lanes=4); pack(loop=i, panel=j)", false, "pack.scheduled"},
      {triangle, "pack(loop=i, panel=q)", false, "pack.no-loop"},
      {"loop i = 0 .. n { loop j = 0 .. n - 1 { s0: A[i, j] = A[i, j + 1] + 1.0 } }", "pack(loop=i, panel=j)", false,
       "pack.nothing"},
      {"loop i = 0 .. 2 { loop j = 0 .. n { if ({j}i64 != {3}i64) { s0: A[i, 0] = x[j] } } }", "pack(loop=i, panel=j)",
       false, "pack.footprint"},
      {"loop o = n .. 0 step -1 { loop i = 0 .. 2 { loop j = 0 .. o { s0: A[0, 0] = A[0, 0] + x[j] } } }",
       "pack(loop=i, panel=j)", false, "pack.size"},
      {relaxed, "time_tile(loop=q, loops=[i, j], sizes=[8, 8], steps=2)", false, "time-tile.no-loop"},
      {relaxed, "time_tile(loop=o, loops=[j, i], sizes=[8, 8], steps=2)", false, "time-tile.not-nested"},
      {relaxed, "time_tile(loop=o, loops=[i, j], sizes=[8], steps=2)", false, "time-tile.sizes"},
      {relaxed, "time_tile(loop=i, loops=[i, j], sizes=[9, 9], steps=2)", false, "time-tile.place"},
      {seidel, "time_tile(loop=i, loops=[j], sizes=[9], steps=2)", false, "time-tile.sweeps"},
      {"loop o = 0 .. n { loop i = 0 .. n { loop j = 0 .. n { s0: A[i, j] = B[i + 2000, j] } } "
       "loop k = 0 .. n { loop l = 0 .. n { s1: B[k, l] = A[k, l] } } }",
       "time_tile(loop=o, loops=[i], sizes=[9], steps=2)", false, "time-tile.distances"},
      {relaxed, "overlap(loop=q, loops=[i, j], sizes=[8, 8])", false, "overlap.no-loop"},
      {relaxed, "overlap(loop=o, loops=[j, i], sizes=[8, 8])", false, "overlap.not-nested"},
      {relaxed, "overlap(loop=o, loops=[i, j], sizes=[8])", false, "overlap.sizes"},
      {relaxed, "overlap(loop=o, loops=[i, j], sizes=[4, 4])", false, "overlap.tile"},
      {relaxed, "overlap(loop=i, loops=[i, j], sizes=[9, 9])", false, "overlap.place"},
      {relaxed, "overlap(loop=o, loops=[i], sizes=[9])", false, "overlap.subscripts"},
      {seidel, "overlap(loop=i, loops=[j], sizes=[9])", false, "overlap.subscripts"},
      {"loop o = 0 .. n { loop i = 0 .. n { loop j = 0 .. o { s0: A[i, j] = A[i, j] + 1.0 } } }",
       "overlap(loop=o, loops=[i, j], sizes=[9, 9])", false, "overlap.body"},
      {"loop o = 0 .. n { loop i = 0 .. n { loop j = 0 .. n { s0: A[i, j] = B[i, j] } } }",
       "overlap(loop=o, loops=[i, j], sizes=[9, 9])", false, "overlap.carried"},
      {relaxed, "block_pivots(loop=q)", false, "block-pivots.no-loop"},
      {copy2, "parallelize(loop=i); block_pivots(loop=i)", false, "block-pivots.place"},
      {relaxed, "block_pivots(loop=o)", false, "block-pivots.body"},
      {paths, "block_pivots(loop=o, size=33)", false, "block-pivots.tile"},
      {"loop o = 0 .. n { loop i = 0 .. n { loop j = 0 .. o { s0: A[i, j] = A[i, j] + 1.0 } } }",
       "block_pivots(loop=o)", false, "block-pivots.bounds"},
      {"loop o = 0 .. n { loop i = 0 .. n { loop j = 0 .. n { s0: A[i, j] = A[o, o] } } }", "block_pivots(loop=o)",
       false, "block-pivots.subscripts"},
      {copy2, "promote(loop=q, most=1)", false, "promote.no-loop"},
      {triangle, "vectorize(loop=j); promote(loop=j, most=1)", false, "promote.scheduled"},
      {triangle, "unroll(loop=i); promote(loop=j, most=1)", false, "promote.scheduled"},
      {copy2, "promote(loop=j, most=64)", false, "promote.nothing"},
      {"loop i = 0 .. n { loop j = 0 .. n { if (x[j] > 1.0) { s0: A[i, 0] = A[i, 0] + x[j] } } }",
       "promote(loop=i, most=1)", false, "promote.footprint"},
      {"loop i = 0 .. n { loop j = 0 .. n { loop l = 0 .. n { s0: A[i, j] = A[i, j] + B[i, l] } } }",
       "promote(loop=i, most=4096)", false, "promote.size"},
  };
  // In tests of their own: arrays here are apart; computed_ahead_test.cc.
  std::set<std::string> provoked{"overlap.alias",  "block-pivots.alias", "detach.no-loop",
                                 "detach.nothing", "detach.scheduled",   "hand-over.no-loop",
                                 "hand-over.step", "hand-over.nothing",  "hand-over.size"};
  for (const Case& c : cases) {
    EXPECT_EQ(refusal(c.body, c.steps, c.reassociate), c.code) << c.body << "\n" << c.steps;
    provoked.insert(c.code);
  }
  for (const StepInfo* step : steps())
    for (const RefusalInfo& r : step->refusals) EXPECT_TRUE(provoked.contains(std::string(r.code))) << r.code;
}

// What a declaration says of a list is known without a nest.
TEST(Steps, ListsThatDoNotFitAreMistakesInTheRecipe) {
  const auto mistake = [](const std::string& step) {
    const auto recipe = recipe_from_text(step + " -> cpp");
    return recipe ? "" : recipe.error().code + ": " + recipe.error().why;
  };
  EXPECT_EQ(mistake("tile(loops=[i, j], sizes=[4])"), "tile.sizes: tile's sizes are as many as its loops, not 1 for 2");
  EXPECT_EQ(mistake("register_tile(loops=[i, j, k], sizes=[2, 2, 2], lanes=2)"),
            "recipe.parameter: register_tile's loops takes loops, 1 to 2, not [i, j, k]");
  EXPECT_EQ(mistake("tile(loops=[], sizes=[])"), "recipe.parameter: tile's loops takes loops, not []");
}

// A default is declared once, and is what the step does without the parameter.
TEST(Steps, DefaultsAreWhatIsDeclared) {
  for (const StepInfo* step : steps())
    for (const ParamInfo& p : step->params) {
      const bool loops = p.type == ParamType::Loop || p.type == ParamType::Loops;
      EXPECT_EQ(p.required || loops, std::holds_alternative<std::monostate>(p.default_value)) << p.name;
    }
  const auto printed = [](const std::string& steps) {
    const auto result = run(copy2, steps);
    return result ? sdfg::print(*result) : result.error().to_string();
  };
  EXPECT_EQ(printed("unroll(loop=j)"), printed("unroll(loop=j, factor=4)"));
  EXPECT_EQ(printed("tile(loops=[i], sizes=[4])"), printed("tile(loops=[i], sizes=[4], count=points)"));
  EXPECT_NE(printed("tile(loops=[i], sizes=[4])"), printed("tile(loops=[i], sizes=[4], count=numbers)"));
}

TEST(Steps, ARecipeIsAppliedAsFarAsItFitsOnRequestOnly) {
  using Refused = ApplyOptions::Refused;
  const auto some = [](const std::string& steps, Refused refused, std::vector<StepReport>& reports) {
    return apply(nest(sweep), *recipe_from_text(steps + " -> cpp"), {.context = {}, .budget = {}, .refused = refused},
                 &reports);
  };
  const std::string steps = "skew(loop=j, by=i); interchange(outer=i, inner=j); interchange(outer=i, inner=j)";
  std::vector<StepReport> atomic, reports;
  EXPECT_EQ(some(steps, Refused::Fail, atomic).error().code, "interchange.not-nested");
  const auto part = some(steps + "; unroll(loop=i)", Refused::Stop, reports);
  ASSERT_TRUE(part);
  EXPECT_EQ(sdfg::print(*part), sdfg::print(*run(sweep, "skew(loop=j, by=i); interchange(outer=i, inner=j)")));
  ASSERT_EQ(reports.size(), 3U);  // what follows the refusal is not tried
  EXPECT_TRUE(reports[0].applied && reports[1].applied && !reports[2].applied);
  EXPECT_TRUE(reports[2].refusal.ends_with("[interchange.not-nested]")) << reports[2].refusal;
  // Where nothing fits, the nest is what it was; where all does, there is no difference.
  EXPECT_EQ(some("reverse(loop=q)", Refused::Stop, reports), nest(sweep));
  EXPECT_EQ(some("skew(loop=j, by=i)", Refused::Stop, reports), some("skew(loop=j, by=i)", Refused::Fail, reports));
  // Or without the steps that do not.
  std::vector<StepReport> others;
  const auto rest = some("skew(loop=j, by=i); reverse(loop=q); unroll(loop=j)", Refused::LeaveOut, others);
  EXPECT_EQ(rest, some("skew(loop=j, by=i); unroll(loop=j)", Refused::Fail, reports));
  ASSERT_EQ(others.size(), 3U);
  EXPECT_TRUE(others[0].applied && !others[1].applied && others[2].applied);
}

TEST(Steps, MistakesInRecipes) {
  EXPECT_EQ(recipe_from_text("-> cqp").error().why, "there is no target cqp, did you mean cpp?");
}

TEST(Recipe, JsonAndTextRoundTrip) {
  auto recipe = recipe_from_text(
      "tile(loops=[i, j], sizes=[32, l1_bytes floordiv 8]); parallelize(loop=i_t, kind=dynamic) -> openmp");
  ASSERT_TRUE(recipe) << recipe.error().to_string();
  EXPECT_EQ(recipe_from_json(to_json(*recipe)), recipe);
  EXPECT_EQ(recipe_from_text(to_text(*recipe)), recipe);
  EXPECT_EQ(recipe_from_json("{\"version\": 2}").error().code, "recipe.version");
  EXPECT_EQ(recipe_from_json("[1").error().code, "recipe.json");
  EXPECT_EQ(recipe_from_json(std::string(100, '[')).error().code, "recipe.budget");
}

// No dependence: x[0] is not among the elements read. But a reduction keeps partial results of x as a whole.
TEST(Steps, AReducedContainerIsUsedInNoOtherWay) {
  const char* reads_elsewhere = "loop i = 1 .. n { s0: k[0] = k[0] + 1i64 s1: x[i] = f64(k[i]) }";
  EXPECT_EQ(refusal(reads_elsewhere, "parallelize(loop=i)"), "parallelize.carried");
  EXPECT_EQ(refusal("loop i = 1 .. n { s0: k[0] = k[0] + 1i64 }", "parallelize(loop=i)"), "applied");
}

// Each block keeps its row in memory that its threads share; what is sequential all of them run, what is not parallel
// one of them.
TEST(Meet, ThreadsShareOutWhatIsParallel) {
  const std::string rows =
      "loop i = 0 .. n { s0: x[i] = x[i] + 1.0 loop m1 = 0 .. m { loop j = 1 .. n { s1: A[i, j] = A[i, j] + A[i, 0] * "
      "x[i] } loop q = 0 .. n { s2: B[i, q] = B[i, q] + A[i, n - 1 - q] } } }";
  const std::string steps = "meet(loops=[i], down=2, across=3)";
  const auto result = run(rows, steps);
  ASSERT_TRUE(result) << result.error().to_string();
  const std::string text = sdfg::print(*result);
  EXPECT_TRUE(text.contains("loop one = 0 .. 1 gpu_block(dimension=0)")) << text;
  EXPECT_TRUE(text.contains("loop m1 = 0 .. m {")) << text;
  EXPECT_TRUE(text.contains("loop j_m = 1 .. 7 gpu_block(dimension=0)")) << text;
  EXPECT_TRUE(text.contains("loop j = j_m .. n step 6")) << text;
  expect_same_result(rows, steps);
}

TEST(Meet, WhatIsPrivateIsShared) {
  const std::string rows =
      "loop i = 0 .. n { loop r = 0 .. 3 { loop j = 0 .. n { s0: A[i, j] = A[i, j] + x[j] * A[i, j] } } }";
  const std::string small =
      "loop i = 0 .. n { loop r = 0 .. 3 { loop j = 0 .. min(n, 4) { loop q = 0 .. 1 { s0: A[i, j] "
      "= A[i, j] + x[j] * A[i, j] } } } }";
  EXPECT_EQ(refusal(rows, "meet(loops=[i], down=2, across=2)"), "applied");
  const std::string steps = "promote(loop=i, most=64); meet(loops=[i], down=2, across=2)";
  const auto result = run(small, steps);
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_TRUE(sdfg::print(*result).contains("device_shared")) << sdfg::print(*result);
  expect_same_result(small, steps);
}

// Where an inner loop begins elsewhere in each iteration of the outer one, they change places; what has no more
// iterations than threads is no loop of a thread.
TEST(Meet, TrianglesHaveBothKindsOfThreads) {
  const std::string rows =
      "loop i = 0 .. n { loop j = 0 .. min(n, 3) { loop k = j + 1 .. n { s0: A[j, k] = A[j, k] + x[i] * 0.5 } } }";
  EXPECT_EQ(refusal(rows, "meet(loops=[i], down=4, across=2)"), "meet.carried");
  const std::string triangle =
      "loop i = 0 .. 1 { loop j = 0 .. min(n, 3) { loop k = j + 1 .. n { s0: A[j, k] = A[j, k] + x[j] * 0.5 } } }";
  const std::string steps = "meet(loops=[i], down=4, across=2)";
  const auto result = run(triangle, steps);
  ASSERT_TRUE(result) << result.error().to_string();
  const std::string text = sdfg::print(*result);
  EXPECT_TRUE(text.contains("loop k_m = 1 .. 3 gpu_block(dimension=0)")) << text;
  EXPECT_TRUE(text.contains("loop j_m = 0 .. 4 gpu_block(dimension=1)")) << text;
  EXPECT_TRUE(text.contains("loop k = k_m .. n step 2")) << text;
  EXPECT_TRUE(text.contains("loop j = j_m .. min(")) << text;
  expect_same_result(triangle, steps);
}

}  // namespace
}  // namespace sous::transforms
