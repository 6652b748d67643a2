// Applying a recipe to a nest: the one road from a recipe to changed code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sdfg/sdfg.h"
#include "transforms/patience.h"
#include "transforms/recipe.h"
#include "transforms/step.h"

namespace sous::transforms {

struct ApplyOptions {
  StepContext context;
  sdfg::Budget budget;
  // What becomes of a recipe of which a step is refused: nothing of it is applied; the steps ahead of that one are (for
  // a tuner that mends it); or all others are, as far as they fit without it (a recipe of another nest, or a general
  // one). In the latter two cases that may be none.
  enum class Refused : std::uint8_t { Fail, Stop, LeaveOut } refused = Refused::Fail;
  // Looked at ahead of each step: when it is over, nothing of the recipe is applied. Null: it takes what it takes.
  const Patience* patience = nullptr;
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

// Applies the steps in order, each proven legal on the nest as it then is. With Refused::Fail the first refusal is the
// result: the error carries the step's code and, in `where`, its text. Otherwise the result is the nest behind the last
// step that was applied, and never an error. `reports` (if given) gets one line per step that was tried.
Result<sdfg::Sdfg> apply(const sdfg::Sdfg& nest, const Recipe& recipe, const ApplyOptions& options,
                         std::vector<StepReport>* reports = nullptr);
// The same, of one whose dependences are known already: for many recipes of one nest.
Result<sdfg::Sdfg> apply(Nest nest, const Recipe& recipe, const ApplyOptions& options,
                         std::vector<StepReport>* reports = nullptr);

// What the recipe would make of the nest if all of its steps were legal, for estimates of what that gains ahead of the
// proof, which takes long: nothing of it is proven, and no code is made of it. Nullopt: what a step does depends on
// more than the tree (StepInfo::drafted), or it does not stand as declared.
struct Draft {
  sdfg::Sdfg nest;
};
std::optional<Draft> draft(const Nest& nest, const Recipe& recipe, const StepContext& context);

}  // namespace sous::transforms
