// A recipe: how to rewrite a nest, as data. {"version": 1, "target": "highway", "steps": [{"step": "tile", …}, …]}
//
// Steps name loops, states and arrays by their names in the normal form, which the normal form gives by place: loops
// i0, i1, … in preorder, states s0, s1, … in order, containers a0, a1, … by first use. A step's new loops have names
// derived from the old ones (docs/steps.md says which). Sizes are integers or expressions over the hardware descriptor
// ("l2_bytes / 16").
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sdfg/result.h"

namespace sous::transforms {

// Every target that a recipe may name, sorted.
inline constexpr std::string_view target_names[] = {
#define X(name) #name,
#include "sdfg/targets.list"
#undef X
};

// A parameter's value. Strings are loop, state or container names, or size expressions.
using ParamValue = std::variant<bool, std::int64_t, std::string, std::vector<std::int64_t>, std::vector<std::string>>;

struct StepCall {
  std::string step;
  std::map<std::string, ParamValue> params;
  bool operator==(const StepCall&) const = default;
};

struct Recipe {
  int version = 1;
  std::string target = "cpp";
  std::vector<StepCall> steps;
  bool operator==(const Recipe&) const = default;
};

// One line of JSON, keys sorted: equal recipes give equal bytes.
std::string to_json(const Recipe& recipe);
// Errors: recipe.json (malformed), recipe.version, recipe.unknown-step, recipe.unknown-target (both with "did you
// mean"), recipe.parameter (unknown, missing, of the wrong type or out of its domain), a step's own code for lists that
// do not go together (tile.sizes), recipe.budget (over 256 steps or 256 KiB).
Result<Recipe> recipe_from_json(std::string_view json);
// "tile(loops=[i0,i1], sizes=[32,32]); parallelize(loop=i0_t) -> openmp"
std::string to_text(const Recipe& recipe);
Result<Recipe> recipe_from_text(std::string_view text);
// Either form, told apart by the first character: what a person writes into a file.
Result<Recipe> parse_recipe(std::string_view text);

}  // namespace sous::transforms
