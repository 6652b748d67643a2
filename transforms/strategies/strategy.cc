#include "transforms/strategies/strategy.h"

namespace sous::transforms {

Result<Recipe> closed(const OpenRecipe& recipe, const OpenChoice& choice) {
  std::string text;
  for (std::size_t at = 0; at < recipe.text.size();) {
    if (recipe.text[at] != '$') {
      text += recipe.text[at++];
      continue;
    }
    std::size_t end = ++at;
    while (end < recipe.text.size() && (std::isalnum(static_cast<unsigned char>(recipe.text[end])) != 0)) ++end;
    const std::string name = recipe.text.substr(at, end - at);
    const auto values = recipe.open.find(name);
    if (values == recipe.open.end()) return fail("recipe.text", "$" + name + " is not declared");
    const auto chosen = choice.find(name);
    text += values->second.at(chosen == choice.end() ? 0 : chosen->second);
    at = end;
  }
  return recipe_from_text(text);
}

std::span<const StrategyInfo* const> strategies() {
  static constexpr const StrategyInfo* table[] = {
#define X(name) &name##_strategy,
#include "transforms/strategies/strategies.list"
#undef X
  };
  return table;
}

std::string strategies_text() {
  std::string text;
  for (const StrategyInfo* strategy : strategies()) {
    text += std::string(strategy->name) + "\n    " + std::string(strategy->summary) + "\n    (" +
            std::string(strategy->source) + ")\n";
  }
  return text;
}

}  // namespace sous::transforms
