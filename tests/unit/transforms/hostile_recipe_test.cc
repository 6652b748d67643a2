// Recipes that someone forged: what they say stays data.
#include <gtest/gtest.h>

#include "sdfg/text.h"
#include "transforms/apply.h"

namespace sous::transforms {
namespace {

// The code with which a recipe of one step is refused; "" if it is accepted.
std::string code(const std::string& step) {
  const auto recipe = recipe_from_json(R"({"version": 1, "target": "cpp", "steps": [)" + step + "]}");
  return recipe ? "" : recipe.error().code;
}

TEST(HostileRecipe, NamesAndSizesAreNoPlaceForCode) {
  EXPECT_EQ(code(R"({"step": "tile", "loops": ["i0"], "sizes": ["l2_bytes / 16"]})"), "recipe.parameter");
  EXPECT_EQ(code(R"({"step": "tile", "loops": ["i0"], "sizes": ["l2_bytes floordiv 16"]})"), "");
  EXPECT_EQ(code(R"({"step": "tile", "loops": ["i0"], "sizes": ["min(l2_bytes, 64) * 2"]})"), "");
  // A comment of the .sdfg language, then a carriage return, which ends a comment of C++.
  EXPECT_EQ(code(R"({"step": "tile", "loops": ["i0"], "sizes": ["8 #\rint evil;"]})"), "recipe.parameter");
  EXPECT_EQ(code(R"({"step": "tile", "loops": ["i0\n#include </etc/passwd>"], "sizes": [8]})"), "recipe.parameter");
  EXPECT_EQ(code(R"({"step": "reverse", "loop": "i0); system(\"id\""})"), "recipe.parameter");
  EXPECT_EQ(code(R"({"step": "reverse", "loop": ""})"), "recipe.parameter");
  EXPECT_EQ(code(R"({"step": "tile", "loops": ["i0"], "sizes": [")" + std::string(300, '(') + "1" +
                 std::string(300, ')') + "\"]}"),
            "recipe.parameter");
}

TEST(HostileRecipe, MessagesQuoteAPieceOfIt) {
  const auto unknown =
      recipe_from_json(R"({"version": 1, "target": "\u001b[2J)" + std::string(10'000, 'x') + R"(", "steps": []})");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, "recipe.unknown-target");
  EXPECT_LT(unknown.error().why.size(), 200u);
  EXPECT_EQ(unknown.error().why.find('\x1b'), std::string::npos);
}

TEST(HostileRecipe, BracketsInAStringHideNoDepth) {
  const std::string hidden = R"({"version": 1, "x": "]]]]]]]]]]]]]]]]]]]]", "y": )" + std::string(20, '[');
  EXPECT_EQ(recipe_from_json(hidden).error().code, "recipe.budget");
}

TEST(HostileRecipe, ASizeThatTheHardwareGivesIsInItsDomain) {
  const auto nest = sdfg::parse(
      "sdfg 1 f\nsymbols n\narray A: f64[n] argument\narguments n, A\n\n"
      "loop i = 0 .. n {\n  s: A[i] = 1.0\n}\n");
  ASSERT_TRUE(nest);
  ApplyOptions options;
  options.context.hardware = {{"l2_bytes", std::int64_t{1} << 40}};
  const auto applied = apply(*nest, *recipe_from_text("tile(loops=[i], sizes=[l2_bytes]) -> cpp"), options);
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().code, "recipe.size");
}

TEST(HostileRecipe, StepsThatGrowTheNestHaveABudget) {
  const auto nest = sdfg::parse(
      "sdfg 1 f\nsymbols n\narray A: f64[n] argument\narguments n, A\n\n"
      "loop i = 0 .. n {\n  s: A[i] = 1.0\n}\n");
  std::string steps;
  for (int k = 0; k < 200; ++k) steps += std::string(k == 0 ? "" : "; ") + "tile(loops=[i], sizes=[2])";
  const auto applied = apply(*nest, *recipe_from_text(steps + " -> cpp"), {});
  ASSERT_FALSE(applied);
  // Whichever comes first: the nest is too large, or the proof about it is.
  EXPECT_TRUE(applied.error().code == "recipe.budget" || applied.error().code == "isl.budget") << applied.error().code;
}

}  // namespace
}  // namespace sous::transforms
