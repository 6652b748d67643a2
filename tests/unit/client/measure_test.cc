#include "client/measure.h"

#include <gtest/gtest.h>

#include <functional>

#include "client/timed_program.h"
#include "frontends/c/lift.h"

namespace sous::client {
namespace {

struct Measured {
  Result<frontends::TranslationUnit> unit;
  Result<PreparedNest> nest;
  Measured(const std::string& text, std::int64_t n) : unit(frontends::c::lift(text, "test.c", {})), nest(sized(n)) {}
  Result<transforms::Evidence> of(std::size_t k, const std::function<void(sdfg::Sdfg&)>& change = {}) const {
    Choice choice{.unit = k, .match = {}};
    TRY_VOID(apply_choice(*nest, choice, nullptr));
    if (change) change(choice.applied);
    return measure_on_the_spot(*nest, choice, {.most = 3});
  }
  Result<double> alone(std::size_t k) const {
    Choice choice{.unit = k, .match = {}};
    TRY_VOID(apply_choice(*nest, choice, nullptr));
    return time_on_the_spot(*nest, choice, {.most = 3});
  }

 private:
  Result<PreparedNest> sized(std::int64_t n) const { return prepare(unit->nests.at(0), {}, {{"n", n}}); }
};

TEST(Measure, AConditionReadFromMemoryIsNoTameInput) {
  const Measured measured(R"(void f(int n, double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++)
    if (x[i] > 0.9) y[i] = 1 / x[i];
})",
                          1000);
  const auto evidence = measured.of(0);
  ASSERT_FALSE(evidence);
  EXPECT_EQ(evidence.error().code, "measure.gather");
}

TEST(Measure, DrawnDataStaysInsideWhatItIsASubscriptOf) {
  const Measured measured(
      R"(void f(int n, int *restrict at, unsigned char *restrict p, double *restrict x, double *restrict t,
                            double *restrict y) {
  for (int i = 0; i < n; i++) y[i] = x[at[i]] + t[p[i]];
})",
      1000);
  ASSERT_TRUE(measured.nest);
  EXPECT_EQ(measured.of(0).error().code, "measure.gather");
  const auto limits = subscript_limits(measured.nest->lifted->sdfg, measured.nest->sizes);
  EXPECT_EQ(limits.at("at"), 1000);
  EXPECT_EQ(limits.at("p"), 256);
  Choice choice{.unit = 0, .match = {}};
  ASSERT_TRUE(apply_choice(*measured.nest, choice, nullptr));
  const auto evidence = measure_on_the_spot(*measured.nest, choice, {.most = 2, .inputs = Inputs::Drawn});
  ASSERT_TRUE(evidence) << evidence.error().to_string();
  EXPECT_GT(evidence->baseline_seconds, 0);
}

TEST(Measure, BoundsFromMemoryAreNotDrawn) {
  const Measured measured(R"(void f(int n, int *restrict row, double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++)
    for (int k = row[i]; k < row[i + 1]; k++) y[i] += x[k];
})",
                          1000);
  ASSERT_TRUE(measured.nest);
  const auto taken = takes(measured.nest->lifted->sdfg, Inputs::Drawn);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, "measure.gather");
}

TEST(Measure, WhatComputesSomethingElseIsNotMeasured) {
  const Measured measured("void f(int n, double *x) { for (int i = 0; i < n; i++) x[i] = 2 * x[i] + 1; }", 1000);
  EXPECT_TRUE(measured.of(0));
  const auto evidence = measured.of(0, [](sdfg::Sdfg& applied) {
    std::get<sdfg::Loop>(applied.root.nodes[0].value).end = sdfg::Expr::symbol("n") - 1;
  });
  ASSERT_FALSE(evidence);
  EXPECT_EQ(evidence.error().code, "measure.differs");
}

// The generated code refuses these sizes: on them only the original would run.
TEST(Measure, WhatDoesNotRunIsNotMeasured) {
  const Measured measured(R"(void f(int n, double *x) {
  for (int i = 0; i < n; i++) x[i] += 1;
  for (int i = 0; i != n - 10; i++) x[i] = 2 * x[i] + 1;
})",
                          5);
  const auto evidence = measured.of(0);
  ASSERT_FALSE(evidence);
  EXPECT_EQ(evidence.error().code, "measure.run");
}

TEST(Measure, WhatDoesNothingIsNotMeasured) {
  for (const std::int64_t n : {0, -5}) {
    const auto evidence = Measured("void f(int n, double *x) { for (int i = 0; i < n; i++) x[i] += 1; }", n).of(0);
    ASSERT_FALSE(evidence) << n;
    EXPECT_EQ(evidence.error().code, "measure.sizes");
  }
}

// 64 elements beside a product of 200^3: a thousand times less, whatever else the machine does.
TEST(Measure, AUnitTakesItsOwnTime) {
  const Measured measured(R"(void f(int n, double A[n][n], double B[n][n], double C[n][n], double x[64]) {
  for (int i = 0; i < 64; i++) x[i] = x[i] * 3 + 1;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++) C[i][j] += A[i][k] * B[k][j];
})",
                          200);
  ASSERT_TRUE(measured.nest);
  ASSERT_EQ(measured.nest->units.size(), 3u);
  const std::size_t small = unit_work(measured.nest->units[1]) < unit_work(measured.nest->units[2]) ? 1 : 2;
  const auto whole = measured.of(0), small_one = measured.of(small), large_one = measured.of(3 - small);
  ASSERT_TRUE(whole && large_one);
  // What is left for so little may be less than nothing, as exact as clocks are.
  EXPECT_TRUE(small_one || small_one.error().code == "measure.rest") << small_one.error().to_string();
  if (small_one) EXPECT_LT(small_one->tuned_seconds, whole->tuned_seconds / 20);
  EXPECT_LT(measured.alone(small).value(), whole->tuned_seconds / 20);
  EXPECT_GT(large_one->tuned_seconds, whole->tuned_seconds / 20);
  EXPECT_EQ(by_itself(measured.nest->units[0]), "");
  EXPECT_EQ(by_itself(measured.nest->units[1]), ", the unit by itself");
}

TEST(Measure, WhatTheClockIsStoppedForIsNoTimeOfTheNest) {
  std::map<int, NestTimes> times;
  add_times("3 2 10 4 2 0 100\n", times);
  add_times("3 2 12 4 1 0 100\n", times);
  const NestTimes& nest = times.at(3);
  EXPECT_EQ(nest.seconds, (std::vector<double>{3, 4}));
  EXPECT_EQ(nest.others, (std::vector<double>{2, 2}));
  EXPECT_FALSE(nest.generated);
  EXPECT_EQ(nest.values, (std::vector<std::int64_t>{100}));
}

}  // namespace
}  // namespace sous::client
