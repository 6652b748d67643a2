#include "transforms/apply.h"

namespace sous::transforms {

Result<sdfg::Sdfg> apply(const sdfg::Sdfg& sdfg, const Recipe& recipe, const ApplyOptions& options,
                         std::vector<StepReport>* reports) {
  Nest nest{.lifted = sdfg::lift(sdfg), .dependences = {}, .tree = {}};
  TRY(nest.dependences, sdfg::Dependences::compute(nest.lifted, options.budget));
  nest.tree = nest.lifted.tree;
  for (const StepCall& call : recipe.steps) {
    if (nest.stale) {
      TRY(nest.dependences, sdfg::Dependences::compute(nest.lifted, options.budget));
      nest.stale = false;
    }
    const StepInfo* step = find_step(call.step);
    auto plan = step ? step->plan(nest, call, options.context)
                     : Result<Plan>(fail("recipe.unknown-step", "there is no step " + call.step));
    if (reports)
      reports->push_back({.step = to_text(call),
                          .applied = plan.has_value(),
                          .refusal = plan ? "" : plan.error().why + " [" + plan.error().code + "]"});
    if (!plan) return fail(plan.error().code, plan.error().why, to_text(call));
    nest = rewrite(std::move(nest), *plan);
  }
  return sdfg::lower(nest.lifted, nest.tree);
}

}  // namespace sous::transforms
