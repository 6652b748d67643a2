// The targets that recipes may name are those that there are: modules that never include each other.
#include <gtest/gtest.h>

#include "client/pipeline.h"
#include "transforms/recipe.h"

namespace sous::client {
namespace {

TEST(Targets, RecipesMayNameThoseThatThereAre) {
  const std::vector<std::string> named(std::begin(transforms::target_names), std::end(transforms::target_names));
  EXPECT_EQ(named, target_names());
}

}  // namespace
}  // namespace sous::client
