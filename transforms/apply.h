// Applying a recipe to a nest: the one road from a recipe to changed code.
#pragma once

#include <string>
#include <vector>

#include "sdfg/sdfg.h"
#include "transforms/recipe.h"
#include "transforms/step.h"

namespace sous::transforms {

struct ApplyOptions {
  StepContext context;
  sdfg::Budget budget;
  // What becomes of a recipe of which a step is refused: nothing of it is applied, or (for a tuner that mends it, for a
  // recipe of another nest) the steps ahead of that one are, perhaps none.
  bool as_far_as_it_fits = false;
};

// What became of one step: for --explain.
struct StepReport {
  std::string step;  // its text form
  bool applied = false;
  std::string refusal;  // "why [code]" where it was refused
};

// The plan of one step, from the dependences of what it concerns: the statements in the part of the tree that holds the
// loops it names; where that is not all, from those of the whole nest. What was computed stays in `nest`.
Result<Plan> plan_of(const StepInfo& step, const StepCall& call, Nest& nest, const ApplyOptions& options);

// Applies every step in order, each proven legal on the nest as it then is. The first refusal ends it. Unless
// `as_far_as_it_fits`, it is the result: the error carries the step's code and, in `where`, its text. With it, the
// result is the nest behind the last step that was applied, and never an error. `reports` (if given) gets one line per
// step that was tried: only the last of them can be a refusal.
Result<sdfg::Sdfg> apply(const sdfg::Sdfg& nest, const Recipe& recipe, const ApplyOptions& options,
                         std::vector<StepReport>* reports = nullptr);

}  // namespace sous::transforms
