#include "tuning-db/tuner.h"

#include <gtest/gtest.h>

#include "sdfg/text.h"

namespace sous::tuning_db {
namespace {

using transforms::OpenRecipe;

const sdfg::Sdfg nest = *sdfg::parse(
    "sdfg 1 t symbols n array A: f64[n, n] argument arguments n, A "
    "loop i0 = 0 .. n { loop i1 = 0 .. n { s0: A[i0, i1] = A[i0, i1] * 2.0 } }");

std::int64_t size_in(const Candidate& candidate) {
  for (const auto& step : candidate.recipe.steps)
    if (step.step == "tile") return std::get<std::vector<std::int64_t>>(step.params.at("sizes"))[0];
  return 0;
}

struct Bench {
  double time = 0;
  int glances = 0, proofs = 0;
  bool stop = false;
  // Seconds of a candidate; below 0: it fails.
  std::function<double(const Candidate&)> seconds;
  double baseline = 1, spread = 0.01;
  std::vector<double> limits;

  Tuned tune(const std::vector<Proposal>& proposals, double budget = 1000) {
    TunerOptions options;
    options.seconds = budget;
    options.clock = [this] { return time; };
    options.stopped = [this] { return stop; };
    options.progress = [](const Candidate&, const transforms::Evidence*, double) {};
    options.measure = [this](const Candidate& c, Care care, double most) -> Result<transforms::Evidence> {
      ++(care == Care::Glance ? glances : proofs);
      limits.push_back(most);
      time += 10;
      const double s = seconds(c);
      if (s < 0) return fail("measure.build", "no");
      transforms::Evidence e;
      e.baseline_seconds = baseline;
      e.tuned_seconds = s;
      e.baseline_spread = e.tuned_spread = spread;
      return e;
    };
    return tuning_db::tune(nest, proposals, options);
  }
};

const Proposal tiles{"tiles", OpenRecipe{"tile(loops=[i0], sizes=[$a]); unroll(loop=i1, factor=$b) -> cpp",
                                         {{"a", {"32", "8", "64", "128"}}, {"b", {"4", "2", "8"}}}}};

TEST(Tuner, FindsTheBestValuesByCoordinates) {
  Bench bench;
  bench.seconds = [](const Candidate& c) {
    const double a = static_cast<double>(size_in(c));
    const bool eight = transforms::to_text(c.recipe).find("factor=8") != std::string::npos;
    return (a == 64 ? 0.2 : 0.5) * (eight ? 0.5 : 1);
  };
  const Tuned tuned = bench.tune({tiles});
  ASSERT_TRUE(tuned.best);
  EXPECT_EQ(transforms::to_text(tuned.best->recipe), "tile(loops=[i0], sizes=[64]); unroll(loop=i1, factor=8) -> cpp");
  EXPECT_EQ(tuned.best->from, "tiles");
  EXPECT_LE(bench.glances, 12);  // all pairs of values, at most once each
}

TEST(Tuner, MeasuresWhatIsTheSameOnce) {
  Bench bench;
  bench.seconds = [](const Candidate&) { return 2.0; };
  const Proposal once{"a", {"reverse(loop=i0) -> cpp", {}}}, again{"b", {"reverse(loop=i0) -> cpp", {}}};
  // What does not fit is left out; what is left is the same again.
  const Proposal part{"c", {"tile(loops=[q], sizes=[4]); reverse(loop=i0) -> cpp", {}}};
  const Proposal none{"d", {"tile(loops=[q], sizes=[4]) -> cpp", {}}};
  const Tuned tuned = bench.tune({once, again, part, none});
  EXPECT_EQ(bench.glances, 1);
  EXPECT_FALSE(tuned.best);  // slower than the original
  EXPECT_EQ(bench.proofs, 0);
}

TEST(Tuner, AFailureIsNoCandidate) {
  Bench bench;
  bench.seconds = [](const Candidate& c) { return size_in(c) == 8 ? 0.5 : -1; };
  const Tuned tuned = bench.tune({tiles});
  EXPECT_FALSE(tuned.best);  // the first values failed: there is nothing to go on from
  EXPECT_EQ(tuned.failed, 1);
  EXPECT_EQ(tuned.first_failure, "no [measure.build]");
}

TEST(Tuner, ARecipeThatIsNoneIsAFailure) {
  Bench bench;
  bench.seconds = [](const Candidate&) { return 0.5; };
  const Proposal strange{"a server", {"tile(loops=[$x], sizes=[4]) -> cpp", {}}};
  const Tuned tuned = bench.tune({strange});
  EXPECT_FALSE(tuned.best);
  EXPECT_EQ(tuned.failed, 1);
  EXPECT_TRUE(tuned.first_failure.ends_with("[recipe.text]")) << tuned.first_failure;
}

TEST(Tuner, AGlanceIsNoProof) {
  Bench bench;
  bench.seconds = [&](const Candidate&) { return bench.proofs > 0 ? 0.99 : 0.8; };
  EXPECT_FALSE(bench.tune({tiles}).best);
  EXPECT_EQ(bench.proofs, 3);
  Bench noisy;
  noisy.spread = 0.3;
  noisy.seconds = [](const Candidate&) { return 0.7; };
  EXPECT_FALSE(noisy.tune({tiles}).best);
}

TEST(Tuner, EndsWithItsBudgetAndOnRequest) {
  Bench bench;
  bench.seconds = [](const Candidate& c) { return 1.0 / static_cast<double>(1 + size_in(c)); };
  const Tuned tuned = bench.tune({tiles}, 25);
  EXPECT_EQ(bench.glances, 3);
  EXPECT_TRUE(tuned.best);  // what was found is proven even so
  Bench stopped;
  stopped.seconds = [&](const Candidate&) {
    stopped.stop = true;
    return 0.1;
  };
  EXPECT_FALSE(stopped.tune({tiles}).best);
  EXPECT_EQ(stopped.glances, 1);
}

TEST(Tuner, WhatTakesTooLongIsKilled) {
  Bench bench;
  bench.seconds = [](const Candidate& c) { return 1.0 / static_cast<double>(1 + size_in(c)); };
  bench.tune({tiles}, 15);
  ASSERT_GE(bench.limits.size(), 2U);
  EXPECT_EQ(bench.limits[0], 0);  // nothing is known yet
  EXPECT_NEAR(bench.limits[1], 3.0 / 33, 1e-12);
}

TEST(Tuner, ProposesWhatStrategiesWrite) {
  const auto proposed = propose(nest, {}).value();
  const auto for_gpus = propose(nest, {}, Strategies::Gpu).value();
  EXPECT_EQ(proposed.size() + for_gpus.size(), transforms::strategies().size());
  EXPECT_EQ(for_gpus[0].strategy->name, "offload");
  EXPECT_EQ(proposed[0].recipes.error().code, "contraction.no-product");
  EXPECT_TRUE(proposed.back().recipes);
}

}  // namespace
}  // namespace sous::tuning_db
