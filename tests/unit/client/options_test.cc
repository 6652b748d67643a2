#include "client/options.h"

#include <gtest/gtest.h>

namespace sous::client {
namespace {

TEST(Options, DidYouMean) {
  const auto parsed = parse_options({"--exlpain", "clang"}, false);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code, "cli.unknown-option");
  EXPECT_NE(parsed.error().why.find("--explain"), std::string::npos);
}

TEST(Options, EndAtTheCompilerUnlessInterleaved) {
  const auto launcher = parse_options({"--explain", "--size", "n=20,m=3", "clang", "--frozen"}, false);
  ASSERT_TRUE(launcher);
  EXPECT_EQ(launcher->options.explain, Explain::Short);
  EXPECT_EQ(parse_options({"--explain=all", "clang"}, false)->options.explain, Explain::All);
  EXPECT_EQ(parse_options({"--explain=al", "clang"}, false).error().code, "cli.value");
  EXPECT_FALSE(launcher->options.frozen);
  EXPECT_EQ(launcher->options.sizes, (std::map<std::string, std::int64_t>{{"m", 3}, {"n", 20}}));
  EXPECT_EQ(launcher->words, (std::vector<std::string>{"clang", "--frozen"}));
  const auto command = parse_options({"a.c", "--frozen", "--", "-O3"}, true);
  ASSERT_TRUE(command);
  EXPECT_TRUE(command->options.frozen);
  EXPECT_EQ(command->after, std::vector<std::string>{"-O3"});
  EXPECT_EQ(parse_options({"--size=n"}, true).error().code, "cli.value");
  EXPECT_EQ(parse_options({"--runs=0"}, true).error().code, "cli.value");
}

}  // namespace
}  // namespace sous::client
