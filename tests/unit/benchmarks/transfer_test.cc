#include "benchmarks/transfer.h"

#include <gtest/gtest.h>

#include <sstream>

#include "benchmarks/gains.h"
#include "sdfg/text.h"
#include "transforms/normal_form.h"

namespace sous::benchmarks {
namespace {

using tuning_db::Entry;

// A sum of two arrays over `n` elements, `times` of them multiplied.
Entry entry(const std::string& name, int times, double gain, const std::string& provenance, std::int64_t n = 1000) {
  std::string value = "A[i]";
  for (int k = 0; k < times; ++k) value = "(" + value + " * A[i])";
  const auto nest = sdfg::parse(
      "sdfg 1 t symbols n array A: f64[n] array B: f64[n] argument arguments n, A, B "
      "loop i = 0 .. n { s0: B[i] = " +
      value + " }");
  EXPECT_TRUE(nest) << nest.error().to_string();
  Entry e;
  e.name = name;
  if (nest) e.nest = *nest;
  e.structural_hash = name + std::to_string(times);
  e.sizes = {{"n", n}};
  e.hardware.architecture = "x86-64";
  e.hardware.isa = tuning_db::Isa::avx2;
  e.baseline_seconds = gain;
  e.tuned_seconds = 1;
  e.provenance = provenance;
  return e;
}

TEST(Transfer, FamiliesAreReadOffNames) {
  EXPECT_EQ(family_of("drawn-1.product_12#0"), "product");
  EXPECT_EQ(family_of("rows-float.transpose#0"), "rows");
  EXPECT_EQ(family_of("gemm#1"), "gemm");
}

TEST(Transfer, TrialsAreOfOtherNestsNearestFirst) {
  const std::vector<Entry> seeds{entry("far.a_1#0", 9, 4, "seed"), entry("near.b_1#0", 2, 3, "seed"),
                                 entry("own.c#0", 1, 9, "seed")};
  std::vector<Entry> samples{entry("drawn-1.near_7#0", 1, 2.0, "sous tune, sample of far.a_1#0"),
                             entry("drawn-1.near_7#0", 1, 0.5, "sous tune, sample of near.b_1#0"),
                             entry("drawn-1.near_7#0", 1, 5.0, "sous tune, sample of parallel_vectors"),
                             entry("drawn-1.near_7#0", 1, 6.0, "sous tune, sample of parallel_vectors"),
                             entry("drawn-1.near_7#0", 1, 7.0, "sous tune, sample of own.c#0")};
  samples.back().structural_hash = seeds.back().structural_hash;
  const auto nests = tried_nests(samples, seeds);
  ASSERT_TRUE(nests) << nests.error().to_string();
  ASSERT_EQ(nests->size(), 1U);
  const TriedNest& nest = nests->front();
  ASSERT_EQ(nest.trials.size(), 2U);
  EXPECT_EQ(nest.trials[0].neighbour, "near.b_1#0");
  EXPECT_LT(nest.trials[0].distance, nest.trials[1].distance);
  EXPECT_EQ(nest.trials[0].found, 0.5);
  EXPECT_EQ(nest.trials[0].believed, 3);
  EXPECT_EQ(nest.by_strategy, 5);
  EXPECT_EQ(nest.best, 7);
}

TEST(Transfer, TheReportCountsWhatIsSlower) {
  const TriedNest good{.name = "x", .trials = {{"n", 0.1, 4, 3, false}}, .by_strategy = 2, .best = 3};
  const TriedNest bad{.name = "y", .trials = {{"n", 0.1, 4, 0.5, true}}, .by_strategy = 0.9, .best = 1};
  const std::string report = transfer_report({good, bad}, 3);
  // Name, served, slower.
  const auto row = [&](const std::string& name) {
    std::istringstream words(report.substr(report.find("\n" + name) + 1 + name.size()));
    int served = -1, slower = -1;
    words >> served >> slower;
    return std::pair(served, slower);
  };
  EXPECT_EQ(row("the nearest neighbour's"), std::pair(2, 1)) << report;
  EXPECT_EQ(row("the same, of another family"), std::pair(1, 0)) << report;
  EXPECT_EQ(row("the original"), std::pair(0, 0)) << report;
}

}  // namespace
}  // namespace sous::benchmarks
