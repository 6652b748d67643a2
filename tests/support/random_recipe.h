// Random recipes that apply, sampled from the declarations of the steps.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sdfg/dependences.h"
#include "sdfg/sdfg.h"
#include "transforms/recipe.h"
#include "transforms/step.h"

namespace sous::tests {

// For the dependences of random nests: a tenth of the usual, so that the costly ones are refused early.
inline constexpr sdfg::Budget small_budget = {.operations = 400'000};

struct RecipeOptions {
  bool reassociate = false;
  // Half of the samples are of this step.
  const transforms::StepInfo* favourite = nullptr;
  // How often each step was applied, and refused with which code, is counted here: a sampler that never gets anything
  // applied tests nothing.
  std::map<std::string, int>* outcomes = nullptr;
};

// A recipe of up to four steps, each sampled over the nest as it then is; refused ones are dropped.
transforms::Recipe random_recipe(const sdfg::Sdfg& nest, std::uint64_t seed, const RecipeOptions& options = {});

}  // namespace sous::tests
