// Nests of several parts, some of which are too small for their recipes.
#include "client/partly.h"

#include <gtest/gtest.h>

#include <cstring>

#include "client/generate.h"
#include "frontends/c/lift.h"
#include "sdfg/interp.h"
#include "tests/support/generated.h"
#include "tests/unit/client/measured.h"
#include "tuning-db/shape.h"

namespace sous::client {
namespace {

// A cell of a network: its inputs, and what it keeps.
struct Cell {
  Result<frontends::TranslationUnit> unit = frontends::c::lift(R"(
void f(int n, int m, int k, const double a[n][m], const double b[n][k], const double x[m], const double z[k],
       double y[restrict n]) {
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int j = 0; j < m; j++) s += a[i][j] * x[j];
    for (int j = 0; j < k; j++) s += b[i][j] * z[j];
    y[i] = s * s;
  }
})",
                                                               "f.c", {});
  PreparedNest nest = prepare(unit->nests.at(0), {}, {}, machine()).value();

  // Both sums four rows at a time, as measured: the second from three times as many columns on.
  Chosen chosen() {
    double columns = 10;
    for (Unit& one : nest.units) {
      if (!one.one_of_several() || unit_work(one) < 2000) continue;
      transforms::Match match = measured(2, 1);
      match.recipe = *transforms::recipe_from_text("tile(loops=[i0], sizes=[4]); parallelize(loop=i0_t) -> openmp");
      match.evidence.size_class = size_class_of(one);
      match.evidence.extents = {100, 100};
      match.evidence.work = 1e4;
      match.evidence.least_extents = {2, columns};
      match.evidence.least_work = 50;
      one.matches = {match};
      columns *= 3;
    }
    return choose({.nest = nest});
  }
  static sdfg::Memory memory(std::int64_t n, std::int64_t m, std::int64_t k) {
    sdfg::Memory memory{{{"n", n}, {"m", m}, {"k", k}}, {}};
    for (const auto& [name, size] : {std::pair("a", n * m), {"b", n * k}, {"x", m}, {"z", k}, {"y", n}}) {
      std::vector<double> values;
      for (std::int64_t at = 0; at < size; ++at) values.push_back(static_cast<double>(at * 37 % 101) / 7 - 5);
      sdfg::Buffer buffer{sdfg::ElementType::f64, std::vector<std::byte>(values.size() * sizeof(double))};
      std::memcpy(buffer.bytes.data(), values.data(), buffer.bytes.size());
      memory.buffers.emplace(name, std::move(buffer));
    }
    return memory;
  }
};

TEST(Partly, APartThatIsTooSmallRunsAsItWas) {
  Cell cell;
  const Chosen chosen = cell.chosen();
  ASSERT_EQ(chosen.choices.size(), 2u) << chosen.why;
  EXPECT_NEAR(chosen.least_saved, 1 - 1 / 1.2, 1e-9);
  EXPECT_EQ(least_work(chosen), 50);
  const auto applied = assemble(cell.nest, chosen);
  ASSERT_TRUE(applied) << applied.error().to_string();
  const auto generated = generate(cell.nest, chosen, *applied, "", "kernel");
  ASSERT_TRUE(generated) << generated.error().to_string();
  EXPECT_EQ(generated->shapes.size(), 2u);
  const auto code = tests::GeneratedCode::compile(tests::source_file({generated->code}, ""), {{&*applied, "kernel"}},
                                                  {.include_root = SOUS_SOURCE_DIR});
  ASSERT_TRUE(code) << code.error().why;
  struct Run {
    std::int64_t n, m, k;
    int runs;
  };
  for (const Run& run : {Run{20, 40, 40, 1},  // both
                         {20, 40, 20, 1},     // the first saves a third
                         {20, 20, 29, 1},     // a fifth
                         {20, 10, 29, 0},     // an eighth
                         {20, 9, 30, 1},      // the second
                         {20, 80, 30, 1},
                         {20, 9, 29, 0},
                         {2, 10, 50, 1},  // the first would have too little work
                         {1, 40, 40, 0},
                         {20, 0, 40, 1},
                         {0, 40, 40, 0}}) {
    sdfg::Memory expected = Cell::memory(run.n, run.m, run.k), interpreted = expected, compiled = expected;
    ASSERT_TRUE(sdfg::interpret(cell.nest.normal, expected));
    ASSERT_TRUE(sdfg::interpret(*applied, interpreted));
    EXPECT_EQ(interpreted.buffers, expected.buffers) << run.n << " " << run.m << " " << run.k;
    EXPECT_EQ(code->run(0, compiled), run.runs) << run.n << " " << run.m << " " << run.k << generated->code.code;
    if (run.runs == 1) {
      EXPECT_EQ(compiled.buffers, expected.buffers) << run.n << " " << run.m << " " << run.k;
    }
  }
}

// Parts that ask the same have nothing to decide, and one that promises more is not passed over for what some gain.
TEST(Partly, WhatSomeGainIsHeldAgainstWhatElseRuns) {
  Cell cell;
  Chosen chosen = cell.chosen();
  ASSERT_EQ(chosen.choices.size(), 2u) << chosen.why;
  Chosen& other = chosen.otherwise.emplace_back();
  other.choices = {chosen.choices[0]};
  other.choices[0].match.believed = 1.5;
  run_partly(chosen, cell.nest);
  EXPECT_NEAR(chosen.least_saved, 1 - 1 / 1.5, 1e-9);
  EXPECT_EQ(other.least_saved, 0);
  chosen.least_saved = 0;
  chosen.guards[1] = chosen.guards[0];
  run_partly(chosen, cell.nest);
  EXPECT_EQ(chosen.least_saved, 0);
}

}  // namespace
}  // namespace sous::client
