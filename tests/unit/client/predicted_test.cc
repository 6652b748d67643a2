// What is expected of recipes, against the program's own order.
#include "client/predicted.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/client/choosing.h"

namespace sous::client {
namespace {

// Two sums under one condition: the normal form takes them apart, and asks it for each.
TEST(Predicted, ConditionsAreNotAskedAgainForEachSum) {
  const std::string edges = R"(#include <stdlib.h>
void f(int h, int w, const unsigned char *restrict in, unsigned char *restrict out) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      int gx = 0, gy = 0;
      for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++) {
          if (y + j < 0 || y + j >= h || x + i < 0 || x + i >= w) continue;
          int v = in[(y + j) * w + x + i];
          gx += v * i * (2 - abs(j));
          gy += v * j * (2 - abs(i));
        }
      int m = abs(gx) + abs(gy);
      out[y * w + x] = m > 255 ? 255 : m;
    }
})";
  const Chosen chosen = without_expectations(edges);
  EXPECT_TRUE(chosen.why.starts_with("the nest as it is written by outer_threads")) << chosen.why;
}

// How soon points leave a circle: `steps` on these lines in each round.
std::string escape(const std::string& type, const std::string& steps) {
  return "void f(int n, int m, int *restrict out) { for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { " + type +
         " a = j, b = i; int k = 0; while (a < 1000 && k < 400) { " + steps + " k++; } out[i * m + j] = k; } }";
}
const std::string square = "double t = a * a - b * b + 0.3; b = 2 * a * b + 0.1; a = t;";

TEST(Predicted, WhileLoopsOfFloatsRunInLanes) {
  const Chosen chosen = without_expectations(escape("double", square));
  ASSERT_EQ(chosen.choices.size(), 1u) << chosen.why;
  EXPECT_EQ(transforms::to_text(chosen.choices[0].match.recipe),
            "parallelize(loop=i0, kind=static); vectorize(loop=i1) -> highway");
  // And on one thread, where threads do not pay.
  ASSERT_FALSE(chosen.otherwise.empty());
  EXPECT_EQ(transforms::to_text(chosen.otherwise[0].choices[0].match.recipe), "vectorize(loop=i1) -> highway");
  const auto gets_lanes = [](const std::string& text, tuning_db::Isa isa = tuning_db::Isa::avx512) {
    tuning_db::Hardware hardware = machine();
    hardware.isa = isa;
    return without_expectations(text, {}, hardware).why.contains("parallel_vectors");
  };
  EXPECT_TRUE(gets_lanes(escape("double", square), tuning_db::Isa::avx2));
  EXPECT_FALSE(gets_lanes(escape("double", square), tuning_db::Isa::sse));  // two lanes
  EXPECT_FALSE(gets_lanes(escape("double", "a = a * 1.5;")));               // too little in each round
  EXPECT_FALSE(gets_lanes(escape("long", "long t = a * a - b * b + 3; b = 2 * a * b + 1; a = t;")));  // no floats
  // What a lane does by itself takes as long as before.
  EXPECT_FALSE(gets_lanes(escape("double", square + " a = exp(a) + exp(b);")));
  EXPECT_TRUE(gets_lanes(escape("double", "if (a > b) { " + square + " } else b = b * 0.5;"), tuning_db::Isa::avx2));
}

// Rays against spheres: the nearest one, and its light, which no compiler makes vectors of either.
TEST(Predicted, WhatStandsBesideLoopsThatWaitRunsInLanesToo) {
  const std::string spheres = R"(typedef struct { double x, y, r, light; } sphere;
void f(int h, int w, int n, const sphere *restrict s, double *restrict out) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      double dx = x - 0.5 * w, dy = y - 0.5 * h, best = 1e30;
      int hit = 0;
      for (int k = 0; k < n; k++) {
        double b = dx * s[k].x + dy * s[k].y, d = b * b - s[k].r;
        if (d > 0 && b - sqrt(d) < best) { best = b - sqrt(d); hit = k; }
      }
      double nx = dx * best - s[hit].x, ny = dy * best - s[hit].y, l = nx * 0.6 + ny * 0.8;
      out[y * w + x] = l > 0 ? l * s[hit].light : 0.1;
    }
})";
  EXPECT_TRUE(without_expectations(spheres).why.contains("parallel_vectors"));
}

// Expects a little, of everything.
const tuning_db::GainModel* content() {
  static const auto model = [] {
    tuning_db::GainSample sample;
    sample.gain = 2;
    return tuning_db::GainModel::train({sample}, {here, 2});
  }();
  return &model;
}

// A neighbour that was measured with threads alone does not keep lanes empty; one that promises more is taken.
TEST(Predicted, NeighboursThreadsLeaveNoLanesEmpty) {
  const auto unit = frontends::c::lift(escape("double", square), "f.c", {});
  ASSERT_TRUE(unit);
  auto nest = prepare(unit->nests.at(0), {}, {}, machine());
  ASSERT_TRUE(nest);
  const auto served = [&](double distance, double ratio) {
    auto match = measured(ratio, 1);
    match.name = "neighbour";
    match.distance = distance;
    match.evidence.size_class = size_class_of(nest->units[0]);
    match.evidence.threads = 2;
    match.recipe = *transforms::parse_recipe("parallelize(loop=i0) -> highway");
    nest->units[0].matches = {match};
    const Chosen chosen = choose({.nest = *nest, .gain_model = content});
    return chosen.choices.empty() ? "" : chosen.choices[0].match.name;
  };
  EXPECT_EQ(served(1, 2), "parallel_vectors");
  EXPECT_EQ(served(0, 2), "neighbour");  // of this very nest it is known
  EXPECT_EQ(served(1, 20), "neighbour");
}

// A table whose rows wait for each other, where there are rows for all lanes: in fewer each is by itself.
TEST(Predicted, TablesNeedRowsForAllLanes) {
  const auto in_lanes = [](const std::string& type, std::int64_t n) {
    const std::string text = "void f(int n, int m, const " + type + " *restrict x, const " + type + " *restrict y, " +
                             type + " *restrict d) { for (int i = 1; i <= n; i++) for (int j = 1; j <= m; j++) { " +
                             type +
                             " v = d[(i - 1) * (m + 1) + j - 1] + (x[i] - y[j]); if (d[(i - 1) * (m + 1) + j] < v) v = "
                             "d[(i - 1) * (m + 1) + j]; if (d[i * (m + 1) + j - 1] < v) v = d[i * (m + 1) + j - 1]; "
                             "d[i * (m + 1) + j] = v; } }";
    return without_expectations(text, {{"n", n}, {"m", 20'000}}).why.contains("staggered_lanes");
  };
  EXPECT_TRUE(in_lanes("int", 200));
  EXPECT_TRUE(in_lanes("int", 500));
  EXPECT_FALSE(in_lanes("int", 12));
  EXPECT_TRUE(in_lanes("double", 32));
  EXPECT_FALSE(in_lanes("double", 6));
}

// Tables of which one row is kept, and knapsacks in one row, from extents on that fill lanes.
TEST(Predicted, OneRowRunsInLanes) {
  const auto by = [](const std::string& text, const std::map<std::string, std::int64_t>& sizes) {
    const Chosen chosen = without_expectations(text, sizes);
    return chosen.choices.empty() ? "" : chosen.choices[0].match.name;
  };
  const std::string table =
      "void f(int n, int m, const int *restrict x, const int *restrict y, int *restrict row) { for (int i = 1; i <= n; "
      "i++) { int diagonal = row[0]; row[0] = i; for (int j = 1; j <= m; j++) { int old = row[j], v = diagonal + "
      "(x[i - 1] != y[j - 1]); v = old + 1 < v ? old + 1 : v; row[j] = row[j - 1] + 1 < v ? row[j - 1] + 1 : v; "
      "diagonal = old; } } }";
  EXPECT_EQ(by(table, {}), "staggered_lanes");
  EXPECT_EQ(by(table, {{"n", 500}, {"m", 500}}), "staggered_lanes");
  EXPECT_EQ(by(table, {{"n", 500}, {"m", 20}}), "");
  const std::string knapsack =
      "void f(int n, int m, const int *weight, const int *value, int *best) { for (int i = 0; i < n; i++) for (int w = "
      "m; w >= weight[i]; w--) best[w] = best[w - weight[i]] + value[i] > best[w] ? best[w - weight[i]] + value[i] : "
      "best[w]; }";
  EXPECT_EQ(by(knapsack, {}), "distances_ahead");
  EXPECT_EQ(by(knapsack, {{"n", 100}, {"m", 10'000}}), "distances_ahead");
  EXPECT_EQ(by(knapsack, {{"n", 100}, {"m", 20}}), "");
}

}  // namespace
}  // namespace sous::client
