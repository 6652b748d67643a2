// Graphs as text, called in this process and held against the interpreter.
#include "client/jit.h"

#include <gtest/gtest.h>

#include "client/process.h"
#include "sdfg/interp.h"
#include "sdfg/text.h"
#include "tests/support/random_nest.h"
#include "tests/support/run_compiled.h"
#include "transforms/normal_form.h"
#include "tuning-db/build_isa.h"
#include "tuning-db/database.h"

namespace sous::client {
namespace {

const std::string scaled = R"(sdfg 1 scaled symbols n
array s: f64 argument
array A: f64[n, n] argument alias 1
array B: f64[n, n] argument alias 2
arguments s, A, n, B
assume n - 2 >= 0
disjoint A, B
loop i = 0 .. n { loop j = 0 .. n { s0: B[i, j] = A[j, i] * s[] + 1.0 } })";

// Without contraction and on the instruction set of this machine, as the interpreter computes.
JitOptions exact() {
  JitOptions options;
  options.meaning.contraction = Contraction::Off;
  options.meaning.cpp_code = {"-O1", "-march=native"};
  return options;
}

std::vector<void*> addresses(const sdfg::Sdfg& graph, sdfg::Memory& memory) {
  std::vector<void*> out;
  for (const std::string& name : graph.arguments) {
    if (graph.has_symbol(name)) {
      out.push_back(&memory.symbols.at(name));
    } else {
      out.push_back(memory.buffers.at(name).bytes.data());
    }
  }
  return out;
}

void expect_like_interpreter(const LoadedFunction& function, const sdfg::Sdfg& graph, std::int64_t n) {
  sdfg::Memory expected = tests::random_memory(graph, 1, {{"n", n}}), actual = expected;
  ASSERT_TRUE(sdfg::interpret(graph, expected));
  const auto called = function(addresses(graph, actual));
  ASSERT_TRUE(called) << called.error().to_string();
  EXPECT_EQ(tests::difference(expected, actual), std::nullopt);
}

TEST(Jit, AGraphRunsAsItIs) {
  const auto graph = sdfg::parse(scaled).value();
  const auto function = compile(graph, exact());
  ASSERT_TRUE(function) << function.error().to_string();
  EXPECT_FALSE(function->report().served);
  expect_like_interpreter(*function, graph, 2);
  expect_like_interpreter(*function, graph, 33);
}

TEST(Jit, WithARecipeOfADatabase) {
  constexpr std::int64_t n = 60;
  const auto graph = sdfg::parse(scaled).value();
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  JitOptions options = exact();
  const auto hardware = tuning_db::as_built(tuning_db::local_hardware(), options.meaning.cpp_code);
  auto store = tuning_db::Store::open({.path = folder->file("t.db"), .seeds = {}});
  ASSERT_TRUE(store) << store.error().to_string();
  const auto normal = transforms::normalize(graph).value();
  tuning_db::Entry entry{.name = "scaled#0",
                         .nest = normal.units.at(0).nest,
                         .structural_hash = normal.units[0].structural_hash,
                         .sizes = {{normal.units[0].nest.symbols.at(0), n}},
                         .recipe = transforms::recipe_from_text("parallelize(loop=i0) -> openmp").value(),
                         .hardware = tuning_db::local_hardware(),
                         .baseline_seconds = 2,
                         .tuned_seconds = 1,
                         .threads = 2,
                         .least_extents = {},
                         .compiler = "clang-19",
                         .flags = "-O1 -march=native",
                         .provenance = "test",
                         .time = "2026-01-31T12:00:00Z"};
  ASSERT_TRUE(store->add(entry).value_or(false));
  options.open_sources = [&](const tuning_db::Hardware& asking,
                             std::vector<std::string>&) -> Result<std::unique_ptr<transforms::RecipeSource>> {
    return tuning_db::Database::over(std::move(*store), asking);
  };
  options.sizes = {{"n", n}};
  const auto function = compile(graph, options);
  ASSERT_TRUE(function) << function.error().to_string();
  EXPECT_TRUE(function->report().served) << function->report().why;
  EXPECT_EQ(function->report().target, "openmp");
  expect_like_interpreter(*function, graph, n);
}

TEST(Jit, WhatACallMustBring) {
  const auto graph = sdfg::parse(scaled).value();
  const auto function = compile(graph, exact());
  ASSERT_TRUE(function) << function.error().to_string();
  sdfg::Memory memory = tests::random_memory(graph, 1, {{"n", 4}});
  auto arguments = addresses(graph, memory);
  arguments[3] = arguments[1];
  EXPECT_EQ((*function)(arguments).error().code, "jit.declined");
  arguments.pop_back();
  EXPECT_EQ((*function)(arguments).error().code, "jit.arguments");
  sdfg::Memory small = tests::random_memory(graph, 1, {{"n", 1}});
  EXPECT_EQ((*function)(addresses(graph, small)).error().code, "jit.declined");
}

TEST(Jit, FailuresAreResults) {
  const auto graph = sdfg::parse(scaled).value();
  sdfg::Sdfg malformed = graph;
  malformed.arguments.pop_back();
  EXPECT_TRUE(compile(malformed, exact()).error().code.starts_with("sdfg."));
  JitOptions options = exact();
  options.meaning.compiler = "no-such-compiler";
  EXPECT_EQ(compile(graph, options).error().code, "client.run");
  options = exact();
  options.meaning.cpp_code = {"-fno-such-option-at-all"};
  EXPECT_EQ(compile(graph, options).error().code, "jit.compile");
  const auto grid = sdfg::parse(
      "sdfg 1 g array A: f64[8] argument arguments A\n"
      "loop b = 0 .. 8 gpu_grid(dimension=0) { s: A[b] = 1.0 }");
  EXPECT_EQ(compile(grid.value(), exact()).error().code, "target.schedule");
}

}  // namespace
}  // namespace sous::client
