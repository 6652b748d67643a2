// What every target prints and means, feature by feature.
#include <cstring>

#include "targets/cpp/extents.h"
#include "tests/unit/targets/emitting.h"

namespace sous::targets {
namespace {

TEST(Features, PlainLoopIsReadable) {
  const std::string text = emitted("cpp", parsed(R"(sdfg 1 scale symbols n
array A: f64[n, 1200] argument  array s: f64 argument  arguments n, s, A
loop i = 0 .. n { loop j = 1 .. 1200 step 2 { s0: A[i, j] = s[] * A[i, j - 1] } })"));
  EXPECT_TRUE(
      text.contains("  for (int64_t i = 0; i < n; ++i) {\n"
                    "    for (int64_t j = 1; j < 1200; j += 2) {\n"
                    "      A[i * 1200 + j] = s * A[i * 1200 + j - 1];\n"
                    "    }\n"
                    "  }\n"))
      << text;
  EXPECT_TRUE(
      text.contains("static __attribute__((noinline)) void kernel_nest(int64_t n, double s, double* __restrict A) {"))
      << text;
}

TEST(Features, OnlyNarrowUnsignedReadsAreNeverNegative) {
  const std::string text = emitted("cpp", parsed(R"(sdfg 1 t symbols n
array A: f64[4] argument  array d: u64[n] argument  array e: u32[n] argument  arguments n, A, d, e
loop i = 0 .. n { s0: A[d[i] mod 4] = A[e[i] mod 4] })"));
  EXPECT_TRUE(text.contains("A[sous::floor_mod((int64_t)d[i], 4)] = A[(int64_t)e[i] % 4]")) << text;
}

TEST(Features, ScalarsIfsWhilesAndReturns) {
  expect_like_interpreter(R"(sdfg 1 t symbols n
array A: f64[n + 1] argument  array s: f64 argument  array c: i32 argument  arguments n, A, s, c
s0: c[] = 0i32
while (c[] < 5i32) { s1: c[] = c[] + 2i32 }
loop i = 0 .. n {
  if (A[i] > 0.0) { s2: s[] += A[i] } else { s3: A[i] = -A[i] }
  if (s[] > 100.0) { s4: s[] = 1.0 }
})",
                          {0, 1, 17});
}

// Threads that share what each should have of its own are right by luck: the text is looked at, too.
TEST(Features, PrivatesLargeAndSmallInParallelLoops) {
  const std::string graph = R"(sdfg 1 t symbols n
array A: f64[n, n] argument  array B: f64[n, n] argument
array small: f32[4] stack transient  array large: f64[n + 1] heap transient  array x: f64 registers transient
arguments n, A, B
loop i = 0 .. n parallel private(small, large, x) {
  s0: x[] = A[i, 0] + 1.0
  loop j = 0 .. n { s1: large[j] = A[i, j] * x[] }
  loop k = 0 .. 4 unroll(factor=3) { s2: small[k] = f32(x[] + {k}f64) }
  loop l = 0 .. n { s3: B[i, l] = large[n - 1 - l] + f64(small[l mod 4]) }
})";
  EXPECT_TRUE(emitted("openmp", parsed(graph)).contains("sous::thread() * "));
  expect_like_interpreter(graph, {1, 7, 130});
}

// Parallel loops in each other are handed out together: of few iterations outside, each thread gets its part inside.
TEST(Features, ParallelLoopsInEachOtherAreOne) {
  const std::string graph = R"(sdfg 1 t symbols n, m
array A: f64[3, n + 2, 2 * m + 2, 4] argument  array y: f64[n + 9] argument  array x: f64 registers transient
array w: f32[4] stack transient  array large: f64[m + 1] heap transient  arguments n, m, A, y
loop b = 0 .. 3 parallel { loop i = n + 1 .. 1 step -1 parallel private(w) { loop j = 1 .. 2 * m parallel step 2 private(w, x) {
  s0: w[1] = f32(A[b, i, j, 0])
  s1: x[] = f64(w[1]) + {b * 100 + i * 10 + j}f64
  s2: A[b, i, j, 1] = x[] * 0.5 } } }
loop c = 0 .. 2 parallel(dynamic) { loop k = 0 .. n parallel(dynamic) private(large) {
  loop p = 0 .. m { s3: large[p] = A[c, k, p, 0] }
  loop q = 0 .. m - k { s4: A[c, k, q, 2] = large[m - 1 - q] } } }
loop d = 0 .. 3 parallel(chunk=3) { loop l = 0 .. n parallel { s5: A[d, l, 0, 3] = A[d, l, 1, 0] + {d - l}f64 } }
loop e = 0 .. 2 parallel { loop f = e .. n parallel { s6: A[e, f, 1, 3] = {e}f64 } }
loop g = 0 .. n parallel { loop h = 0 .. 4 parallel reduce(+: y) { s7: y[g] += A[0, g, 0, h] } })";
  const std::string code = emitted("openmp", parsed(graph));
  EXPECT_TRUE(code.contains("sous::trips_together(b_trips, i_trips, j_trips)")) << code;
  EXPECT_TRUE(code.contains("sous::dynamic_share(together")) << code;
  EXPECT_FALSE(code.contains("e_trips")) << "what one loop runs depends on the other";
  EXPECT_FALSE(code.contains("g_trips")) << "a sum";
  expect_like_interpreter(graph, {0, 1, 2, 7, 90});
}

TEST(Features, UnsafeNamesAreQuoted) {
  expect_like_interpreter(R"(sdfg 1 class symbols for
array double: f64[for] argument  array exp: f64 argument  array INT64_MAX: i64[for] argument
arguments for, double, exp, INT64_MAX
loop int = 0 .. for { s0: double[int] = exp(exp[]) + f64(INT64_MAX[int]) })",
                          {3});
}

TEST(Features, IntegersWrapInTheirOwnWidth) {
  expect_like_interpreter(R"(sdfg 1 t symbols n
array a: i8[n] argument  array b: u16[n] argument  array c: i32[n] argument  array d: u64[n] argument
arguments n, a, b, c, d
loop i = 0 .. n {
  s0: a[i] = a[i] * a[i] + 100i8
  s1: b[i] = ~(b[i] + 65535u16) >> 3i32
  s2: c[i] = (c[i] << 30i32) - 2147483647i32
  s3: d[i] = min(d[i], 12345678901234567890u64) ^ u64(c[i])
})",
                          {1, 33});
}

TEST(Features, UnsignedOrderAndGroupingAreKept) {
  expect_like_interpreter(R"(sdfg 1 t symbols n
array u: u32[n] argument  array A: f64[n] argument  array B: f64[n] argument  arguments n, u, A, B
loop i = 0 .. n {
  s0: A[i] = select(u[i] - 50u32 > u[i], A[i] - (B[i] - A[i] * 0.1), B[i] / (A[i] / 3.0))
})",
                          {0, 1, 17});
}

TEST(Features, FloorDivisionOfWhatMayBeNegative) {
  const std::string graph = R"(sdfg 1 t symbols n
array A: i64[2 * n + 20] argument  arguments n, A
loop i = 0 - n .. n { s0: A[i + n] = {(i floordiv 3) * 10 + i mod 3}i64 }
loop j = 0 .. n { s1: A[j mod 7 + j floordiv 2] = {j}i64 })";
  EXPECT_TRUE(emitted("cpp", parsed(graph)).contains("A[j / 2 + j % 7]"));
  EXPECT_TRUE(emitted("cpp", parsed(graph)).contains("sous::floor_div(i, 3)"));
  expect_like_interpreter(graph, {0, 1, 20});
}

TEST(Features, OverlappingArgumentsAreLeftAlone) {
  const sdfg::Sdfg graph = parsed(R"(sdfg 1 t symbols n
array A: f64[n] argument alias 1  array B: f64[n] argument alias 1  arguments n, A, B
disjoint A, B
loop i = 0 .. n { s0: A[i] = B[i] + 1.0 })");
  const std::string source = tests::source_file({emitted_function("cpp", graph)}, "") + R"(
extern "C" __attribute__((visibility("default"))) int overlap(const int64_t* symbols, void** buffers) {
  double* p = static_cast<double*>(buffers[0]);
  return kernel(4, p, p + *symbols);
})";
  EXPECT_TRUE(source.contains("double* __restrict A"));
  const sdfg::Sdfg shifted = parsed(R"(sdfg 1 t symbols n  array A: f64[12] argument  arguments A, n
s0: A[0] = 0.0)");
  // The wrapper calls the kernel on two pieces of one array, `n` elements apart.
  const std::string whole = source + R"(
static int shifted(double* p, int64_t n) { return kernel(4, p, p + n); })";
  const auto code = tests::GeneratedCode::compile(whole, {{&shifted, "shifted"}}, {.include_root = SOUS_SOURCE_DIR});
  ASSERT_TRUE(code) << code.error().why;
  for (const auto& [distance, runs] : {std::pair(3, 0), std::pair(4, 1), std::pair(8, 1)}) {
    sdfg::Memory memory{{{"n", distance}}, {{"A", {sdfg::ElementType::f64, std::vector<std::byte>(96)}}}};
    EXPECT_EQ(code->run(0, memory), runs) << distance;
    EXPECT_EQ(memory.buffers.at("A").bytes[7] != std::byte{}, runs == 1) << "nothing changes where it does not run";
  }
}

TEST(Features, TooLittleWorkAndBrokenAssumptionsAreRefused) {
  const sdfg::Sdfg graph = parsed(R"(sdfg 1 t symbols n
array A: f64[n + 5] argument  arguments n, A  assume n - 3 >= 0
loop i = 0 .. n { loop j = 0 .. i { s0: A[j] = 1.0 } })");
  const auto runs = [&](double least_work, const std::vector<std::pair<int, int>>& expected) {
    const Guard guard{.original = graph.root, .least_work = least_work};
    const std::string source = tests::source_file({emitted_function("cpp", graph, {.guards = {guard}})}, "");
    const auto code = tests::GeneratedCode::compile(source, {{&graph, "kernel"}}, {.include_root = SOUS_SOURCE_DIR});
    ASSERT_TRUE(code) << code.error().why;
    for (const auto& [n, runs] : expected) {
      sdfg::Memory memory{{{"n", n}}, {{"A", {sdfg::ElementType::f64, std::vector<std::byte>(160)}}}};
      EXPECT_EQ(code->run(0, memory), runs) << n;
    }
  };
  runs(28, {{2, 0}, {7, 0}, {8, 1}});  // 8 * 7 / 2
  runs(0, {{2, 0}, {3, 1}});
}

// Of the nest before its recipe, extent by extent: a tile that is not there does not count.
TEST(Features, AGuardCountsTheOriginal) {
  const sdfg::Sdfg original = parsed(R"(sdfg 1 t symbols n, m
array A: f64[n, m] argument  arguments n, m, A
loop i = 0 .. n { loop j = 0 .. m { loop k = j .. m { s0: A[i, k] = 1.0 } } })");
  const sdfg::Sdfg tiled = parsed(R"(sdfg 1 t symbols n, m
array A: f64[n, m] argument  arguments n, m, A
loop t = 0 .. n step 32 { loop i = t .. min(n, t + 32) { loop j = 0 .. m { loop k = j .. m { s0: A[i, k] = 1.0 } } } })");
  const std::string text = emitted(
      "cpp", tiled, {.guards = {{.original = original.root, .least_extents = {32, 1, 10}, .least_work = 1000}}});
  EXPECT_TRUE(
      text.contains("  if (m < 19 || n < 32) return 0;\n"
                    "  if (sous::extent(n) * sous::extent(m) * sous::extent(m + 1) * 0.5 < 1000.0) return 0;\n"))
      << text;
}

// Red and black: a remainder stands in the middle of what it can be.
TEST(Features, AGuardCountsLoopsThatBeginAtARemainder) {
  const sdfg::Sdfg graph = parsed(R"(sdfg 1 t symbols n, m, c
array A: f64[n, m] argument  arguments n, m, c, A
loop i = 1 .. n - 1 { loop j = 1 + (i + c) mod 2 .. m - 1 step 2 { s0: A[i, j] = 1.0 } })");
  const std::string text = emitted("cpp", graph, {.guards = {{.original = graph.root, .least_work = 1000}}});
  EXPECT_TRUE(text.contains("if (sous::extent(n - 2) * sous::extent(m * 2 - 5) * 0.25 < 1000.0) return 0;")) << text;
}

// Rows whose lengths are data: as long as they are in all, where the nest reads where they begin and end.
TEST(Features, AGuardCountsRowsWhoseLengthsAreData) {
  const std::string head = R"(sdfg 1 t symbols n
array start: i32[n + 1] argument const  array A: f64[64] argument  array on: i32[n] argument const
assume 1000 - n >= 0
arguments n, start, A, on
)";
  const std::string rows = "loop k = start[i] .. start[i + 1] { s0: A[i] = 1.0 }";
  const auto text_of = [&](const std::string& body) {
    const sdfg::Sdfg graph = parsed(head + body);
    return emitted("cpp", graph, {.guards = {{.original = graph.root, .least_extents = {2, 3}, .least_work = 12}}});
  };
  const std::string length = "(n > 0 ? sous::mean_length((int64_t)start[0], (int64_t)start[n], n) : 0.0)";
  const std::string text = text_of("loop i = 0 .. n { " + rows + " }");
  const std::string asked = "  if (!(1000 - n >= 0)) return 0;\n  if (" + length +
                            " < 3.0 || n < 2) return 0;\n  if (sous::extent(n) * " + length + " < 12.0) return 0;\n";
  EXPECT_TRUE(text.contains(asked)) << text;
  EXPECT_FALSE(text_of("loop i = 0 .. n { if (on[i] > 0i32) { " + rows + " } }").contains("mean_length"));

  const sdfg::Sdfg graph = parsed(head + "loop i = 0 .. n { " + rows + " }");
  const std::string source = tests::source_file(
      {emitted_function("cpp", graph,
                        {.guards = {{.original = graph.root, .least_extents = {2, 3}, .least_work = 12}}})},
      "");
  const auto code = tests::GeneratedCode::compile(source, {{&graph, "kernel"}}, {.include_root = SOUS_SOURCE_DIR});
  ASSERT_TRUE(code) << code.error().why;
  // Of none, nothing is read.
  for (const auto& [starts, runs] : std::vector<std::pair<std::vector<std::int32_t>, int>>{{{}, 0},
                                                                                           {{0, 20}, 0},
                                                                                           {{0, 3, 12}, 1},
                                                                                           {{0, 9, 11}, 0},
                                                                                           {{9, 4, 2}, 0},
                                                                                           {{0, 5, 5, 6, 8}, 0},
                                                                                           {{0, 0, 0, 12}, 1}}) {
    const std::int64_t n = starts.empty() ? 0 : static_cast<std::int64_t>(starts.size()) - 1;
    sdfg::Buffer bounds{sdfg::ElementType::i32, std::vector<std::byte>(starts.size() * 4)};
    if (!starts.empty()) std::memcpy(bounds.bytes.data(), starts.data(), bounds.bytes.size());
    sdfg::Memory memory{{{"n", n}},
                        {{"start", bounds},
                         {"A", {sdfg::ElementType::f64, std::vector<std::byte>(512)}},
                         {"on", {sdfg::ElementType::i32, std::vector<std::byte>(static_cast<std::size_t>(n) * 4)}}}};
    EXPECT_EQ(code->run(0, memory, tests::GuardPage::Behind), runs) << n;
  }
}

// A call may have a divisor of 0 where it divides by it nowhere.
TEST(Features, AGuardAsksByWhatItDividesFirst) {
  const sdfg::Sdfg graph = parsed(R"(sdfg 1 t symbols m, k, s
array A: f64[20] argument  arguments m, k, s, A  
assume k - s * (k floordiv s) >= 0 assume k >= 0 assume s - 1 >= 0
loop i = 0 .. m { loop j = 0 .. k floordiv s { s0: A[j] = 1.0 } })");
  const Guard guard{.original = graph.root, .least_extents = {0, 2}, .least_work = 4};
  const std::string source = tests::source_file({emitted_function("cpp", graph, {.guards = {guard}})}, "");
  const auto code = tests::GeneratedCode::compile(source, {{&graph, "kernel"}}, {.include_root = SOUS_SOURCE_DIR});
  ASSERT_TRUE(code) << code.error().why;
  for (const auto& [s, runs] : {std::pair(0, 0), std::pair(3, 1), std::pair(9, 0)}) {
    sdfg::Memory memory{{{"m", 2}, {"k", 10}, {"s", s}},
                        {{"A", {sdfg::ElementType::f64, std::vector<std::byte>(160)}}}};
    EXPECT_EQ(code->run(0, memory), runs) << s;
  }
}

// Which path runs, by the distance of rows that are walked side by side; and the same decision in numbers.
// What the guard asks before the call is what it asks then: of the least work, and of each loop.
TEST(Features, WhatAGuardNeedsIsKnownOutside) {
  const auto graph = parsed(
      "sdfg 1 g symbols n, m array A: f64[n, m] argument arguments n, m, A\n"
      "loop i = 0 .. n { loop j = 0 .. m - 2 { s: A[i, j] = 1.0 } }");
  const Function f = emitted_function(
      "cpp", graph, {.guards = {{.original = graph.root, .least_extents = {0, 10}, .least_work = 1000}}});
  std::string needs;
  ASSERT_EQ(f.needs.size(), 1u);
  for (const sdfg::Expr& e : f.needs[0]) needs += e.to_string() + " ";
  EXPECT_EQ(needs, "m - 12 m*n - 2*n - 1000 ");
  EXPECT_TRUE(emitted_function("cpp", graph).needs.empty());
}

// Of two parts one may be too small, as long as the other saves enough of both and of what has no guard.
TEST(Features, SomeGuardsMayBeEnough) {
  const auto graph = parsed(
      "sdfg 1 g symbols n, m array A: f64[n] argument array B: f64[m] argument arguments n, m, A, B\n"
      "loop i = 0 .. n { s: A[i] = 1.0 } loop j = 0 .. m { t: B[j] = 1.0 } u: A[0] = 2.0");
  const auto part = [&](std::size_t k) { return sdfg::Region{{graph.root.nodes[k]}}; };
  const EmitOptions options{.guards = {{.original = part(0), .least_extents = {10}, .saves = 0.5},
                                       {.original = part(1), .least_work = 20, .saves = 0.75}},
                            .partly = {{0.25, part(2)}}};
  const Function f = emitted_function("cpp", graph, options);
  EXPECT_EQ(f.needs.size(), 2u);
  const auto code = tests::GeneratedCode::compile(tests::source_file({f}, ""), {{&graph, "kernel"}},
                                                  {.include_root = SOUS_SOURCE_DIR});
  ASSERT_TRUE(code) << code.error().why;
  const sdfg::Buffer room{sdfg::ElementType::f64, std::vector<std::byte>(800)};
  // With 1 for the last assignment: 0.5 * 10 of 21, of 20 and of 19; 0.75 * 20 of 30, and of 61.
  for (const auto& [n, m, runs] : {std::array{9, 19, 0},
                                   {10, 20, 1},
                                   {10, 10, 0},
                                   {10, 9, 0},
                                   {10, 8, 1},
                                   {9, 20, 1},
                                   {60, 20, 1},
                                   {0, 0, 0},
                                   {-5, 19, 0},
                                   {0, 20, 1}}) {
    sdfg::Memory memory{{{"n", n}, {"m", m}}, {{"A", room}, {"B", room}}};
    EXPECT_EQ(code->run(0, memory), runs) << n << " " << m << f.code;
  }
  // What the nest itself asks.
  const auto holds = condition(options.guards[1], graph);
  ASSERT_TRUE(holds);
  EXPECT_EQ(sdfg::print(sdfg::Region{{sdfg::If{*holds, {}, {}}}}, graph), "if (f64({m}i64) >= 20.0) {\n}\n");
}

// A caller that passes what is written by value: nothing of its memory is touched.
TEST(Features, ValuesComeBackAsAStruct) {
  const auto graph = parsed(
      "sdfg 1 g symbols n array A: f64[n] argument array s: f64 argument arguments n, A, s\n"
      "loop i = 0 .. n { t: s[] = s[] + A[i] }");
  const std::string code = emitted("cpp", graph, {.values = {"s"}});
  EXPECT_TRUE(code.contains("static int kernel_by_memory(int64_t n, const double* A, double* s) {")) << code;
  EXPECT_TRUE(
      code.contains("struct kernel_values { double s; int ran; };\n"
                    "extern \"C\" __attribute__((visibility(\"hidden\"))) kernel_values kernel(int64_t n, "
                    "const double* A, double s) {\n"
                    "  const int ran = kernel_by_memory(n, A, &s);\n  return {s, ran};\n}\n"))
      << code;
}

// What is asked first, of what it looks at, and what then runs whatever happens: without memory, as it was written.
TEST(Features, ACallerMayAskFirst) {
  const std::string head =
      "sdfg 1 g symbols n, m array A: f64[n] argument array x: f64 argument array s: f64 argument ";
  const auto written = parsed(head + "arguments n, m, A, x, s\nloop i = 0 .. n { t: A[i] = x[] u: s[] = A[i] }");
  const auto graph = parsed(head +
                            "array T: f64[m * n + m] heap transient arguments n, m, A, x, s\nassume m >= 0\n"
                            "loop i = 0 .. n { t: T[i] = x[] } loop j = 0 .. n { u: A[j] = T[j] }");
  const EmitOptions::AskedFirst asked{.variant = 3, .otherwise = {"other_takes", {"A"}}, .as_written = &written};
  EmitOptions options{.otherwise = "other",
                      .asked_first = &asked,
                      .guards = {{.original = written.root, .least_extents = {7}}},
                      .symbol_types = {{"m", sdfg::ElementType::i32}}};
  const Function f = emitted_function("cpp", graph, options);
  ASSERT_TRUE(f.asking);
  EXPECT_EQ(f.asking->arguments, (std::vector<std::string>{"n", "m", "A"}));
  EXPECT_FALSE(f.asking->of_more);
  for (const char* part :
       {"int kernel_takes(int64_t n, int32_t m_passed, double* A) {\n  const int64_t m = m_passed;\n"
        "  if (n < 7) return other_takes(A);\n  if (!(m >= 0)) return 0;\n  return 3;\n}\n",
        "    int variant) {\n  const int64_t m = m_passed;\n  if (variant != 3) return other(n, m, A, x, s, "
        "variant);\n",
        "static __attribute__((cold, noinline)) void kernel_as_written_nest(",
        "if (T_memory.get() == nullptr) return kernel_as_written_nest(n, m, const_cast<double*>(A), x, &s);\n"})
    EXPECT_TRUE(f.code.contains(part)) << part << "\n" << f.code;
  const auto threads = parsed(head + "arguments n, m, A, x, s\nloop i = 0 .. n parallel { t: A[i] = x[] }");
  options.otherwise = "";
  const Function g = emitted_function("openmp", threads, options);
  EXPECT_TRUE(g.asking && g.asking->of_more);
  EXPECT_TRUE(g.code.contains("if (!sous::Threads::pay(0)) return 0;\n  return 3;\n")) << g.code;
  EXPECT_TRUE(g.code.contains("const sous::Threads team(0, 1, 0);\n  kernel_nest(")) << g.code;
}

TEST(Features, RowsThatShareCacheSetsAreLeftToTheOriginal) {
  const sdfg::CacheSets cache{.sets = 64, .ways = 12, .vector_bytes = 64};
  const std::string head = "sdfg 1 t symbols n, m\narray A: f64[n, m] argument  arguments n, m, A\n";
  const sdfg::Sdfg original = parsed(head + "loop i = 0 .. n { loop j = 1 .. m { s0: A[i, j] = A[i, j - 1] } }");
  const sdfg::Sdfg tiled = parsed(head + R"(loop t = 0 .. n step 16 { loop j = 1 .. m {
loop i = t .. min(n, t + 16) { s0: A[i, j] = A[i, j - 1] } } })");
  const auto function = emitted_function("cpp", tiled, {.guards = {{.original = original.root}}, .cache = cache});
  const std::string& text = function.code;
  EXPECT_TRUE(text.contains("if (sous::CacheSets<64>().walk(m * 8, 16).holds_more_than(12)) return 0;\n")) << text;
  const auto code = tests::GeneratedCode::compile(tests::source_file({function}, ""), {{&tiled, "kernel"}},
                                                  {.include_root = SOUS_SOURCE_DIR});
  ASSERT_TRUE(code) << code.error().why;
  const auto windows = sdfg::windows(tiled, original.root, cache);
  ASSERT_EQ(windows.size(), 1u);
  int refused = 0;
  for (std::int64_t m = 0; m < 2100; ++m) {
    sdfg::Memory memory{{{"n", 0}, {"m", m}}, {{"A", {sdfg::ElementType::f64, {}}}}};
    const bool runs = code->run(0, memory) == 1;
    EXPECT_EQ(runs, !sdfg::crowded(windows[0], memory.symbols, cache)) << m;
    refused += runs ? 0 : 1;
  }
  EXPECT_GT(refused, 4);
  EXPECT_LT(refused, 40);
  EXPECT_FALSE(emitted("cpp", tiled, {.guards = {{.original = original.root}}}).contains("CacheSets"));
}

TEST(Features, ThreadsStartOnceTheCallsPayForThem) {
  const sdfg::Sdfg graph = parsed(R"(sdfg 1 t symbols n
array A: f64[n] argument  arguments n, A
loop i = 0 .. n parallel(threads=2) { s0: A[i] = 1.0 })");
  const auto calls = [&](double gain, int least) {
    const Guard guard{.original = graph.root, .least_extents = {2}, .gain = gain};
    const Function text = emitted_function("openmp", graph, {.guards = {guard}, .least_threads = least});
    EXPECT_TRUE(text.code.contains("(2, " + std::to_string(least) + ", work * ")) << text.code;
    const auto code = tests::GeneratedCode::compile(tests::source_file({text}, ""), {{&graph, "kernel"}},
                                                    {.include_root = SOUS_SOURCE_DIR});
    EXPECT_TRUE(code) << code.error().why;
    std::string ran;
    for (int call = 0; code && call < 6; ++call) {
      sdfg::Memory memory{{{"n", 8}}, {{"A", {sdfg::ElementType::f64, std::vector<std::byte>(64)}}}};
      ran += code->run(0, memory) == 1 ? '1' : '0';
    }
    return ran;
  };
  // The start of two threads counts as 0.11 ms.
  EXPECT_EQ(calls(0.08e-3 / 8, 1), "011111");
  EXPECT_EQ(calls(0.04e-3 / 8, 2), "001111");
  EXPECT_EQ(calls(1.0, 1), "111111");
  EXPECT_EQ(calls(1.0, 3), "000000");
}

TEST(Features, WorkThatDependsOnDataIsEstimated) {
  expect_like_interpreter(R"(sdfg 1 t symbols n
array row: i32[n + 1] argument  array x: i64[64] argument  arguments n, row, x
loop i = 0 .. n {
  loop k = row[i] .. row[i + 1] { loop j = k .. k + 3 { s0: x[j + 8] = {i + k}i64 } }
})",
                          {0, 1, 5}, {.contract = false});
  const sdfg::Sdfg rows = parsed(R"(sdfg 1 t symbols n
array row: i32[n + 1] argument  array x: i64[64] argument  arguments n, row, x
loop i = 0 .. n { loop k = row[0] .. row[i + 1] { loop j = k .. k + 3 { s0: x[j] = 0i64 } } })");
  EXPECT_TRUE(emitted("cpp", rows, {.guards = {{.original = rows.root, .least_extents = {4, 2, 2}, .least_work = 10}}})
                  .contains("  if (n < 4) return 0;\n  if (sous::extent(n) * 3.0 < 10.0) return 0;"));
}

TEST(Features, ReductionsInParallel) {
  const std::string graph = R"(sdfg 1 t symbols n
array A: i64[n, n] argument  array s: i64 argument  array h: i32[8] argument  array C: i64[n] argument
arguments n, A, s, h, C
loop i = 0 .. n parallel reduce(+: s) { loop j = 0 .. n { s0: s[] += A[i, j] } }
loop k = 0 .. n parallel reduce(^: h) { s1: h[k mod 8] ^= i32(A[k, 0]) }
loop m = 0 .. n { loop q = 0 .. n simd reduce(max: C) { s2: C[m] max= A[m, q] } })";
  const std::string code = emitted("openmp", parsed(graph));
  for (const char* own : {"s_local_own = sous::neutral_sum<int64_t>;", "h_own[8];"})
    EXPECT_TRUE(code.contains(own)) << code;
  expect_like_interpreter(graph, {1, 9, 150});
}

// An element that perhaps nothing is combined into need not exist, and what lies between elements is others'.
TEST(Features, ReductionsThatPerhapsAreNone) {
  const std::string graph = R"(sdfg 1 t symbols n, m
array A: i64[n + m] argument  array s: i64[4] argument  array x: f64[n + m] argument  array d: f64[2] argument
array h: i32[8] argument  arguments n, m, A, s, x, d, h
loop i = 0 .. n parallel reduce(+: s) { if ({i}i64 >= {m}i64) { a: s[1] += A[i] } }
loop j = 0 .. n parallel reduce(max: d) { loop k = j .. m { b: d[1] = select(x[k] > d[1], x[k], d[1]) } }
loop p = 0 .. n parallel reduce(^: h) { c: h[p mod 3] ^= 5i32 }
loop q = 0 .. n simd reduce(&: s) { if ({q}i64 >= {m}i64) { e: s[2] &= A[q] } })";
  const std::string code = emitted("highway", parsed(graph));
  for (const char* text :
       {"s_local = sous::neutral_sum<int64_t>;", "if (s_local != 0) {", "d_local{sous::neutral_max<double>, -1};",
        "if (sous::differs(d_local.value, sous::neutral_max<double>)) {", "int32_t* __restrict const h_all = h;",
        "if (sous::differs(h_own[", "hn::Set(d_i64, sous::neutral_and<int64_t>)",
        "if (sous::differs(reduced, sous::neutral_and<int64_t>)) {"})
    EXPECT_TRUE(code.contains(text)) << text << "\n" << code;
  expect_like_interpreter(graph, {1, 9, 150});
  // Where each iteration combines something, the element is loaded ahead, as a sum in order would be.
  const std::string always = R"(sdfg 1 t symbols n
array A: i64[n] argument  array s: i64 argument  arguments n, A, s
loop i = 0 .. n parallel reduce(+: s) { if (A[i] > 3i64) { a: s[] += A[i] } else { loop j = 0 .. 2 { b: s[] += 1i64 } } })";
  EXPECT_TRUE(emitted("openmp", parsed(always)).contains("s_local = s[0];"));
}

// A place or a scalar of the loop around is read by all threads and changed by none.
TEST(Features, ThreadsHaveTheirOwnCopyOfWhatTheLoopsAroundSay) {
  const std::string graph = R"(sdfg 1 t symbols n
array A: i64[n, n] argument  array B: i64[n, n] argument  array c: i64 stack transient  array d: i64 stack transient
arguments n, A, B
loop t = 0 .. n private(c) {
  s0: c[] = A[t, t] * 2i64
  loop i = 0 .. n parallel private(d) {
    s1: d[] = A[i, t] + c[]
    s2: B[i, t] = d[] * d[]
  }
})";
  EXPECT_TRUE(emitted("openmp", parsed(graph)).contains("[&, n, A, B, t, c]()")) << emitted("openmp", parsed(graph));
  expect_like_interpreter(graph, {0, 1, 150});
  // One that nobody needs is declared in the body.
  expect_like_interpreter(R"(sdfg 1 t symbols n
array A: i64[n] argument  array B: i64[n] argument  array d: i64 stack transient  arguments n, A, B
loop i = 0 .. n parallel private(d) { s: B[i] = A[i] })",
                          {0, 150});
}

TEST(Features, ReductionsIntoLargeArraysRunInOrder) {
  const std::string graph = R"(sdfg 1 t symbols n
array A: i64[n, n] argument  array h: i64[n] argument  array row: i64[n] heap transient  arguments n, A, h
loop i = 0 .. n parallel reduce(+: h) private(row) {
  loop j = 0 .. n { a: row[j] = A[i, j] * 2i64 }
  loop k = 0 .. n { b: h[n - 1 - k] += row[k] }
})";
  EXPECT_TRUE(emitted("openmp", parsed(graph)).contains("sous::parallel(false, 1, [&"));
  expect_like_interpreter(graph, {1, 40});
}

TEST(Features, SameInputSameBytes) {
  for (const std::string& target : target_names()) {
    const sdfg::Sdfg graph = tests::random_schedules(tests::random_nest(11), 11);
    const auto code = find_target(target)->emit(graph, {}),
               again = find_target(target)->emit(parsed(sdfg::print(graph)), {});
    ASSERT_EQ(code.has_value(), again.has_value());
    if (code) {
      EXPECT_EQ(code->code, again->code);
    }
    EXPECT_TRUE(code || find_target(target)->has_gpu()) << target;
  }
}

TEST(Features, TheClockStandsStillForWhatIsNotTimed) {
  const auto graph = parsed(
      "sdfg 1 t symbols n array x: f64[n] argument array y: f64[n] argument arguments n, x, y "
      "loop i = 0 .. n { s: x[i] = 1.0 } loop j = 0 .. n { t: y[j] = 2.0 } loop k = 0 .. n { u: x[k] = 3.0 }");
  for (const std::string& target : target_names()) {
    if (find_target(target)->has_gpu()) continue;  // its loops stand in functions of their own: cuda_test.cc
    const std::string code = emitted(target, graph, {.timed = Part{1, 2}});
    const auto nth = [&](const char* word, int n) {
      auto at = code.find(word);
      for (int k = 1; k < n; ++k) at = code.find(word, at + 1);
      return at;
    };
    EXPECT_LT(nth("sous_clock_stop();", 1), nth("= 1.0", 1)) << code;
    EXPECT_LT(nth("= 1.0", 1), nth("sous_clock_start();", 1)) << code;
    EXPECT_LT(nth("sous_clock_start();", 1), nth("= 2.0", 1)) << code;
    EXPECT_LT(nth("= 2.0", 1), nth("sous_clock_stop();", 2)) << code;
    EXPECT_LT(nth("sous_clock_stop();", 2), nth("= 3.0", 1)) << code;
  }
}

}  // namespace
}  // namespace sous::targets
