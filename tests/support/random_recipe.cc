#include "tests/support/random_recipe.h"

#include "targets/target.h"
#include "tests/support/random.h"
#include "tests/support/random_nest.h"

namespace sous::tests {

transforms::Recipe random_recipe(const sdfg::Sdfg& sdfg, std::uint64_t seed, const RecipeOptions& options) {
  Random random(seed);
  transforms::Recipe recipe;
  const auto targets = targets::targets();
  recipe.target = targets[random.below(targets.size())].name;
  const auto lifted = sdfg::lift(sdfg);
  const auto dependences = sdfg::Dependences::compute(lifted, small_budget);
  if (!dependences) return recipe;
  transforms::Nest nest = {lifted, *dependences, lifted.tree};
  transforms::StepContext context;
  context.reassociate = options.reassociate;
  const std::int64_t wanted = random.between(1, 4);
  // Most samples name loops that do not fit the step at all; that is found without an analysis, so there are many.
  int analysed = 0;
  for (int tries = 0; tries < 40 && analysed < 8 && static_cast<std::int64_t>(recipe.steps.size()) < wanted; ++tries) {
    const bool favoured = options.favourite && random.percent(50);
    const transforms::StepInfo& step =
        favoured ? *options.favourite : *transforms::steps()[random.below(transforms::steps().size())];
    std::uint64_t sampler = random.next();
    // Its statements are others now: what could follow is only known after a new analysis, but for steps without one.
    if (nest.stale && step.needs_dependences) continue;
    const auto call = transforms::sample(step, nest.tree, sampler);
    if (!call) continue;
    const auto plan = step.plan(nest, *call, context);
    if (options.outcomes) ++(*options.outcomes)[plan ? std::string(step.name) + " applied" : plan.error().code];
    const bool fits = plan || plan.error().code.ends_with(".illegal") || plan.error().code.ends_with(".carried");
    analysed += fits ? 1 : 0;
    if (!plan) continue;
    nest = transforms::rewrite(std::move(nest), *plan);
    recipe.steps.push_back(*call);
  }
  return recipe;
}

}  // namespace sous::tests
