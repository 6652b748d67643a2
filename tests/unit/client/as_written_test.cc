// Recipes for a nest in the program's own order.
#include <gtest/gtest.h>

#include "client/choose.h"
#include "frontends/c/lift.h"
#include "sdfg/text.h"
#include "tests/unit/client/measured.h"

namespace sous::client {
namespace {

// Expects nothing of any recipe.
const tuning_db::GainModel* pessimist() {
  static const auto model = [] {
    std::vector<tuning_db::GainSample> samples;
    for (int k = 0; k < 40; ++k) {
      tuning_db::GainSample sample;
      sample.gain = 0.5;
      sample.group = std::to_string(k % 4);
      samples.push_back(sample);
    }
    return tuning_db::GainModel::train(samples, {here, 2});
  }();
  return &model;
}

// Rows that are brought to mean 0 and deviation 1: what is kept of each is used again and again.
const std::string normalize = R"(#include <math.h>
void f(int n, int m, const float *restrict in, const float *restrict scale, float *restrict out) {
  for (int i = 0; i < n; i++) {
    float mean = 0, deviation = 0;
    for (int j = 0; j < m; j++) mean += in[i * m + j];
    mean /= m;
    for (int j = 0; j < m; j++) {
      float apart = in[i * m + j] - mean;
      deviation += apart * apart;
    }
    float by = 1 / sqrtf(deviation / m + 1e-5f);
    for (int j = 0; j < m; j++) out[i * m + j] = (in[i * m + j] - mean) * by * scale[j];
  }
})";

struct Rows {
  Result<frontends::TranslationUnit> unit = frontends::c::lift(normalize, "f.c", {});
  PreparedNest nest(const std::map<std::string, std::int64_t>& sizes = {}) const {
    return prepare(unit->nests.at(0), {}, sizes, machine()).value();
  }
};

TEST(AsWritten, OneLoopStaysOneLoop) {
  const Rows rows;
  ASSERT_TRUE(rows.unit);
  const PreparedNest nest = rows.nest();
  ASSERT_TRUE(nest.written);
  EXPECT_GT(nest.normal.root.nodes.size(), 1u);
  EXPECT_EQ(nest.written_form.root.nodes.size(), 1u);
  EXPECT_EQ(nest.written->index, nest.units.size());
  EXPECT_EQ(nest.unit(nest.units.size()).structural_hash, nest.written->structural_hash);
  EXPECT_EQ(&nest.form_of(*nest.written), &nest.written_form);
  EXPECT_EQ(&nest.form_of(nest.units[0]), &nest.normal);
}

TEST(AsWritten, WhatIsInNormalFormIsNoOtherUnit) {
  const auto unit =
      frontends::c::lift("void f(int n, double *x) { for (int i = 0; i < n; i++) x[i] = 2 * x[i]; }", "f.c", {});
  ASSERT_TRUE(unit);
  EXPECT_FALSE(prepare(unit->nests.at(0), {}, {}, machine()).value().written);
}

TEST(AsWritten, ThreadsAloneWhereTheNormalFormGetsNothing) {
  const Rows rows;
  ASSERT_TRUE(rows.unit);
  const PreparedNest nest = rows.nest();
  const Chosen chosen = choose({.nest = nest, .gain_model = pessimist});
  ASSERT_EQ(chosen.choices.size(), 1u) << chosen.why;
  const Choice& choice = chosen.choices[0];
  EXPECT_EQ(choice.unit, nest.units.size()) << chosen.why;
  EXPECT_EQ(transforms::to_text(choice.match.recipe), "parallelize(loop=i0, kind=static) -> highway");
  ASSERT_EQ(chosen.units.size(), nest.units.size() + 1);
  EXPECT_EQ(chosen.units.back().structural_hash, nest.written->structural_hash);
  // What is generated is the program, but for the threads.
  auto assembled = assemble(nest, chosen.choices);
  ASSERT_TRUE(assembled) << assembled.error().to_string();
  ASSERT_EQ(assembled->root.nodes.size(), 1u);
  auto& loop = std::get<sdfg::Loop>(assembled->root.nodes[0].value);
  EXPECT_TRUE(std::holds_alternative<sdfg::Parallel>(loop.schedule));
  EXPECT_EQ(frontends::arguments_for(*nest.lifted, *assembled), frontends::arguments_for(*nest.lifted, nest.normal));
  // Where there are few rows nothing is shared out evenly: the loops inside are sums, which keep their order.
  EXPECT_TRUE(chosen.otherwise.empty());
  // Short runs are the original's.
  ASSERT_EQ(chosen.guards.size(), 1u);
  EXPECT_GT(chosen.guards[0].least_work, 1000);
  const PreparedNest small = rows.nest({{"n", 20}, {"m", 20}});
  EXPECT_TRUE(choose({.nest = small, .gain_model = pessimist}).choices.empty());
}

// What is measured is for larger shapes: below, threads alone gain in the program's own order.
TEST(AsWritten, ForShapesThatTheNormalFormsRecipeIsNotFor) {
  const Rows rows;
  ASSERT_TRUE(rows.unit);
  PreparedNest nest = rows.nest();
  ASSERT_TRUE(nest.written);
  auto match = measured(4, 1);
  match.recipe = *transforms::recipe_from_text("parallelize(loop=i0, kind=dynamic) -> highway");
  match.evidence.threads = 2;
  match.evidence.extents = std::vector<double>(sdfg::node_names(nest.normal.root).symbols.size(), 1e5);
  match.evidence.least_extents = std::vector<double>(sdfg::node_names(nest.normal.root).symbols.size(), 9e4);
  nest.units[0].matches = {match};
  const Chosen chosen = choose({.nest = nest, .gain_model = pessimist});
  ASSERT_EQ(chosen.choices.size(), 1u) << chosen.why;
  EXPECT_EQ(chosen.choices[0].unit, 0u);
  ASSERT_EQ(chosen.otherwise.size(), 1u);
  EXPECT_EQ(chosen.otherwise[0].choices.at(0).unit, nest.units.size());
  EXPECT_LT(chosen.otherwise[0].guards.at(0).least_extents.at(0), 100);
  EXPECT_TRUE(choose({.nest = nest}).otherwise.empty());
}

// A batch of one: threads go to the rows.
TEST(AsWritten, ForShortOuterLoopsThreadsGoToThoseInside) {
  const auto batches = [](const std::string& first) {
    return R"(#include <math.h>
void f(int b, int n, int m, const float *restrict in, const float *restrict scale, float *restrict out, int *restrict done) {
  for (int k = 0; k < b; k++) {
    )" + first +
           R"(for (int i = 0; i < n; i++) {
      float mean = 0, deviation = 0;
      for (int j = 0; j < m; j++) mean += in[(k * n + i) * m + j];
      mean /= m;
      for (int j = 0; j < m; j++) {
        float apart = in[(k * n + i) * m + j] - mean;
        deviation += apart * apart;
      }
      float by = 1 / sqrtf(deviation / m + 1e-5f);
      for (int j = 0; j < m; j++) out[(k * n + i) * m + j] = (in[(k * n + i) * m + j] - mean) * by * scale[j];
    }
  }
})";
  };
  const auto unit = frontends::c::lift(batches("done[k] = 1;\n"), "f.c", {});
  ASSERT_TRUE(unit);
  const PreparedNest nest = prepare(unit->nests.at(0), {}, {}, machine()).value();
  const Chosen chosen = choose({.nest = nest, .gain_model = pessimist});
  ASSERT_EQ(chosen.choices.size(), 1u) << chosen.why;
  ASSERT_EQ(chosen.otherwise.size(), 1u) << chosen.why;
  EXPECT_EQ(transforms::to_text(chosen.otherwise[0].choices.at(0).match.recipe),
            "parallelize(loop=i1, kind=static) -> highway");
  EXPECT_GT(chosen.guards.at(0).least_extents.at(0), 1);
  EXPECT_LE(chosen.otherwise[0].guards.at(0).least_extents.at(0), 1);
  EXPECT_TRUE(choose({.nest = nest, .gain_model = pessimist, .other_shapes = false}).otherwise.empty());
  // Where nothing else stands outside, both are handed out together, whatever the shape.
  const auto perfect = frontends::c::lift(batches(""), "f.c", {});
  ASSERT_TRUE(perfect);
  const PreparedNest band = prepare(perfect->nests.at(0), {}, {}, machine()).value();
  const Chosen together = choose({.nest = band, .gain_model = pessimist});
  ASSERT_EQ(together.choices.size(), 1u) << together.why;
  EXPECT_EQ(transforms::to_text(together.choices.at(0).match.recipe),
            "parallelize(loop=i0, kind=static); parallelize(loop=i1, kind=static) -> highway");
  EXPECT_LE(together.guards.at(0).least_extents.at(0), 1);
}

// What is handed from part to part of an iteration is written over in the next one: apart, each iteration has its own.
TEST(AsWritten, ArraysForEachIterationOfTheOutermostLoopAreNoGain) {
  const std::string pictures = R"(
static unsigned char picture[964][1284];
static short smooth[960][1280];
unsigned f(int frames, const int (*restrict weight)[5]) {
  unsigned check = 0;
  for (int k = 0; k < frames; k++) {
    for (int y = 0; y < 964; y++) for (int x = 0; x < 1284; x++) picture[y][x] = (x * 3 + k * 5) ^ y;
    for (int y = 0; y < 960; y++) for (int x = 0; x < 1280; x++) {
      int sum = 0;
      for (int j = 0; j < 5; j++) for (int i = 0; i < 5; i++) sum += weight[j][i] * picture[y + j][x + i];
      smooth[y][x] = sum / 159;
    }
    for (int y = 0; y < 960; y++) for (int x = 0; x < 1280; x++) check = check * 5 + smooth[y][x];
  }
  return check;
})";
  const auto unit = frontends::c::lift(pictures, "f.c", {});
  ASSERT_TRUE(unit);
  const PreparedNest nest = prepare(unit->nests.at(0), {}, {}, machine()).value();
  const Chosen chosen = choose({.nest = nest, .gain_model = pessimist});
  ASSERT_EQ(chosen.choices.size(), 1u) << chosen.why;
  EXPECT_EQ(chosen.choices[0].unit, nest.units.size()) << chosen.why;
}

TEST(AsWritten, ALockFileDecides) {
  const Rows rows;
  ASSERT_TRUE(rows.unit);
  PreparedNest nest = rows.nest();
  auto match = measured(2, 1);
  match.origin = transforms::Origin::Lock;
  match.recipe = transforms::recipe_from_text("parallelize(loop=i0) -> openmp").value();
  nest.written->matches = {match};
  EXPECT_TRUE(nest.pinned());
  const Chosen chosen = choose({.nest = nest, .gain_model = pessimist});
  ASSERT_EQ(chosen.choices.size(), 1u) << chosen.why;
  EXPECT_EQ(chosen.choices[0].unit, nest.units.size());
  EXPECT_EQ(chosen.choices[0].match.recipe, match.recipe);
  // One that does not apply is no leave to predict another.
  nest.written->matches[0].recipe = transforms::recipe_from_text("parallelize(loop=i7) -> openmp").value();
  EXPECT_TRUE(choose({.nest = nest, .gain_model = pessimist}).choices.empty());
}

}  // namespace
}  // namespace sous::client
