#include "benchmarks/gains.h"

#include <gtest/gtest.h>

#include <random>

namespace sous::benchmarks {
namespace {

MeasuredGain gain(const std::string& name, double term, double times) {
  MeasuredGain g{.name = name, .from = "chains", .machine = {"x86-64:avx2:2c:l2=1M:l3=32M", 2}, .sample = {}};
  g.sample.features[0] = term;
  g.sample.gain = times;
  g.sample.group = name;
  return g;
}

TEST(Gains, AreWrittenAndRead) {
  const MeasuredGain g = gain("drawn-1.sweep_3#0", 0.1, 2.5);
  const auto read = gain_from_json(to_json(g), "x");
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->name, g.name);
  EXPECT_EQ(read->from, g.from);
  EXPECT_EQ(read->machine, g.machine);
  EXPECT_EQ(read->sample.gain, g.sample.gain);
  EXPECT_EQ(read->sample.features, g.sample.features);
  EXPECT_EQ(read->threads_gain, std::nullopt);
  MeasuredGain alone = g;
  alone.threads_gain = 1.2;
  EXPECT_EQ(gain_from_json(to_json(alone), "x").value().threads_gain, 1.2);
  EXPECT_EQ(gain_from_json("{}", "x").error().code, "gains.field");
  EXPECT_EQ(gain_from_json("{", "x").error().code, "gains.json");
  EXPECT_EQ(
      gain_from_json(R"({"name":"a","from":"b","hardware":"c","threads":2,"gain":1,"features":[1]})", "x").error().code,
      "gains.field");
}

// Each family alone has its gain: whoever has seen it would know.
TEST(Gains, AFamilyIsPredictedByTheOthers) {
  std::vector<MeasuredGain> gains;
  for (int k = 0; k < 60; ++k) {
    gains.push_back(gain("drawn-1.sweep_" + std::to_string(k) + "#0", 1, 16));
    gains.push_back(gain("drawn-1.product_" + std::to_string(k) + "#0", 2, 1));
  }
  const auto predictions = held_out(gains);
  ASSERT_TRUE(predictions);
  ASSERT_EQ(predictions->size(), gains.size());
  EXPECT_NEAR((*predictions)[0].expected, 1, 0.01);
  EXPECT_NEAR((*predictions)[1].expected, 16, 0.01);
  EXPECT_NEAR((*predictions)[1].surely, 16, 0.01);
}

TEST(Gains, AModelIsOfOneMachine) {
  std::vector<MeasuredGain> gains{gain("a#0", 1, 2), gain("b#0", 2, 2), gain("c#0", 3, 2)};
  gains[1].machine.threads = 4;
  const auto predictions = held_out(gains);
  ASSERT_FALSE(predictions);
  EXPECT_EQ(predictions.error().code, "gains.machines");
}

TEST(Gains, TheReportCountsWhatIsSlower) {
  const std::string report =
      gains_report({gain("a", 0, 0.5), gain("b", 0, 3), gain("c", 0, 2)}, {{2.5, 1}, {2.6, 1}, {0.7, 1}});
  EXPECT_NE(report.find("2.00 to 3.00          2       1  50.0%   1.22"), std::string::npos) << report;
}

// Of each nest one recipe counts: at the largest size, by a strategy, the surest.
TEST(Gains, StrategiesAreJudgedByWhatABuildWouldUse) {
  std::vector<MeasuredGain> gains{gain("a", 20, 0.5), gain("a", 20, 3), gain("a", 10, 0.1), gain("a", 20, 0.2),
                                  gain("b", 9, 4)};
  gains[3].from = "another#0";
  const std::string report = strategies_report(gains, {{1, 1.2}, {1, 1.7}, {1, 9}, {1, 8}, {1, 1.1}});
  EXPECT_NE(report.find("1.00 and more         2       0   0.0%   3.46"), std::string::npos) << report;
  EXPECT_NE(report.find("1.50 and more         1       0   0.0%   3.00"), std::string::npos) << report;
}

// What threads alone gain where the rule would serve them, and where not; other recipes do not count.
TEST(Gains, ThreadsAloneAreJudgedByTheRule) {
  std::vector<MeasuredGain> gains{gain("a", 0, 1.5), gain("b", 0, 1.9), gain("c", 0, 0.5), gain("d", 0, 9)};
  gains[0].threads_gain = gains[1].threads_gain = 1.5;
  gains[2].threads_gain = 0;
  const std::string report = threads_report(gains);
  EXPECT_NE(report.find("1.50 counted on        2       0    0.0%   1.69   1.50    1.70"), std::string::npos) << report;
  EXPECT_NE(report.find("not used               1       1  100.0%   0.50   0.50    0.50"), std::string::npos) << report;
}

}  // namespace
}  // namespace sous::benchmarks
