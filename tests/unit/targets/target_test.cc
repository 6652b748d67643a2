// What targets declare, and what they refuse.
#include "targets/target.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/sdfg/graphs.h"
#include "tests/unit/targets/emitting.h"

namespace sous::targets {
namespace {

std::string refusal(const Target& target, const std::string& graph) {
  const auto code = target.emit(parsed(graph), {});
  return code ? "" : code.error().to_string();
}

bool has(const std::string& code, const char* text) { return code.find(text) != std::string::npos; }

TEST(Targets, ALoopOfAnotherMachineIsRefused) {
  for (const Target* target : targets()) {
    const std::string name(target->name);
    EXPECT_EQ(refusal(*target,
                      "sdfg 1 g array A: f64[8] argument arguments A\n"
                      "loop b = 0 .. 8 gpu_grid(dimension=0) { s: A[b] = 1.0 }"),
              target->has_gpu() ? "" : "b: the target " + name + " has no loops of this kind [target.schedule]");
    EXPECT_EQ(refusal(*target, std::string(sdfg::graphs::gpu)),
              target->has_gpu()
                  ? ""
                  : "tile: the target " + name + " has no memory of the kind that it lies in [target.storage]");
  }
}

TEST(Targets, EachScheduleIsFollowedOrRunInOrderOrRefused) {
  const std::string loops = "sdfg 1 g array A: f64[8] argument arguments A\nloop i = 0 .. 8 ";
  for (const Target* target : targets()) {
    for (const char* schedule : {"", "parallel", "simd", "unroll(factor=2)"}) {
      std::vector<Unfollowed> unfollowed;
      const auto graph = parsed(loops + schedule + " { s: A[i] = 1.0 }");
      ASSERT_TRUE(target->emit(graph, {.unfollowed = &unfollowed})) << target->name << schedule;
      const auto& loop = std::get<sdfg::Loop>(graph.root.nodes[0].value);
      EXPECT_EQ(unfollowed.empty(), target->follows.contains(loop.schedule)) << target->name << schedule;
      EXPECT_NE(target->follows.contains(loop.schedule), target->in_order.contains(loop.schedule)) << target->name;
    }
  }
}

// For threads and lanes as well: what they read is an array of the file, no argument.
TEST(Targets, TablesAreNumbersInTheCode) {
  const std::string text =
      "sdfg 1 g array t: i32[3] argument const array u: i32[3] argument alias 1 array A: f64[60] argument alias 2\n"
      "arguments t, u, A\nloop i = 0 .. 20 SCHEDULE { loop k = 0 .. 3 { s: A[3*i + k] = f64(t[k] + u[k]) } }";
  for (const char* schedule : {"", "parallel", "simd"}) {
    const auto graph = parsed(std::string(text).replace(text.find("SCHEDULE"), 8, schedule));
    for (const Target* target : targets()) {
      const auto code = target->emit(graph, {.tables = {{"t", "1LL,-2LL,3LL,"}}});
      if (target->has_gpu()) continue;
      ASSERT_TRUE(code) << target->name;
      EXPECT_TRUE(has(code->code, "static const int32_t kernel_nest_t[] = {1LL,-2LL,3LL,};")) << code->code;
      EXPECT_TRUE(has(code->code, "kernel_nest_t[k") || has(code->code, "kernel_nest_t + ")) << code->code;
      EXPECT_FALSE(has(code->code, " t[k") || has(code->code, "(t[k")) << code->code;
    }
  }
}

TEST(Targets, IterationsAreHandedOutInShares) {
  const auto schedule = [](const char* parallel) {
    const auto code = openmp_target.emit(
        parsed(std::string("sdfg 1 g symbols n array A: f64[n] argument arguments n, A\nloop i = 0 .. n ") + parallel +
               " { s: A[i] = 1.0 }"),
        {});
    EXPECT_TRUE(code);
    const auto at = code->code.find("i_share");
    return code->code.substr(at, code->code.find(";\n", at) - at);
  };
  EXPECT_EQ(schedule("parallel"), "i_share(0, n, pieces)");
  EXPECT_EQ(schedule("parallel(chunk=4)"), "i_share(0, n, 4)");
  EXPECT_EQ(schedule("parallel(chunk=4, dynamic)"), "i_share(0, n, 4, taken, false)");
  EXPECT_EQ(schedule("parallel(dynamic)"), "i_share(0, n, share, taken, false)");
}

TEST(Targets, ThreadsThatCombineRunTheirOwnShares) {
  const auto text = [](const char* op) {
    const auto code = openmp_target.emit(
        parsed(std::string("sdfg 1 g symbols n array A: f64[n] argument array m: f64[] argument arguments n, A, m\n"
                           "loop i = 0 .. n parallel reduce(") +
               op + ": m) { s: m[] " + op + "= A[i] }"),
        {});
    EXPECT_TRUE(code);
    return code->code;
  };
  EXPECT_TRUE(text("max").contains("even_share")) << text("max");
  EXPECT_FALSE(text("max").contains("pieces"));
}

TEST(Targets, LongIterationsAreHandedOutFirst) {
  const auto last_first = [](const char* inner) {
    const auto code =
        openmp_target.emit(parsed(std::string("sdfg 1 g symbols n array A: f64[n, n] argument arguments n, A\n"
                                              "loop i = 0 .. n step 8 parallel(chunk=1, dynamic) { loop j = ") +
                                  inner + " { s: A[i, j] = 1.0 } }"),
                           {});
    EXPECT_TRUE(code);
    return code->code.contains("(0, n, 1, taken, true)");
  };
  EXPECT_TRUE(last_first("0 .. i + 1"));
  EXPECT_FALSE(last_first("i .. n"));
  EXPECT_FALSE(last_first("0 .. n"));
  EXPECT_FALSE(last_first("i .. i + 8"));
  EXPECT_FALSE(last_first("i .. min(n, i + 8)"));
}

// Sums of integers wrap in generated code: of `j + 7` compilers do not see that it is seven after j.
TEST(Targets, ShortLoopsFromElsewhereAreCounted) {
  const std::string text =
      "sdfg 1 g symbols n array A: f64[n + 6] argument array B: f64[n] argument arguments n, A, B\n"
      "loop j = 0 .. n {\n"
      "  loop l = j .. j + 7 { s: B[j] = B[j] + A[l] }\n"
      "  loop k = {first} .. {first} + {count} { t: B[j] = B[j] * 2.0 }\n"
      "}\n";
  const auto of = [&](const std::string& first, const std::string& count) {
    std::string changed = text;
    for (const auto& [from, to] : {std::pair{std::string("{first}"), first}, {std::string("{count}"), count}})
      for (auto at = changed.find(from); at != std::string::npos; at = changed.find(from))
        changed.replace(at, from.size(), to);
    return changed;
  };
  const std::string code = emitted("cpp", parsed(of("j", "200")));
  EXPECT_TRUE(has(code, "for (int64_t l_n = 0; l_n < 7; ++l_n) {")) << code;
  EXPECT_TRUE(has(code, "const int64_t l = j + l_n;")) << code;
  EXPECT_TRUE(has(code, "for (int64_t k = j; k < j + 200; ++k) {")) << code;
  EXPECT_TRUE(has(emitted("cpp", parsed(of("0", "5"))), "for (int64_t k = 0; k < 5; ++k) {"));
  expect_like_interpreter(of("j", "3"), {0, 1, 5, 40});
}

// A compiler then loads both at once: of pointers that come by themselves it does not know how far apart they are.
TEST(Targets, MembersOfStructuresArePassedAsDistances) {
  const auto graph = parsed(
      "sdfg 1 g symbols n array x: f32[n] strides [3] argument array y: i32[n] strides [3] argument "
      "array z: f32[n] strides [3] argument arguments n, x, y, z\n"
      "loop i = 0 .. n parallel { s: x[i] = f32(y[i]) + z[i] }");
  const EmitOptions options{.members = {{"x", {"p", 8}}, {"y", {"p", 4}}, {"z", {"q", 0}}}};
  const std::string code = emitted("openmp", graph, options);
  for (const char* part : {"kernel_nest(n, x, (const int32_t*)((const char*)x - 4), z);",
                           "}(x, (const int32_t*)((const char*)x - 4), z);"})
    EXPECT_TRUE(has(code, part)) << part << "\n" << code;
  EXPECT_FALSE(has(emitted("openmp", graph), "const char*"));
  // Beside the threads they are what the threads write by another name; in them, each is one by itself.
  EXPECT_TRUE(
      has(code, "float* x,\n    [[maybe_unused]] const int32_t* y,\n    [[maybe_unused]] const float* __restrict z"))
      << code;
  EXPECT_TRUE(has(code, "float* __restrict x, const int32_t* __restrict y")) << code;
}

TEST(Targets, SymbolsArePassedAsTheProgramHasThem) {
  const auto graph = parsed(
      "sdfg 1 g symbols n, m array A: f64[n] argument arguments n, m, A assume m >= 0\n"
      "loop i = m .. n { s: A[i] = 1.0 }");
  EmitOptions options{.symbol_types = {{"n", sdfg::ElementType::i32}, {"m", sdfg::ElementType::u32}}};
  const std::string code = emitted("cpp", graph, options);
  for (const char* part : {"int kernel(int32_t n_passed, uint32_t m_passed, double* A) {",
                           "const int64_t n = n_passed;", "const int64_t m = m_passed;"})
    EXPECT_NE(code.find(part), std::string::npos) << part << "\n" << code;
  options.local = true;
  EXPECT_NE(emitted("cpp", graph, options).find("int kernel(int64_t n, int64_t m, double* A) {"), std::string::npos);
}

TEST(Targets, TheOneThatDoesAllThatTheOtherDoes) {
  EXPECT_EQ(common_target(cpp_target, highway_target), &highway_target);
  EXPECT_EQ(common_target(openmp_target, cpp_target), &openmp_target);
  EXPECT_EQ(common_target(cpp_target, cpp_target), &cpp_target);
  const Target other{
      .name = "other", .summary = "", .extends = &cpp_target, .follows = {}, .in_order = {}, .storages = {}};
  EXPECT_EQ(common_target(other, cpp_target), &other);
  EXPECT_EQ(common_target(other, openmp_target), nullptr);
}

TEST(Targets, FilesByLanguage) {
  const Language other{
      .name = "other", .suffix = "x", .options = {}, .file = [](std::span<const Function> functions, std::string_view) {
        return std::to_string(functions.size()) + functions[0].code;
      }};
  const Target device{
      .name = "device", .summary = "", .language = &other, .follows = {}, .in_order = {}, .storages = {}};
  const auto out =
      files({{&cpp_target, "a\n"}, {&device, "b\n"}, {&openmp_target, "c\n"}, {&highway_target, "d\n"}}, "");
  ASSERT_EQ(out.size(), 2u);
  EXPECT_TRUE(out[0].text.ends_with("\na\n\nc\n\nd\n")) << out[0].text;
  EXPECT_EQ(out[0].language, cpp_target.language);
  EXPECT_EQ(out[0].runtimes, std::vector{openmp_target.runtime});
  EXPECT_EQ(out[1].text, "1b\n");
  EXPECT_TRUE(out[1].runtimes.empty());
  EXPECT_TRUE(std::ranges::is_sorted(target_names()));
}

}  // namespace
}  // namespace sous::targets
