// Random recipes that apply, drawn from the search space of the steps and planned as recipes are.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sdfg/dependences.h"
#include "sdfg/sdfg.h"
#include "transforms/apply.h"
#include "transforms/recipe.h"
#include "transforms/step.h"

namespace sous::tests {

// For the dependences of random nests: a tenth of the usual, so that the costly ones are refused early.
inline constexpr sdfg::Budget small_budget = {.operations = 400'000};

// A machine on which sizes that are expressions suit nests of a few iterations.
std::map<std::string, std::int64_t> small_hardware();

struct RecipeOptions {
  bool reassociate = false;
  // Values of size expressions; without them there are none in the recipe.
  std::map<std::string, std::int64_t> hardware = {};
  // Half of the samples are of this step.
  const transforms::StepInfo* favourite = nullptr;
  // These steps in this order, each left out where nothing that is drawn applies; empty: up to four of any.
  std::vector<const transforms::StepInfo*> sequence = {};
  // How often each step was applied, and refused with which code, is counted here: a sampler that never gets anything
  // applied tests nothing.
  std::map<std::string, int>* outcomes = nullptr;
};

// Each step is drawn from its search space in the nest as it then is, also where steps before it changed its
// statements, and dropped if `plan_of` refuses it.
transforms::Recipe random_recipe(const sdfg::Sdfg& nest, std::uint64_t seed, const RecipeOptions& options = {});

}  // namespace sous::tests
