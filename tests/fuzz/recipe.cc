// Recipes in both written forms: what is read is written and read to the same recipe, in either form.
#include "transforms/recipe.h"

#include "tests/fuzz/fuzz.h"

using namespace sous;

SOUS_FUZZ_TARGET(input) {
  const auto recipe = transforms::parse_recipe(input);
  if (!recipe) return;
  const auto json = transforms::recipe_from_json(transforms::to_json(*recipe));
  SOUS_ASSERT(json && *json == *recipe);
  const auto text = transforms::recipe_from_text(transforms::to_text(*recipe));
  SOUS_ASSERT(text && *text == *recipe);
}
