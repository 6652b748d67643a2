// Strategies: general recipe writers.
//
// A strategy is one file in transforms/strategies/ with one declaration. It looks at a nest in normal form and at its
// exact dependences (nest_facts.h), and writes recipes for it in which parameters are left open: the tuner chooses
// their values by measuring. What a strategy writes is a proposal like any other recipe: each step is proven on the
// nest when it is applied, so that a strategy may be wrong about legality, and never about a result.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transforms/recipe.h"
#include "transforms/strategies/nest_facts.h"

namespace sous::transforms {

// A recipe in text form with names behind $ for what is open: "tile(loops=[i0], sizes=[$block]) -> highway". One name
// may stand in several places.
struct OpenRecipe {
  std::string text;
  // What each open name may stand for: numbers, choices or expressions over the hardware. The strategy's own choice
  // first, then the others from the likely to the unlikely.
  std::map<std::string, std::vector<std::string>> open;
};

// An index into each of `OpenRecipe::open`; what is not there stands for its first value.
using OpenChoice = std::map<std::string, std::size_t>;

// Errors: those of recipe_from_text, for a strategy that writes nonsense.
Result<Recipe> closed(const OpenRecipe& recipe, const OpenChoice& choice = {});

struct StrategyInfo {
  std::string_view name;
  std::string_view summary;
  std::string_view source;  // where the idea is described
  std::span<const RefusalInfo> refusals;
  // The recipes, the likeliest first, or why there are none.
  Result<std::vector<OpenRecipe>> (*write)(const NestFacts& nest) = nullptr;
  bool gpu = false;            // its recipes are for a GPU
  bool threads_alone = false;  // they send out threads, and leave all else as the program has it
  bool in_waves = false;       // ... for nests of which no loop is parallel as it stands
  bool fills_lanes = false;    // elements side by side in the lanes of vectors, each computed in the order that it had
  bool lanes_alone = false;    // they fill lanes and send out threads, and leave all else as the program has it
  bool frees_loops = false;    // loops become parallel that were not, so that no compiler finds vectors in them
};

// All of them, in the order in which their recipes are tried (strategies.list).
std::span<const StrategyInfo* const> strategies();

// The list of all, for help.
std::string strategies_text();

#define X(name) extern const StrategyInfo name##_strategy;
#include "transforms/strategies/strategies.list"
#undef X

}  // namespace sous::transforms
