#include "client/choose.h"

#include <gtest/gtest.h>

#include "client/promise.h"
#include "frontends/c/lift.h"
#include "tests/unit/client/choosing.h"
#include "tests/unit/client/measured.h"

namespace sous::client {
namespace {

// Two nests; the first with little work, so that the second alone decides.
struct TwoNests {
  Result<frontends::TranslationUnit> unit = frontends::c::lift(R"(void f(int n, double C[100][100], double x[100]) {
  for (int i = 0; i < n; i++) x[i] = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) C[i][j] += x[j];
})",
                                                               "test.c", {});
  Result<PreparedNest> nest = prepare(unit->nests.at(0), {}, {}, machine());

  // By what the kernel is served when the whole and the second nest have matches at these distances (negative: none).
  // The whole's match is so much faster than its baseline, the nest's twice as fast.
  std::string served(double whole, double second, double whole_ratio = 2) const {
    PreparedNest asked = *nest;
    const auto add = [&](std::size_t unit, double distance, double ratio) {
      if (distance < 0) return;
      auto match = measured(ratio, 1);
      match.distance = distance;
      match.evidence.size_class = size_class_of(asked.units[unit]);
      asked.units[unit].matches = {match};
    };
    add(0, whole, whole_ratio);
    add(2, second, 2);
    const Chosen chosen = choose({.nest = asked});
    std::string units;
    for (const Choice& choice : chosen.choices) units += std::to_string(choice.unit) + " ";
    return units;
  }
};

TEST(Choose, TheWholeUnlessItsNestsPromiseMore) {
  const TwoNests two;
  ASSERT_EQ(tuning_db::hardware_class(machine()), here);
  ASSERT_TRUE(two.unit && two.nest);
  ASSERT_EQ(two.nest->units.size(), 3u);
  EXPECT_EQ(two.served(0, 0), "0 ");
  EXPECT_EQ(two.served(2, 0), "2 ");
  EXPECT_EQ(two.served(1, 2), "0 ");
  EXPECT_EQ(two.served(-1, 1), "2 ");
  EXPECT_EQ(two.served(2, -1), "");  // 1 + 1/3: too little so far away
  EXPECT_EQ(two.served(2, -1, 4), "0 ");
  EXPECT_EQ(two.served(-1, -1), "");
  EXPECT_EQ(two.served(0, 0, 1.5), "0 ");  // measured on this very stretch
  EXPECT_EQ(two.served(1, 0, 3), "0 ");    // 1 + 2 * 2/3
  EXPECT_EQ(two.served(2, 0, 3), "2 ");    // 1 + 2 * 1/3
}

// What was measured of a neighbour's smallest shapes holds for longer loops only: the other nest is not that one.
TEST(Choose, ANeighboursThresholdsAreDoubled) {
  const auto unit_of = [](const char* update) {
    return frontends::c::lift(
        "void f(int n, int m, double a[restrict n][m], const double b[restrict n][m]) {\n"
        "  for (int i = 0; i < n; i++)\n    for (int j = 0; j < m; j++) " +
            std::string(update) + ";\n}",
        "test.c", {});
  };
  const auto asked_unit = unit_of("a[i][j] += b[i][j]"), known_unit = unit_of("a[i][j] -= b[i][j]");
  ASSERT_TRUE(asked_unit && known_unit);
  auto asked = prepare(asked_unit->nests.at(0), {}, {}, machine());
  const auto known = prepare(known_unit->nests.at(0), {}, {}, machine());
  ASSERT_TRUE(asked && known);
  auto match = measured(4, 1);
  match.nest = known->units[0].nest;
  match.recipe = *transforms::recipe_from_text("tile(loops=[i0, i1], sizes=[8, 8]) -> cpp");
  match.evidence.size_class = size_class_of(asked->units[0]);
  match.evidence.extents = {1000, 2000};
  match.evidence.work = 2e6;
  match.evidence.least_extents = {10, 0};
  match.evidence.least_work = 5000;
  const auto guard = [&](double distance) {
    match.distance = distance;
    asked->units[0].matches = {match};
    const Chosen chosen = choose({.nest = *asked});
    EXPECT_EQ(chosen.guards.size(), 1u) << chosen.why;
    return chosen.guards.empty() ? targets::Guard{} : chosen.guards[0];
  };
  EXPECT_EQ(guard(0.5).least_extents, (std::vector<double>{20, 0}));
  EXPECT_EQ(guard(0.5).least_work, 10000);
  match.evidence.least_work = 1.5e6;
  EXPECT_EQ(guard(0.5).least_work, 2e6);
  match.nest = asked->units[0].nest;
  EXPECT_EQ(guard(0).least_extents, (std::vector<double>{10, 0}));
}

// 700 by 700 elements take a millisecond where 1000 by 2000 took four, 100 by 100 some microseconds.
TEST(Choose, ThreadsThatCostMoreThanTheySaveAreLeftOut) {
  const auto unit_of = [](const std::string& n) {
    const auto unit = frontends::c::lift("void f(double a[restrict " + n + "][" + n + "], const double b[restrict " +
                                             n + "][" + n + "]) {\n  for (int i = 0; i < " + n +
                                             "; i++)\n    for (int j = 0; j < " + n + "; j++) a[i][j] += b[i][j];\n}",
                                         "test.c", {});
    return prepare(unit->nests.at(0), {}, {}, machine())->units.at(0);
  };
  auto match = measured(16e-3, 2e-3);
  match.recipe = *transforms::recipe_from_text("parallelize(loop=i0); vectorize(loop=i1, lanes=8) -> openmp");
  match.evidence.threads = 2;
  match.evidence.work = 2e6;
  EXPECT_EQ(as_it_counts(unit_of("700"), match, 1).match.recipe, match.recipe);
  EXPECT_EQ(as_it_counts(unit_of("700"), match, 1).doubts, "");
  const Here alone = as_it_counts(unit_of("100"), match, 1);
  EXPECT_EQ(alone.match.recipe, *transforms::recipe_from_text("vectorize(loop=i1, lanes=8) -> openmp"));
  EXPECT_EQ(alone.match.evidence.threads, 1);
  EXPECT_EQ(alone.match.evidence.ratio(), 4);
  EXPECT_EQ(alone.doubts, "measured 8.00 times as fast, counted as 4.00 times as fast (without its 2 threads)");
  // So what gains 5 times on one thread goes first there.
  Unit small = unit_of("100"), large = unit_of("700");
  small.matches = large.matches = {match, measured(10e-3, 2e-3)};
  EXPECT_EQ(as_they_count(small).front(), &small.matches[1]);
  EXPECT_EQ(as_they_count(large).front(), large.matches.data());
}

// Measured in order, with leave to reorder here: the compiler makes vectors of the sums itself.
TEST(Choose, WhatWasMeasuredInOrderCountsLessWhereSumsMayBeReordered) {
  const auto served = [](bool reassociate, const char* compiler, const char* element = "a[i][j]") {
    const auto unit = frontends::c::lift(
        "void f(double y[restrict 400], const double a[restrict 400][400], const double x[restrict 400]) {\n"
        "  for (int i = 0; i < 400; i++) {\n    double s = 0;\n    for (int j = 0; j < 400; j++) s += " +
            std::string(element) + " * x[j];\n    y[i] = s;\n  }\n}",
        "test.c", {});
    auto nest = prepare(unit->nests.at(0), {.reassociate = reassociate}, {}, machine());
    const Unit& last = nest->units.back();
    auto match = measured(7, 1);
    match.recipe = *transforms::recipe_from_text("tile(loops=[i0], sizes=[8]) -> cpp");
    match.evidence.size_class = size_class_of(last);
    match.evidence.compiler = compiler;
    nest->units.back().matches = {match};
    const Chosen chosen = choose({.nest = *nest});
    std::string why;
    for (const auto& candidate : chosen.units.back().candidates) why += candidate.used ? "used" : candidate.why_not;
    return why;
  };
  EXPECT_EQ(served(false, "clang-19 -O3 -march=native"), "used");
  EXPECT_EQ(served(true, "clang-19 -O3 -march=native -ffast-math"), "used");
  EXPECT_EQ(served(true, "clang-19 -O3 -march=native"), "not faster: 0.88 times as fast");
  // What lies in a line of memory each fills no lanes.
  EXPECT_EQ(served(true, "clang-19 -O3 -march=native", "a[j][i]"), "used");
}

// Half of the way from what gained 1.2 times there to what gained 120 times is where 12 times were gained.
TEST(Choose, WhatGainsLessHasToBeLarger) {
  const auto unit = frontends::c::lift("void f(int n, double a[restrict n]) { for (int i = 0; i < n; i++) a[i] += 1; }",
                                       "test.c", {});
  ASSERT_TRUE(unit);
  const auto nest = prepare(unit->nests.at(0), {.reassociate = true}, {}, machine());
  auto match = measured(120, 1);
  match.evidence.compiler = "clang-19 -O3";
  match.evidence.extents = {2500, 50, 0};
  match.evidence.least_extents = {25, 60, 7};
  match.evidence.work = 9e6;
  match.evidence.least_work = 9e4;
  const auto asked = [&](double lanes) { return as_it_counts(nest->units.at(0), match, lanes).match.evidence; };
  EXPECT_EQ(asked(1).least_extents, match.evidence.least_extents);
  EXPECT_EQ(asked(10).least_extents, (std::vector<double>{250, 60, 7}));
  EXPECT_EQ(asked(10).least_work, 9e5);
  EXPECT_EQ(asked(1000).least_extents, (std::vector<double>{2500, 60, 7}));
}

// The same nest at another size is no neighbour: its thresholds are this one's.
TEST(Choose, ThresholdsOfTheSameNestAtAnotherSizeStay) {
  const auto nest_of = [](const char* arguments, const char* n) {
    const std::string size = n;
    const auto unit =
        frontends::c::lift("void f(" + std::string(arguments) + "double a[restrict][" + size +
                               "], const double b[restrict][" + size + "]) {\n  for (int i = 0; i < " + size +
                               "; i++)\n    for (int j = 0; j < " + size + "; j++) a[i][j] += b[i][j];\n}",
                           "test.c", {});
    return prepare(unit->nests.at(0), {}, {}, machine())->units.at(0);
  };
  const Unit here_unit = nest_of("", "700");
  auto match = measured(4, 1);
  match.nest = nest_of("int n, ", "n").nest;
  match.recipe = *transforms::recipe_from_text("tile(loops=[i0, i1], sizes=[8, 8]) -> cpp");
  match.evidence.extents = {1000, 2000};
  match.evidence.least_extents = {10, 20};
  match.evidence.least_work = 5000;
  const auto fit = fitted(here_unit, match, "", false);
  ASSERT_TRUE(fit) << fit.error().to_string();
  EXPECT_EQ(fit->recipe, match.recipe);
  EXPECT_EQ(fit->evidence.least_extents, match.evidence.least_extents);
  EXPECT_EQ(fit->evidence.least_work, match.evidence.least_work);
}

// The first nest's shapes would be asked for on entry, and keep the second one's recipe from running.
TEST(Choose, ANestWithoutWorkIsLeftAloneWhereSizesAreNotKnown) {
  const TwoNests two;
  ASSERT_TRUE(two.unit && two.nest);
  const auto served = [](PreparedNest nest) {
    auto match = measured(4, 1);
    for (const std::size_t k : {1, 2}) {
      match.evidence.size_class = size_class_of(nest.units[k]);
      nest.units[k].matches = {match};
    }
    std::string units;
    for (const Choice& choice : choose({.nest = nest}).choices) units += std::to_string(choice.unit) + " ";
    return units;
  };
  EXPECT_EQ(served(*two.nest), "2 ");
  const auto known = prepare(two.unit->nests.at(0), {}, {{"n", 100}}, machine());
  ASSERT_TRUE(known);
  EXPECT_EQ(served(*known), "1 2 ");
}

TEST(Choose, APredictedLossIsSaidOfNeighboursOnly) {
  const TwoNests two;
  ASSERT_TRUE(two.unit && two.nest);
  PreparedNest asked = *two.nest;
  auto match = measured(4, 1);
  match.evidence.size_class = size_class_of(asked.units[0]);
  const auto chosen = [&](double distance, tuning_db::FindGainModel model) {
    match.distance = distance;
    asked.units[0].matches = {match};
    return choose({.nest = asked, .gain_model = model});
  };
  EXPECT_EQ(chosen(1, nullptr).choices.size(), 1u);
  EXPECT_EQ(chosen(0, pessimist).choices.size(), 1u);
  const auto why_not = [&](tuning_db::FindGainModel model) {
    const Chosen refused = chosen(1, model);
    for (const Choice& choice : refused.choices) EXPECT_EQ(choice.match.origin, transforms::Origin::Strategy);
    return refused.units[0].candidates.at(0).why_not;
  };
  EXPECT_EQ(why_not(pessimist), "too little is predicted for this nest: 0.50 times as fast");
  EXPECT_EQ(why_not(gambler), "this nest may become slower: one in ten such is predicted below 0.50 times as fast");
}

// Says so many times of whatever a loop on threads is entered for with enough work, and of nothing else.
const tuning_db::GainModel* believer() {
  static const auto model = [] {
    constexpr auto operations = static_cast<std::size_t>(tuning_db::ScheduleFeature::operations);
    constexpr auto threads =
        tuning_db::schedule_feature_count + static_cast<std::size_t>(tuning_db::ScheduleFeature::threads);
    std::vector<tuning_db::GainSample> samples;
    for (int k = 0; k < 800; ++k) {
      tuning_db::GainSample sample;
      sample.features[operations] = 15 + k / 2 % 16;
      sample.features[threads] = k % 2;
      sample.gain = k % 2 != 0 && k / 2 % 16 >= 8 ? 4 : 0.5;
      sample.group = std::to_string(k / 2 % 20);
      samples.push_back(sample);
    }
    return tuning_db::GainModel::train(samples, {here, 2});
  }();
  return &model;
}

struct RowSums {
  Result<frontends::TranslationUnit> unit = frontends::c::lift(
      "void f(int n, int m, double a[n][m], double *y) {\n"
      "  for (int i = 0; i < n; i++)\n"
      "    for (int j = 0; j < m; j++) y[i] += a[i][j];\n"
      "}\n",
      "f.c", {});
};

TEST(Choose, AStrategyServesWhatNoSourceKnows) {
  const RowSums rows;
  ASSERT_TRUE(rows.unit);
  const auto nest = [&](const std::map<std::string, std::int64_t>& sizes) {
    return prepare(rows.unit->nests.at(0), {}, sizes, machine()).value();
  };
  EXPECT_TRUE(choose({.nest = nest({})}).choices.empty());
  // Threads are known to gain a little.
  const Chosen little = choose({.nest = nest({}), .gain_model = pessimist});
  ASSERT_EQ(little.choices.size(), 1u);
  EXPECT_LT(little.choices[0].match.believed, 1.5);

  const PreparedNest open = nest({});
  const Chosen chosen = choose({.nest = open, .gain_model = believer});
  ASSERT_EQ(chosen.choices.size(), 1u) << chosen.why;
  const auto& match = chosen.choices[0].match;
  EXPECT_EQ(match.origin, transforms::Origin::Strategy);
  EXPECT_NEAR(match.believed, 4, 0.5);
  EXPECT_NE(chosen.why.find("strategy"), std::string::npos) << chosen.why;
  // It was not predicted of another target's code.
  EXPECT_TRUE(choose({.nest = open, .target = "cpp", .gain_model = believer}).choices.empty());
  // Runs of the sizes that it is not sure about are the original's.
  ASSERT_EQ(chosen.guards.size(), 1u);
  ASSERT_EQ(chosen.guards[0].least_extents.size(), 2u);
  for (const double extent : chosen.guards[0].least_extents) EXPECT_GT(extent, 100);
  EXPECT_GT(chosen.guards[0].least_work, 10000);
  EXPECT_GT(chosen.guards[0].gain, 0);

  EXPECT_EQ(choose({.nest = nest({{"n", 10000}, {"m", 10000}}), .gain_model = believer}).choices.size(), 1u);
  EXPECT_TRUE(choose({.nest = nest({{"n", 30}, {"m", 40}}), .gain_model = believer}).choices.empty());
}

// Whether the one nest of a text gets a recipe with lanes, by a model that expects much.
bool gets_lanes(const std::string& text, const Meaning& meaning = {}) {
  const auto unit = frontends::c::lift("#include <math.h>\n" + text, "f.c", {});
  const auto nest = prepare(unit.value().nests.at(0), meaning, {}, machine());
  const auto is_lanes = [](const auto& step) { return step.step == "vectorize"; };
  return std::ranges::any_of(choose({.nest = nest.value(), .gain_model = believer}).choices, [&](const Choice& choice) {
    return std::ranges::any_of(choice.match.recipe.steps, is_lanes);
  });
}

TEST(Choose, LanesThatTheCodeDoesNotHaveAreNoGain) {
  // Rows of a sparse matrix: where they begin and end lies in memory, so lanes have no iterations in common.
  EXPECT_FALSE(gets_lanes(R"(void f(int n, const int *restrict at, const int *restrict col, const double *restrict a,
      const double *restrict x, double *restrict y) {
    for (int i = 0; i < n; i++) {
      double s = 0;
      for (int k = at[i]; k < at[i + 1]; k++) s += a[k] * x[col[k]];
      y[i] = s;
    }
  })"));
  // Where functions set errno, lanes may make no call that the program makes in some of them.
  const std::string roots = R"(void f(int n, int m, const double *restrict a, double *restrict y) {
    for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[i * m + j] += a[i * m + j] > 0 ? sqrt(a[i * m + j]) : 1;
  })";
  EXPECT_TRUE(gets_lanes(roots));
  EXPECT_FALSE(gets_lanes(roots, {.math_errno = true}));
}

const std::string escape = R"(void f(int n, int m, const double *restrict x, int *restrict out) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      double v = x[i * m + j];
      int k = 0;
      while (v < 1e6 && k < 500) {
        v = v * v + 0.3;
        k++;
      }
      out[i * m + j] = k;
    }
})";

TEST(Choose, ThreadsAloneServeWhatComputesMuchOnLittleData) {
  const Chosen chosen = without_expectations(escape);
  ASSERT_EQ(chosen.choices.size(), 1u) << chosen.why;
  EXPECT_NE(chosen.why.find("outer_threads"), std::string::npos) << chosen.why;
  const auto& steps = chosen.choices[0].match.recipe.steps;
  ASSERT_EQ(steps.size(), 1u);
  // Iterations take what they take.
  EXPECT_EQ(transforms::to_text(chosen.choices[0].match.recipe), "parallelize(loop=i0, kind=dynamic) -> highway");
  // Small ones are the original's.
  ASSERT_EQ(chosen.guards.size(), 1u);
  EXPECT_GT(chosen.guards[0].least_work, 1000);
  EXPECT_TRUE(without_expectations(escape, {{"n", 10}, {"m", 10}}).choices.empty());
}

// Of what memory bounds less is expected; of single loops nothing that a build would pay for.
TEST(Choose, ThreadsAloneServeStreamsOfDeepNests) {
  const Chosen chosen = without_expectations(R"(void f(int n, int m, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) y[i * m + j] = 2 * x[i * m + j] + 1;
})");
  ASSERT_EQ(chosen.choices.size(), 1u) << chosen.why;
  EXPECT_NEAR(chosen.choices[0].match.believed, 1.2, 0.01);
  ASSERT_EQ(chosen.guards.size(), 1u);
  EXPECT_GT(chosen.guards[0].least_work, 1e5);
  EXPECT_TRUE(without_expectations(R"(void f(int n, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++) y[i] = 2 * x[i] + 1;
})")
                  .choices.empty());
}

// For shapes that a recipe has no evidence for there are threads alone, where they gain.
TEST(Choose, OtherShapesGetThreadsAlone) {
  const RowSums rows;
  ASSERT_TRUE(rows.unit);
  const PreparedNest open = prepare(rows.unit->nests.at(0), {}, {}, machine()).value();
  const Chosen chosen = choose({.nest = open, .gain_model = believer});
  ASSERT_EQ(chosen.choices.size(), 1u) << chosen.why;
  ASSERT_EQ(chosen.otherwise.size(), 1u);
  const Chosen& other = chosen.otherwise[0];
  ASSERT_EQ(other.choices.size(), 1u);
  EXPECT_NE(other.why.find("outer_threads"), std::string::npos) << other.why;
  ASSERT_EQ(other.guards.size(), 1u);
  EXPECT_LT(std::ranges::min(other.guards[0].least_extents), std::ranges::min(chosen.guards[0].least_extents));
  EXPECT_TRUE(choose({.nest = open, .gain_model = believer, .other_shapes = false}).otherwise.empty());
  // Of a shape that is known there is no other.
  const PreparedNest known = prepare(rows.unit->nests.at(0), {}, {{"n", 10000}, {"m", 10000}}, machine()).value();
  EXPECT_TRUE(choose({.nest = known, .gain_model = believer}).otherwise.empty());
}

// A recipe for many threads has beside it what gains most on one: that runs where threads are fewer than beat it.
TEST(Choose, FewerThreadsGetWhatGainsMostOnOne) {
  const auto unit = frontends::c::lift(
      "void f(double *restrict x) { for (int i = 0; i < 4000000; i++) x[i] = x[i] * 2 + 1; }", "test.c", {});
  ASSERT_TRUE(unit);
  auto many = machine();
  many.cores = 16;
  PreparedNest nest = prepare(unit->nests.at(0), {}, {}, many).value();
  const auto match = [&](const char* recipe, double ratio, int threads) {
    auto m = measured(ratio, 1);
    m.evidence.hardware = tuning_db::hardware_class(many);
    m.evidence.size_class = size_class_of(nest.units[0]);
    m.evidence.threads = threads;
    m.recipe = transforms::parse_recipe(recipe).value();
    return m;
  };
  const auto threads = match("parallelize(loop=i0) -> openmp", 8, 16);
  const auto vectors = match("vectorize(loop=i0) -> highway", 2, 1), less = match("-> cpp", 1.5, 1);
  nest.units[0].matches = {threads, less, vectors};
  const Chosen chosen = choose({.nest = nest});
  ASSERT_EQ(chosen.choices.size(), 1u) << chosen.why;
  EXPECT_EQ(chosen.choices[0].match.recipe, threads.recipe);
  EXPECT_EQ(chosen.least_threads, 4);  // 8 of 16 threads are 2 of four
  ASSERT_EQ(chosen.otherwise.size(), 1u);
  EXPECT_EQ(chosen.otherwise[0].choices.at(0).match.recipe, vectors.recipe);
  EXPECT_EQ(chosen.otherwise[0].threads, 1);
  EXPECT_TRUE(choose({.nest = nest, .other_shapes = false}).otherwise.empty());
  // Without such evidence there is nothing beside it, and fewer threads are enough to gain.
  nest.units[0].matches = {threads};
  EXPECT_TRUE(choose({.nest = nest}).otherwise.empty());
  EXPECT_EQ(choose({.nest = nest}).least_threads, 3);
}

// No compiler finds vectors where an element of the row is read by all others and written by one.
TEST(Choose, PivotsServeClosures) {
  const std::string closure = R"(void f(int n, TYPE d[n][n]) {
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        TYPE through = d[i][k] + d[k][j];
        if (through < d[i][j]) d[i][j] = through;
      }
})";
  for (const std::string type : {"int", "float", "double"}) {
    std::string text = closure;
    for (std::size_t at = text.find("TYPE"); at != std::string::npos; at = text.find("TYPE")) text.replace(at, 4, type);
    const Chosen chosen = without_expectations(text);
    ASSERT_EQ(chosen.choices.size(), 1u) << chosen.why;
    EXPECT_EQ(chosen.choices[0].match.name, "pivots");
    EXPECT_EQ(chosen.threads, 2);
    // Threads have to be sent out twice a step: for smaller ones there are vectors alone, and then the original.
    ASSERT_EQ(chosen.otherwise.size(), 1u);
    const Chosen& other = chosen.otherwise[0];
    EXPECT_EQ(other.threads, 1);
    EXPECT_FALSE(transforms::to_text(other.choices.at(0).match.recipe).contains("parallelize"));
    EXPECT_GT(chosen.guards.at(0).least_work, 50 * other.guards.at(0).least_work);
    EXPECT_GT(other.guards.at(0).least_work, 40 * 40 * 40);
    EXPECT_TRUE(without_expectations(text, {{"n", 30}}).choices.empty());
    EXPECT_EQ(without_expectations(text, {{"n", 300}}).threads, 1);
    EXPECT_EQ(without_expectations(text, {{"n", 3000}}).threads, 2);
    // Stores under conditions want masks.
    tuning_db::Hardware narrow = machine();
    for (const auto isa : {tuning_db::Isa::avx2, tuning_db::Isa::sse}) {
      narrow.isa = isa;
      EXPECT_TRUE(without_expectations(text, {{"n", 3000}}, narrow).choices.empty());
    }
  }
}

// What says nothing of how long loops are may be as large as it likes: threads never pay for these.
TEST(Choose, PivotsOfAKnownSizeWithAnOpenOffset) {
  const Chosen chosen = without_expectations(R"(void f(int first, double d[][120]) {
  for (int k = 0; k < 120; k++)
    for (int i = 0; i < 120; i++)
      for (int j = 0; j < 120; j++)
        if (d[first + i][k] + d[first + k][j] < d[first + i][j])
          d[first + i][j] = d[first + i][k] + d[first + k][j];
})");
  ASSERT_EQ(chosen.choices.size(), 1u) << chosen.why;
  EXPECT_EQ(chosen.choices[0].match.name, "pivots");
  EXPECT_EQ(chosen.threads, 1);
}

tuning_db::Hardware with_short_vectors() {
  tuning_db::Hardware hardware = machine();
  hardware.isa = tuning_db::Isa::sse;
  return hardware;
}

// Columns, one element of each line at a time, are rows in the normal form: compilers leave the order as it is.
TEST(Choose, ColumnsThatTheNormalFormMakesRows) {
  const auto reflections = [](const std::string& element) {
    return "void f(int steps, int m, int n, double a[m][n], double b[n][m]) {\n"
           "  for (int k = 0; k < steps; k++)\n"
           "    for (int j = k + 1; j < n; j++) {\n"
           "      double s = 0;\n"
           "      for (int i = k; i < m; i++) s += a[i][k] * " +
           element +
           ";\n"
           "      s = -s / a[k][k];\n"
           "      for (int i = k; i < m; i++) " +
           element +
           " += s * a[i][k];\n"
           "    }\n}";
  };
  const std::map<std::string, std::int64_t> large{{"steps", 900}, {"m", 1000}, {"n", 1000}};
  tuning_db::Hardware narrow = machine();
  narrow.isa = tuning_db::Isa::avx2;
  for (const tuning_db::Hardware& hardware : {machine(), narrow}) {
    const Chosen chosen = without_expectations(reflections("a[i][j]"), large, hardware);
    ASSERT_EQ(chosen.choices.size(), 1u) << chosen.why;
    EXPECT_EQ(chosen.choices[0].match.name, "parallel_vectors");
    EXPECT_TRUE(transforms::to_text(chosen.choices[0].match.recipe).contains("vectorize"));
    EXPECT_TRUE(
        without_expectations(reflections("a[i][j]"), {{"steps", 30}, {"m", 40}, {"n", 40}}, hardware).choices.empty());
  }
  // These columns are rows in the program.
  for (const Choice& choice : without_expectations(reflections("b[j][i]"), large).choices)
    EXPECT_NE(choice.match.name, "parallel_vectors");
  for (const Choice& choice : without_expectations(reflections("a[i][j]"), large, with_short_vectors()).choices)
    EXPECT_NE(choice.match.name, "parallel_vectors");
}

// A compiler that keeps the order of a sum waits for each of its elements; beside each other sums fill the lanes.
TEST(Choose, SumsBesideEachOtherFillLanes) {
  const auto filter = [](const std::string& type, const std::string& side) {
    return "void f(int n, int m, " + type + " *restrict out, const " + type + " *restrict in, const " + type +
           " *restrict w) {\n"
           "  for (int i = 0; i < n; i++) {\n"
           "    " +
           type +
           " s = 0;\n"
           "    for (int k = 0; k < " +
           side +
           "; k++) s += w[k] * in[i + k];\n"
           "    out[i] = s;\n"
           "  }\n}";
  };
  tuning_db::Hardware narrow = machine();
  narrow.isa = tuning_db::Isa::avx2;
  double before = 0;
  // Twice the lanes are worth twice as much.
  for (const auto& [type, hardware] : {std::pair{"double", &narrow}, std::pair{"float", &narrow}}) {
    const Chosen chosen = without_expectations(filter(type, "m"), {}, *hardware);
    ASSERT_EQ(chosen.choices.size(), 1u) << chosen.why;
    EXPECT_EQ(chosen.choices[0].match.name, "register_tiles");
    EXPECT_GE(chosen.choices[0].match.believed, 1.9 * std::max(1.0, before));
    before = chosen.choices[0].match.believed;
  }
  // The compiler unrolls what is short, and makes vectors of what is around it; there are none on other machines; and
  // with leave to reassociate it makes them of the sum.
  for (const Choice& choice : without_expectations(filter("double", "5"), {}, narrow).choices)
    EXPECT_NE(choice.match.name, "register_tiles");
  for (const Choice& choice : without_expectations(filter("double", "m"), {}, with_short_vectors()).choices)
    EXPECT_NE(choice.match.name, "register_tiles");
  // Too few sums.
  for (const Choice& choice : without_expectations(filter("double", "m"), {{"n", 40}}, narrow).choices)
    EXPECT_EQ(choice.match.name, "fused_loops");
}

// Of halves that both wait for their sums each fills its lanes; not where the program waits for the two at once, and
// not where one half does not wait.
TEST(Choose, HalvesOfANestFillLanes) {
  const auto chosen = [](const std::string& body) {
    std::string names;
    const Chosen chosen = without_expectations(
        "void f(int n, int m, const float *restrict w, const float *restrict v, const float *restrict in,\n"
        "       const float *restrict b, float *restrict out, float *restrict also) {\n"
        "  for (int i = 0; i < n; i++) {\n    float s = 0, t = 0;\n" +
        body + "  }\n}");
    for (const Choice& choice : chosen.choices) names += choice.match.name + " ";
    return names;
  };
  const std::string first = "    for (int k = 0; k < m; k++) s += w[k] * in[i + k];\n";
  EXPECT_EQ(chosen(first + "    for (int k = 0; k < m; k++) s += v[k] * b[i + k];\n    out[i] = s;\n"),
            "register_tiles register_tiles ");
  EXPECT_FALSE(chosen("    for (int k = 0; k < m; k++) s += w[k] * in[i + k], t += v[k] * b[i + k];\n"
                      "    out[i] = s; also[i] = t;\n")
                   .contains("register_tiles"));
  EXPECT_FALSE(chosen(first + "    out[i] = s;\n    for (int k = 0; k < m; k++) also[k] += v[i] * b[i + k];\n")
                   .contains("register_tiles"));
}

// A window of several rows, added up in one tile of the picture.
TEST(Choose, WindowsOfSeveralRowsStayInRegisters) {
  const Chosen chosen = without_expectations(
      R"(void f(int rows, int columns, int side, float *restrict out, const float *restrict in, const float *restrict w) {
  for (int y = 0; y < rows; y++)
    for (int x = 0; x < columns; x++) {
      float s = 0;
      for (int v = 0; v < side; v++)
        for (int u = 0; u < side; u++) s += w[v * side + u] * in[(y + v) * (columns + side - 1) + x + u];
      out[y * columns + x] = s;
    }
})");
  ASSERT_EQ(chosen.choices.size(), 1u) << chosen.why;
  EXPECT_EQ(chosen.choices[0].match.name, "register_tiles");
  EXPECT_EQ(chosen.threads, 2);
}

// Threads pay for short windows and narrow images, as long as there are rows to share out.
TEST(Choose, ShortWindowsAndNarrowImagesGetThreads) {
  const std::string text = R"(#include <math.h>
void f(int rows, int columns, int side, int stride, double *restrict out, const double *restrict in) {
  for (int y = 0; y < rows; y++)
    for (int x = 0; x < columns; x++) {
      double s = 0;
      for (int k = 0; k < side; k++) s += sin(in[y * stride + x + k]);
      out[y * columns + x] = s;
    }
})";
  const Chosen chosen = without_expectations(text, {}, with_short_vectors());
  ASSERT_EQ(chosen.guards.size(), 1u) << chosen.why;
  EXPECT_EQ(chosen.threads, 2);
  const std::vector<double>& least = chosen.guards[0].least_extents;
  // Of each of its parts: rows, so many that both threads have next to half of them, columns, and the side once.
  EXPECT_EQ(std::ranges::max(least), 9) << ::testing::PrintToString(least);
  EXPECT_EQ(std::ranges::count(least, 9), 2);
  EXPECT_EQ(std::ranges::count(least, 1), 2);
  // A hundred and thirty microseconds of sines.
  EXPECT_LT(chosen.guards[0].least_work, 40'000);
  EXPECT_GT(chosen.guards[0].least_work, 3'000);
}

// Rows advance together, in lanes, or where these are few as chains that overlap; short rows are the original's.
TEST(Choose, StaggeredRowsServeSweepsInPlace) {
  const std::string sweep = R"(void f(int n, int m, int steps, double a[n][m]) {
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        a[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
})";
  // Sixteen lanes, or eight that bring little from memory.
  std::string floats = std::string(sweep).replace(sweep.find("double"), 6, "float");
  floats.insert(floats.find("0.25") + 4, "f");
  EXPECT_TRUE(without_expectations(floats).why.contains("staggered_lanes"));
  const Chosen chosen = without_expectations(sweep);
  ASSERT_EQ(chosen.choices.size(), 1u) << chosen.why;
  EXPECT_EQ(chosen.choices[0].match.name, "staggered_rows");
  EXPECT_EQ(chosen.threads, 1);
  ASSERT_EQ(chosen.guards.size(), 1u);
  EXPECT_GE(chosen.guards[0].least_extents.at(2), 96);
  EXPECT_EQ(without_expectations(sweep, {{"n", 500}, {"m", 500}, {"steps", 100}}).choices.size(), 1u);
  EXPECT_TRUE(without_expectations(sweep, {{"n", 500}, {"m", 40}, {"steps", 100}}).choices.empty());
  EXPECT_TRUE(without_expectations(sweep, {{"n", 6}, {"m", 500}, {"steps", 1000}}).choices.empty());
}

// What a program holds in a register while it looks around is not to be updated in memory: its own order it is.
TEST(Choose, RunningExtremaInWindowsStayInRegisters) {
  const std::string erode =
      R"(void f(int h, int w, int r, const unsigned char *restrict in, unsigned char *restrict out) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      unsigned char m = 255;
      for (int dy = -r; dy <= r; dy++)
        for (int dx = -r; dx <= r; dx++) {
          int yy = y + dy, xx = x + dx;
          if (yy < 0 || yy >= h || xx < 0 || xx >= w) continue;
          if (in[yy * w + xx] < m) m = in[yy * w + xx];
        }
      out[y * w + x] = m;
    }
})";
  const Chosen chosen = without_expectations(erode);
  EXPECT_TRUE(chosen.why.starts_with("the nest as it is written by outer_threads")) << chosen.why;
}

// A few rows times a large matrix, each element a sum in order: too few for the evidence, and packed operands fill
// lanes all the same. One row is left alone: packing would cost what it gains.
TEST(Choose, ThinProductsThatWaitForSumsArePacked) {
  const auto layer = [](const std::string& rows) {
    return without_expectations("void f(int n, int m, const float w[n][n], const float x[" + rows +
                                "][n], float y[restrict " + rows + "][n]) {\n  for (int i = 0; i < " + rows +
                                "; i++)\n    for (int o = 0; o < n; o++) {\n      float s = 0;\n"
                                "      for (int k = 0; k < n; k++) s += w[o][k] * x[i][k];\n"
                                "      y[i][o] = s;\n    }\n}");
  };
  const Chosen chosen = layer("32");
  ASSERT_FALSE(chosen.choices.empty()) << chosen.why;
  EXPECT_EQ(chosen.choices.back().match.name, "contraction");
  for (const auto& choice : layer("1").choices) EXPECT_NE(choice.match.name, "contraction");
  // Where only the run knows how many rows there are, it decides: on threads for many, packed alone for few, and not
  // for one. Short sums are nothing that anybody waits for.
  const Chosen open = layer("m");
  ASSERT_FALSE(open.otherwise.empty()) << open.why;
  EXPECT_GT(open.threads, 1);
  const Chosen& few = open.otherwise[0];
  EXPECT_EQ(few.threads, 1);
  EXPECT_EQ(few.choices.back().match.name, "contraction");
  auto least = few.guards.at(0).least_extents;
  std::ranges::sort(least);
  ASSERT_EQ(least.size(), 3u);
  EXPECT_GE(least[0], 2);
  EXPECT_LE(least[0], 8);
  EXPECT_GE(least[1], 64);
  EXPECT_LT(few.guards[0].least_work, 100'000);
}

// The normal form brings the loop inside that goes over the same elements again: in the program's order a compiler
// makes vectors of the elements, there each iteration waits for the one before.
TEST(Choose, NothingIsMadeToWaitForItself) {
  const auto blend = [](const std::string& first, const std::string& second, const std::string& third) {
    return without_expectations("void f(int h, int w, int r, const int *restrict s, int *restrict d) {\n" + first +
                                second + third +
                                "  d[y * w + x] = (s[y * w + x] * 3 + d[y * w + x] * 5 + 7) / (r + 1);\n}");
  };
  const std::string again = "for (int t = 0; t < r; t++)\n", rows = "for (int y = 0; y < h; y++)\n",
                    row = "for (int x = 0; x < w; x++)\n";
  const Chosen chosen = blend(again, rows, row);
  EXPECT_TRUE(chosen.why.starts_with("the nest as it is written by outer_threads")) << chosen.why;
  EXPECT_FALSE(blend(rows, row, again).choices.empty());
}

// The best of many for each of many neighbours: no compiler makes vectors of the choice.
TEST(Choose, ChoicesBesideEachOtherFillLanes) {
  const std::string product =
      R"(void f(int n, const float a[n][n], const float b[n][n], float c[restrict n][n], int via[restrict n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      float best = 1e30f;
      int at = -1;
      for (int k = 0; k < n; k++) {
        float d = a[i][k] + b[k][j];
        if (d < best) {
          best = d;
          at = k;
        }
      }
      c[i][j] = best;
      via[i][j] = at;
    }
})";
  tuning_db::Hardware narrow = machine();
  narrow.isa = tuning_db::Isa::avx2;
  const Chosen chosen = without_expectations(product, {}, narrow);
  ASSERT_EQ(chosen.choices.size(), 1u) << chosen.why;
  EXPECT_EQ(chosen.choices[0].match.name, "parallel_vectors");
  for (const Choice& choice : without_expectations(product, {}, with_short_vectors()).choices)
    EXPECT_NE(choice.match.name, "parallel_vectors");
}

// What the normal form takes apart is one again: each core keeps what one part of an iteration hands to the next.
TEST(Choose, FusedPartsGetThreads) {
  const std::string nearest = R"(void f(int n, int m, const float p[n][8], const float c[m][8], int *restrict out) {
  for (int i = 0; i < n; i++) {
    float least = 1e30f;
    int best = 0;
    for (int k = 0; k < m; k++) {
      float d = 0;
      for (int j = 0; j < 8; j++) d += (p[i][j] - c[k][j]) * (p[i][j] - c[k][j]);
      if (d < least) {
        least = d;
        best = k;
      }
    }
    out[i] = best;
  }
})";
  const Chosen chosen = without_expectations(nearest);
  ASSERT_EQ(chosen.choices.size(), 1u) << chosen.why;
  EXPECT_EQ(chosen.choices[0].unit, 0u);
  EXPECT_NE(chosen.why.find("fused_loops"), std::string::npos) << chosen.why;
  EXPECT_EQ(chosen.choices[0].applied.root.nodes.size(), 1u);
  // Few or many points with few or many centres: work is what counts, and the loop that is shared out.
  ASSERT_EQ(chosen.guards.size(), 1u);
  EXPECT_EQ(std::ranges::max(chosen.guards[0].least_extents), 9);
  EXPECT_EQ(std::ranges::min(chosen.guards[0].least_extents), 1);
  EXPECT_EQ(without_expectations(nearest, {{"n", 500000}, {"m", 16}}).choices.size(), 1u);
  EXPECT_TRUE(without_expectations(nearest, {{"n", 500}, {"m", 16}}).choices.empty());
}

TEST(Choose, PartsThatReadApartWhatTheProgramReadsOnceAreNotPredicted) {
  const std::string sums = R"(void f(int n, int m, const double *restrict a, double *restrict s, double *restrict q) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      s[i] += a[i * m + j];
      q[i] += a[i * m + j] * a[i * m + j];
    }
})";
  const auto unit = frontends::c::lift(sums, "f.c", {});
  ASSERT_TRUE(unit);
  const auto nest = prepare(unit->nests.at(0), {}, {}, machine());
  ASSERT_TRUE(nest);
  ASSERT_GT(nest->units.size(), 1u);
  const Chosen chosen = choose({.nest = *nest, .gain_model = believer});
  ASSERT_EQ(chosen.choices.size(), 1u) << chosen.why;
  EXPECT_EQ(chosen.choices[0].unit, 0u) << chosen.why;  // as one they are
}

TEST(Choose, AStrategyStandsBackBehindWhatIsPinnedOrMeasured) {
  const RowSums rows;
  ASSERT_TRUE(rows.unit);
  PreparedNest nest = prepare(rows.unit->nests.at(0), {}, {}, machine()).value();
  auto match = measured(1, 2);
  match.evidence.size_class = "unknown:8";
  const auto chosen = [&] {
    nest.units[0].matches = {match};
    return choose({.nest = nest, .gain_model = believer}).choices.size();
  };
  EXPECT_EQ(chosen(), 1u);  // another recipe is no gain here
  const PreparedNest bare = prepare(rows.unit->nests.at(0), {}, {}, machine()).value();
  match.recipe = choose({.nest = bare, .gain_model = believer}).choices.at(0).match.recipe;
  EXPECT_EQ(chosen(), 0u);
  match.recipe = {};
  match.recipe.steps.push_back({"no-such-step", {}});
  match.origin = transforms::Origin::Lock;
  EXPECT_EQ(chosen(), 0u);
}

}  // namespace
}  // namespace sous::client
