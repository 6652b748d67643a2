#include "client/floating_point.h"

#include <gtest/gtest.h>

#include "client/command_line.h"

namespace sous::client {
namespace {

FloatingPoint clangs(std::string_view options) { return floating_point(split_words(options), false); }
FloatingPoint gccs(std::string_view options) { return floating_point(split_words(options), true); }

TEST(FloatingPoint, FastMathAllowsAll) {
  for (const auto& allowed : {clangs("-O3 -ffast-math"), gccs("-O3 -ffast-math"), clangs("-Ofast"), gccs("-Ofast")}) {
    EXPECT_TRUE(allowed.reassociate && allowed.no_nans && allowed.approximate_math && allowed.limited_range);
    EXPECT_FALSE(allowed.math_errno);
  }
  for (const auto& allowed : {clangs("-O3 -ffast-math -fno-fast-math"), gccs("-O3 -ffast-math -fno-fast-math")}) {
    EXPECT_FALSE(allowed.reassociate || allowed.no_nans || allowed.approximate_math);
    EXPECT_TRUE(allowed.math_errno);
  }
}

// A later level takes all of it back, but not what is said besides.
TEST(FloatingPoint, OfLevelsTheLastCounts) {
  EXPECT_FALSE(clangs("-Ofast -O2").reassociate);
  EXPECT_FALSE(gccs("-Ofast -O2").reassociate);
  EXPECT_TRUE(clangs("-Ofast -O2").math_errno);
  EXPECT_TRUE(gccs("-ffast-math -Ofast -O2").reassociate);
  // To gcc it is where all options start from, wherever it stands.
  EXPECT_TRUE(clangs("-fno-fast-math -Ofast").reassociate);
  EXPECT_FALSE(gccs("-fno-fast-math -Ofast").reassociate);
}

TEST(FloatingPoint, SumsKeepTheirOrderWhereSignsOfZerosCount) {
  for (const char* options : {"-fassociative-math", "-ffast-math -fsigned-zeros", "-fassociative-math -ftrapping-math",
                              "-funsafe-math-optimizations -fsigned-zeros"}) {
    EXPECT_FALSE(clangs(options).reassociate) << options;
    EXPECT_FALSE(gccs(options).reassociate) << options;
  }
  EXPECT_TRUE(gccs("-fassociative-math -fno-signed-zeros -fno-trapping-math").reassociate);
  EXPECT_TRUE(clangs("-fassociative-math -fno-signed-zeros").reassociate);
  EXPECT_FALSE(gccs("-fassociative-math -fno-signed-zeros").reassociate);
}

TEST(FloatingPoint, NansCountUnlessSaidOtherwise) {
  EXPECT_FALSE(clangs("-ffast-math -fno-finite-math-only").no_nans);
  EXPECT_FALSE(gccs("-funsafe-math-optimizations").no_nans);
  EXPECT_TRUE(gccs("-ffinite-math-only").no_nans);
  EXPECT_TRUE(clangs("-fno-honor-nans").no_nans);
}

TEST(FloatingPoint, ContractionIsEachCompilersOwn) {
  using enum Contraction;
  EXPECT_EQ(clangs("-O2").contraction, InExpressions);
  EXPECT_EQ(clangs("-ffp-contract=fast").contraction, Everywhere);
  EXPECT_EQ(clangs("-ffp-contract=off -ffast-math").contraction, Everywhere);
  EXPECT_EQ(clangs("-ffp-contract=off -fno-fast-math").contraction, Off);
  EXPECT_EQ(gccs("-O2").contraction, Everywhere);
  EXPECT_EQ(gccs("-std=c99").contraction, Off);
  EXPECT_EQ(gccs("-std=c99 -ffp-contract=fast").contraction, Everywhere);
  EXPECT_EQ(gccs("-ffp-contract=on").contraction, Off);
  EXPECT_EQ(gccs("-ffp-contract=off -ffast-math").contraction, Off);
}

TEST(FloatingPoint, ModelsAreClangs) {
  EXPECT_TRUE(clangs("-ffp-model=fast").reassociate);
  EXPECT_TRUE(clangs("-ffp-model=fast -ffp-model=precise").math_errno);
  EXPECT_FALSE(clangs("-ffp-model=fast -ffp-model=precise").reassociate);
}

TEST(FloatingPoint, RangesOfComplexNumbers) {
  for (const char* options : {"-fcx-limited-range", "-fcx-fortran-rules", "-ffast-math -fno-finite-math-only"}) {
    EXPECT_TRUE(clangs(options).limited_range) << options;
    EXPECT_TRUE(gccs(options).limited_range) << options;
  }
  EXPECT_TRUE(clangs("-fcomplex-arithmetic=improved").limited_range);
  EXPECT_FALSE(clangs("-fcx-limited-range -fcomplex-arithmetic=full").limited_range);
  EXPECT_FALSE(gccs("-fcx-limited-range -fno-cx-limited-range").limited_range);
  EXPECT_FALSE(clangs("-O2").limited_range);
}

}  // namespace
}  // namespace sous::client
