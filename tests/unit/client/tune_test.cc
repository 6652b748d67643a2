#include "client/tune.h"

#include <gtest/gtest.h>

namespace sous::client {
namespace {

transforms::Evidence measured(double ratio, int threads, double spread = 0.01) {
  transforms::Evidence e;
  e.baseline_seconds = ratio;
  e.tuned_seconds = 1;
  e.baseline_spread = e.tuned_spread = spread;
  e.threads = threads;
  return e;
}

TEST(Tune, ASmallerSizeGainsBeyondItsSpreads) {
  EXPECT_TRUE(gains_as_well(measured(1.3, 1), measured(4, 1)));
  EXPECT_FALSE(gains_as_well(measured(1.1, 1), measured(4, 1)));
  EXPECT_FALSE(gains_as_well(measured(1.3, 1, 0.2), measured(4, 1)));
}

// 1.4 with two threads is a loss with one, and the entry that asks for one thread would run it there.
TEST(Tune, AndOnAsFewThreads) {
  EXPECT_FALSE(gains_as_well(measured(1.4, 2), measured(4, 2)));
  EXPECT_TRUE(gains_as_well(measured(2.4, 2), measured(4, 2)));
  EXPECT_TRUE(gains_as_well(measured(1.4, 2), measured(1.6, 2)));
}

// From then on a build asks the whole first.
TEST(Tune, AWholeIsToBeFasterThanItsParts) {
  const auto whole = measured(4, 2);  // one second
  EXPECT_TRUE(beats(whole, {.median = 1.2, .spread = 0.02}));
  EXPECT_FALSE(beats(whole, {.median = 1.2, .spread = 0.3}));
  EXPECT_FALSE(beats(whole, {.median = 1.03, .spread = 0}));
  EXPECT_FALSE(beats(whole, {.median = 0.5, .spread = 0}));
}

}  // namespace
}  // namespace sous::client
