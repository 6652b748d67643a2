// What is left alone before normal form must not have a recipe after it.
#include <gtest/gtest.h>

#include "sdfg/text.h"
#include "tests/support/random_nest.h"
#include "transforms/normal_form.h"
#include "tuning-db/features.h"

namespace sous::tuning_db {
namespace {

using sdfg::ElementType;

TEST(MayHaveKey, ByDepthAndType) {
  const auto nest = sdfg::parse(
      "sdfg 1 t symbols n array A: f32[n, n] argument array B: i32[n] argument arguments n, A, B "
      "loop i = 0 .. n { loop j = 0 .. n { a: A[i, j] = A[i, j] * 2.0f32 } b: B[i] = B[i] + 1i32 }");
  ASSERT_TRUE(nest) << nest.error().to_string();
  EXPECT_TRUE(may_have_key(*nest, {{ElementType::f32, 2}}));
  EXPECT_TRUE(may_have_key(*nest, {{ElementType::i32, 1}}));
  EXPECT_TRUE(may_have_key(*nest, {{ElementType::f64, 1}, {ElementType::f32, 1}}));
  EXPECT_FALSE(may_have_key(*nest, {{ElementType::f32, 3}}));
  EXPECT_FALSE(may_have_key(*nest, {{ElementType::f64, 1}}));
  EXPECT_FALSE(may_have_key(*nest, {}));
}

TEST(MayHaveKey, OfEveryUnitOfTheNormalForm) {
  int units = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const sdfg::Sdfg nest = tests::random_nest(seed);
    const auto normal = transforms::normalize(nest);
    if (!normal) continue;
    for (const auto& unit : normal->units) {
      EXPECT_TRUE(may_have_key(nest, {nest_key(unit.nest)})) << "seed " << seed << "\n" << sdfg::print(nest);
      ++units;
    }
  }
  EXPECT_GT(units, 40);
}

}  // namespace
}  // namespace sous::tuning_db
