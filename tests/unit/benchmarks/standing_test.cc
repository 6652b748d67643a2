#include "benchmarks/standing.h"

#include <gtest/gtest.h>

namespace sous::benchmarks {
namespace {

Line line(const std::string& program, const std::string& compiler, double seconds, double user) {
  Line out;
  out.suite = "programs";
  out.program = program;
  out.size = "LARGE";
  out.type = "text";
  out.compiler = compiler;
  out.session = "monday";
  out.runs = {seconds, 1.01 * seconds, 0.99 * seconds};
  out.user = {user};
  out.right = out.bit_equal = true;
  return out;
}

TEST(Standing, IsAgainstTheBestOfTheOthersThatAreRight) {
  Line wrong = line("a", "polly", 0.1, 0.1);
  wrong.right = false;
  wrong.difference = 1;
  Line ours = line("a", "sous", 1, 3);
  ours.functions = {"multiply"};
  const auto all =
      standings(summarize({line("a", "clang", 4, 4), line("a", "gcc", 2, 2), wrong, ours}, "clang"), "sous");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].best, "gcc");
  EXPECT_DOUBLE_EQ(all[0].ratio.value, 2);
  EXPECT_DOUBLE_EQ(all[0].to_baseline->value, 4);
  EXPECT_DOUBLE_EQ(*all[0].user, 0.75);
  EXPECT_EQ(all[0].functions, ours.functions);
}

TEST(Standing, SlowerIsMoreThanNoiseAndTheInterval) {
  EXPECT_TRUE(is_slower({0.9, 0.85, 0.95}));
  EXPECT_FALSE(is_slower({0.98, 0.97, 0.99}));
  EXPECT_FALSE(is_slower({0.9, 0.8, 1.01}));
  EXPECT_TRUE(is_faster({1.01, 1.001, 1.02}));
  EXPECT_FALSE(is_faster({1.2, 0.99, 1.3}));
}

TEST(Standing, NamesWhatIsSlowerAndWhatPrintsOtherBytes) {
  Line other = line("b", "sous", 2, 2);
  other.bit_equal = false;
  const std::string text = against_the_best(
      summarize({line("a", "clang", 4, 4), line("a", "sous", 2, 2), line("b", "clang", 1, 1), other}, "clang"));
  EXPECT_NE(text.find("faster than the best: 1 of 2"), std::string::npos) << text;
  EXPECT_NE(text.find("95 % interval: b\n"), std::string::npos) << text;
  EXPECT_NE(text.find("other bytes than the first compiler's program: b\n"), std::string::npos) << text;
}

TEST(Standing, IsForWholePrograms) {
  Line clang = line("a", "clang", 4, 4), ours = line("a", "sous", 2, 2);
  clang.user.clear();
  ours.user.clear();
  EXPECT_EQ(against_the_best(summarize({clang, ours}, "clang")), "");
  EXPECT_EQ(against_the_best(summarize({line("a", "clang", 4, 4)}, "clang")), "") << "no column of Sous";
}

}  // namespace
}  // namespace sous::benchmarks
