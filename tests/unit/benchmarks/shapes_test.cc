// What becomes of measured shapes, and over which shapes a nest is measured.
#include <gtest/gtest.h>

#include <algorithm>

#include "benchmarks/shape_programs.h"
#include "benchmarks/shape_results.h"
#include "sdfg/text.h"
#include "transforms/normal_form.h"

namespace sous::benchmarks {
namespace {

tuning_db::Entry entry() {
  tuning_db::Entry e;
  e.name = "test#0";
  e.nest = sdfg::parse(R"(sdfg 1 nest symbols n0, n1
array a0: f64[n0, 100] argument  arguments n0, n1, a0
loop i0 = 0 .. n0 { loop i1 = 0 .. n1 { s0: a0[i0, i1] = 1.0 } })")
               .value();
  e.structural_hash = transforms::structural_hash(e.nest);
  e.sizes = {{"n0", 200}, {"n1", 100}};
  e.recipe = transforms::recipe_from_text("vectorize(loop=i1, lanes=4) -> openmp").value();
  e.baseline_seconds = 2;
  e.tuned_seconds = 1;
  return e;
}

// One shape, and how much faster the recipe is there.
ShapeResult result(std::int64_t n0, std::int64_t n1, double gain, int threads = 1) {
  ShapeResult r;
  r.nest = "test#0";
  r.entry = tuning_db::entry_id(entry());
  r.threads = threads;
  r.shapes = 9;
  r.shape = {{"n0", n0}, {"n1", n1}};
  r.original = r.guarded = 1;
  r.recipe = 1 / gain;
  return r;
}

TEST(Shapes, WhatContractionMovesAsMuchIsNotWrong) {
  ShapeResult r = result(5, 5, 2);
  r.difference = 0.034;
  EXPECT_TRUE(r.is_wrong());
  r.own = 0.009;
  EXPECT_FALSE(r.is_wrong());
  EXPECT_EQ(summarize({r}, 0.03).wrong, 0);
}

TEST(Shapes, ConstantExtentsBecomeParameters) {
  const auto nest = with_parameters(entry().nest, entry().sizes);
  EXPECT_EQ(nest.find("a0")->shape[1].to_string(), "n1");
  EXPECT_EQ(nest.find("a0")->strides[0].to_string(), "n1");
}

TEST(Shapes, FromOneToWhatWasMeasured) {
  const auto program = program_of(entry());
  ASSERT_TRUE(program) << program.error().to_string();
  const auto cases = shape_cases(*program, {1, 2}, 1e9);
  const auto has = [&](std::int64_t n0, std::int64_t n1) {
    return std::ranges::any_of(cases, [&](const auto& c) { return c.sizes.at("n0") == n0 && c.sizes.at("n1") == n1; });
  };
  EXPECT_TRUE(has(1, 1) && has(1, 100) && has(200, 1) && has(200, 100) && has(33, 17));
  EXPECT_FALSE(has(257, 1));
  EXPECT_LT(shape_cases(*program, {1}, 1).size(),
            cases.size() / 2);  // those that take longer than a second are left out
  EXPECT_EQ(arguments(*program, {.sizes = {{"n0", 3}, {"n1", 5}}}).value(), "3 5 15");
}

TEST(Shapes, ThresholdsAdmitWhatGainsAndNothingThatLoses) {
  std::vector<ShapeResult> results;
  for (const std::int64_t n0 : {1, 40, 200})
    for (const std::int64_t n1 : {1, 48, 100}) results.push_back(result(n0, n1, n1 >= 48 ? 3 : 0.5));
  auto e = entry();
  ASSERT_TRUE(set_thresholds(e, results));
  // No thin shape, though it gains: another spelling of the nest may be better there. The work has a margin.
  EXPECT_EQ(e.least_extents, (std::vector<double>{40, 48}));
  EXPECT_EQ(e.least_work, 2 * 40 * 48);
  // What does not gain clearly on two threads is not admitted, unless the guard asks for more threads anyway.
  results.push_back(result(40, 48, 1.15, 2));
  e = entry();
  ASSERT_TRUE(set_thresholds(e, results));
  EXPECT_EQ(e.least_extents, (std::vector<double>{40, 48}));
  EXPECT_EQ(e.least_work, 2 * 40 * 100);
  // Too few shapes are no ground.
  results.resize(5);
  e = entry();
  EXPECT_FALSE(set_thresholds(e, results));
  EXPECT_EQ(e, entry());
}

TEST(Shapes, SlowerIsWhatIsBeyondNoiseAndSpreads) {
  ShapeResult r = result(10, 8, 1);
  r.guarded = 1.04;
  EXPECT_TRUE(r.is_slower(0.03));
  EXPECT_FALSE(r.is_slower(0.05));
  r.original_spread = 0.02;
  EXPECT_FALSE(r.is_slower(0.03));
  r.guarded = 2;
  const auto summary = summarize({r, result(1, 1, 2)}, 0.03);
  EXPECT_EQ(summary.slower, 1);
  EXPECT_NE(summary.text.find("n0=10 n1=8"), std::string::npos) << summary.text;
  EXPECT_NE(summary.text.find("1 of those would have gained"), std::string::npos) << summary.text;
}

TEST(Shapes, ALineThatIsNoResultIsNamed) {
  const std::string line =
      R"({"entry":"","least_threads":1,"nest":"x","shape":{"n0":1},"shapes":4,"threads":2,"path":1,"difference":0,)"
      R"("runs":5,"calls":3,"first_original":1e-3,"first_guarded":2e-3,"original":1,"original_spread":0.1,"guarded":2,)"
      R"("guarded_spread":0.1,"recipe":2,"recipe_spread":0.1})";
  const auto results = shape_results(line + "\n\n" + line, "r.jsonl");
  ASSERT_TRUE(results) << results.error().to_string();
  EXPECT_EQ(results->size(), 2u);
  EXPECT_TRUE((*results)[0].generated);
  EXPECT_EQ(shape_results(line + "\n{}\n", "r.jsonl").error().where, "r.jsonl:2");
}

}  // namespace
}  // namespace sous::benchmarks
