#include "tuning-db/machine_load.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tuning-db/hardware.h"

namespace sous::tuning_db {
namespace {

TEST(MachineLoad, ThreadsThatWaitForAProcessorAreDisturbed) {
  EXPECT_FALSE(disturbed({.wall = 2, .own = 1.99, .elapsed = 1, .others = 0, .processors = 2}));
  EXPECT_TRUE(disturbed({.wall = 2, .own = 1.8, .elapsed = 1, .others = 0, .processors = 2}));
}

TEST(MachineLoad, OthersThatUseTheMachineDisturb) {
  EXPECT_FALSE(disturbed({.wall = 2, .own = 2, .elapsed = 1, .others = 0.1, .processors = 2}));
  EXPECT_TRUE(disturbed({.wall = 2, .own = 2, .elapsed = 1, .others = 0.9, .processors = 2}));
  EXPECT_FALSE(disturbed({.wall = 2, .own = 2, .elapsed = 1, .others = 0.9, .processors = 64})) << "far away";
  EXPECT_FALSE(disturbed({.wall = 2, .own = 2, .elapsed = 1, .others = -1, .processors = 2})) << "not known";
}

Pass pass(double figure, bool disturbed = false) {
  Pass out;
  out.figures = {figure, 2 * figure, 3 * figure, 4 * figure, 5 * figure};
  out.disturbed = disturbed;
  return out;
}

TEST(MachineLoad, TwoUndisturbedPassesThatAgreeSettleIt) {
  EXPECT_FALSE(judge({}).settled);
  EXPECT_FALSE(judge({pass(100)}).settled);
  EXPECT_TRUE(judge({pass(100), pass(98)}).settled);
  EXPECT_FALSE(judge({pass(100), pass(80)}).settled);
  EXPECT_TRUE(judge({pass(80), pass(100), pass(99)}).settled) << "the two best count";
  EXPECT_FALSE(judge({pass(100, true), pass(100, true), pass(100)}).settled);
  Pass one_low = pass(100);
  one_low.figures[4] = 300;
  EXPECT_FALSE(judge({pass(100), one_low}).settled) << "each figure has to agree";
}

TEST(MachineLoad, ThePeakIsTheBestOfAllPasses) {
  EXPECT_EQ(judge({pass(90), pass(100, true), pass(95)}).figures, pass(100).figures);
}

TEST(MachineLoad, ReadsProcStat) {
  const auto time =
      parse_machine_time("cpu  100 20 30 1000 50 1 2 7 9 9\ncpu0 50 10 15 500 25 1 1 3 0 0\ncpu1 1 1\nintr 5\n", 10);
  ASSERT_TRUE(time.has_value());
  EXPECT_DOUBLE_EQ(time->busy, 16);
  EXPECT_EQ(time->processors, 2);
  EXPECT_FALSE(parse_machine_time("", 100).has_value());
  EXPECT_FALSE(parse_machine_time("cpu  1 2 3\ncpu0 1\n", 100).has_value());
}

TEST(MachineLoad, AMeasurementBesideBusyThreadsIsLoaded) {
  std::atomic<bool> stop = false;
  std::vector<std::jthread> busy;
  Hardware here = describe();
  // Twice as many as there are cores: the measuring threads have to wait for them. They belong to this process, so that
  // only the waiting can give them away.
  for (int t = 0; t < 2 * here.cores; ++t) {
    busy.emplace_back([&] {
      while (!stop) {
      }
    });
  }
  here = run_microbenchmarks(here);
  stop = true;
  EXPECT_TRUE(here.measured());
  EXPECT_TRUE(here.loaded);
}

}  // namespace
}  // namespace sous::tuning_db
