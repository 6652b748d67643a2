// What a recipe would make of a nest, ahead of the proof.
#include <gtest/gtest.h>

#include "sdfg/text.h"
#include "transforms/apply.h"

namespace sous::transforms {
namespace {

Nest nest_of(const std::string& body) {
  const auto parsed = sdfg::parse("sdfg 1 t symbols n array A: f64[n, n] argument arguments n, A " + body);
  EXPECT_TRUE(parsed) << parsed.error().to_string();
  Nest nest{.scop = sdfg::scop_of(*parsed), .dependences = {}, .tree = {}};
  nest.tree = nest.scop.tree;
  nest.dependences = *sdfg::Dependences::compute(nest.scop);
  return nest;
}

Recipe recipe_of(const std::string& text) {
  const auto recipe = recipe_from_text(text);
  EXPECT_TRUE(recipe) << recipe.error().to_string();
  return *recipe;
}

// Each element waits for the one above it and the one to its left.
const char* const waiting = "loop i0 = 1 .. n { loop i1 = 1 .. n { s0: A[i0, i1] = A[i0 - 1, i1] + A[i0, i1 - 1] } }";

// Of a legal recipe a draft is what the proof leads to.
TEST(Draft, IsWhatALegalRecipeMakes) {
  for (const char* text : {"tile(loops=[i0, i1], sizes=[8, 16], count=numbers); skew(loop=i1_t, by=i0_t, factor=1); "
                           "interchange(outer=i0_t, inner=i1_t); parallelize(loop=i0_t, kind=dynamic) -> highway",
                           "skew(loop=i1, by=i0, factor=2); unroll(loop=i1, factor=4) -> cpp"}) {
    const Nest nest = nest_of(waiting);
    const auto proven = apply(nest, recipe_of(text), {});
    const auto drafted = draft(nest, recipe_of(text), {});
    ASSERT_TRUE(proven && drafted) << text;
    EXPECT_EQ(sdfg::print(drafted->nest), sdfg::print(*proven)) << text;
  }
}

// Nothing is proven of it, which is why nobody else gets one: `apply` refuses the same recipe.
TEST(Draft, AsksForNoProof) {
  const Recipe threads = recipe_of("parallelize(loop=i0) -> openmp");
  EXPECT_FALSE(apply(nest_of(waiting), threads, {}));
  const auto drafted = draft(nest_of(waiting), threads, {});
  ASSERT_TRUE(drafted);
  const auto* loop = std::get_if<sdfg::Loop>(&drafted->nest.root.nodes[0].value);
  ASSERT_NE(loop, nullptr);
  EXPECT_TRUE(std::holds_alternative<sdfg::Parallel>(loop->schedule));
}

// What a step that restructures makes of a nest depends on its dependences; loops may not be there.
TEST(Draft, IsNoneWhereTheTreeAloneDoesNotTell) {
  const Nest nest = nest_of("loop i0 = 0 .. n { loop i1 = 0 .. n { s0: A[i0, i1] = A[i0, i1] + 1.0 } }");
  EXPECT_TRUE(draft(nest, recipe_of("vectorize(loop=i1) -> highway"), {}));
  EXPECT_FALSE(draft(nest, recipe_of("promote(loop=i1, most=1); vectorize(loop=i1) -> highway"), {}));
  EXPECT_FALSE(draft(nest, recipe_of("vectorize(loop=i7) -> highway"), {}));
}

}  // namespace
}  // namespace sous::transforms
