#include "client/profile.h"

#include <gtest/gtest.h>

namespace sous::client {
namespace {

TEST(Profile, OfPerfsReport) {
  const auto profile = Profile::of_text(
      "# Overhead  Command  Shared Object     Symbol\n"
      "    60.00%  prog     prog              [.] smooth\n"
      "    20.00%  prog     prog              [.] smooth.constprop.0\n"
      "    19.50%  prog     libm.so.6         [.] exp\n"
      "     0.50%  prog     [kernel.kallsyms] [k] clear_page\n");
  ASSERT_TRUE(profile);
  EXPECT_DOUBLE_EQ(*profile->share("smooth"), 0.8);
  EXPECT_FALSE(profile->cold("exp"));
  EXPECT_TRUE(profile->cold("clear_page"));
  EXPECT_FALSE(profile->share("inlined"));
  EXPECT_FALSE(profile->cold("inlined")) << "nobody knows";
}

TEST(Profile, OfGprofsFlatProfile) {
  const auto profile = Profile::of_text(
      "Flat profile:\n\nEach sample counts as 0.01 seconds.\n"
      "  %   cumulative   self              self     total           \n"
      " time   seconds   seconds    calls  ms/call  ms/call  name    \n"
      " 75.12      0.03     0.03        1    50.08    50.08  hot\n"
      " 25.04      0.04     0.01                             warm\n"
      "  0.00      0.04     0.00        1     0.00     0.00  cold\n\n"
      "\t\t\tCall graph\n\n"
      "[1]  99.00  1.00  1.00  1  main\n");
  ASSERT_TRUE(profile);
  EXPECT_NEAR(*profile->share("hot"), 0.75, 1e-9);
  EXPECT_TRUE(profile->cold("cold"));
  EXPECT_FALSE(profile->share("main"));
}

TEST(Profile, OfClangsCounters) {
  const auto profile = Profile::of_text(
      "Counters:\n"
      "  a.c:hot:\n    Hash: 0x00046c46c46d1451\n    Counters: 3\n    Function count: 10\n    Block counts: [400, "
      "590]\n"
      "  main:\n    Hash: 0x0\n    Counters: 1\n    Function count: 1000\n    Block counts: []\n"
      "Instrumentation level: Front-end\nMaximum function count: 1000000\n");
  ASSERT_TRUE(profile);
  EXPECT_DOUBLE_EQ(*profile->share("hot"), 0.5);
  EXPECT_DOUBLE_EQ(*profile->share("main"), 0.5);
}

TEST(Profile, WhatIsNoneIsSaid) {
  for (const char* text : {"", "100 %", "f: 3\n", "    0.00%  p  p  [.] f\n", "  time seconds name\n"}) {
    const auto profile = Profile::of_text(text);
    ASSERT_FALSE(profile) << text;
    EXPECT_EQ(profile.error().code, "profile.form");
  }
  EXPECT_EQ(Profile::read("/nowhere/perf.data").error().code, "client.read");
}

}  // namespace
}  // namespace sous::client
