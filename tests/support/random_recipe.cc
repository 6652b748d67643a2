#include "tests/support/random_recipe.h"

#include "targets/target.h"
#include "tests/support/random.h"
#include "tests/support/random_nest.h"
#include "transforms/search_space.h"

namespace sous::tests {
namespace {

using transforms::StepInfo;

class Maker {
 public:
  Maker(const sdfg::Sdfg& sdfg, const RecipeOptions& options, Random& random) : options_(options), random_(random) {
    apply_.context.reassociate = options.reassociate;
    apply_.context.hardware = options.hardware;
    apply_.budget = small_budget;
    nest_ = {.scop = sdfg::scop_of(sdfg), .dependences = {}, .tree = {}, .stale = true};
    nest_.tree = nest_.scop.tree;
  }

  // Whether a draw of the step applies: then it is in the recipe.
  bool add(const StepInfo& step, transforms::Recipe& recipe) {
    std::uint64_t sampler = random_.next();
    const auto call = transforms::SearchSpace(step, nest_.tree, apply_.context).sample(sampler);
    if (!call) return false;
    const auto plan = transforms::plan_of(step, *call, nest_, apply_);
    if (options_.outcomes) {
      const std::string where = nest_.restructured ? " behind a restructuring step" : "";
      ++(*options_.outcomes)[plan ? std::string(step.name) + " applied" + where : plan.error().code];
    }
    const bool costly = plan || plan.error().code.ends_with(".illegal") || plan.error().code.ends_with(".carried") ||
                        plan.error().code.starts_with("isl.");
    analysed_ += costly || (nest_.restructured && step.needs_dependences) ? 1 : 0;
    if (!plan) return false;
    nest_ = transforms::rewrite(std::move(nest_), *plan);
    recipe.steps.push_back(*call);
    return true;
  }
  // Analyses are what takes the time; that a draw does not fit is mostly found without.
  int analysed() const { return analysed_; }

 private:
  const RecipeOptions& options_;
  Random& random_;
  transforms::ApplyOptions apply_;
  transforms::Nest nest_;
  int analysed_ = 0;
};

// What is offloaded is for the target that has a GPU.
transforms::Recipe for_its_machine(transforms::Recipe recipe) {
  for (const transforms::StepCall& call : recipe.steps)
    if (call.step == "offload" || call.step == "meet") recipe.target = "cuda";
  return recipe;
}

}  // namespace

std::map<std::string, std::int64_t> small_hardware() {
  return {{"cores", 2}, {"l1_bytes", 1024}, {"l2_bytes", 8192}, {"l3_bytes", 65536}, {"simd_bits", 256}};
}

transforms::Recipe random_recipe(const sdfg::Sdfg& sdfg, std::uint64_t seed, const RecipeOptions& options) {
  Random random(seed);
  transforms::Recipe recipe;
  const auto targets = targets::targets();
  recipe.target = targets[random.below(targets.size())]->name;
  Maker maker(sdfg, options, random);
  for (const StepInfo* step : options.sequence)
    for (int tries = 0; tries < 6 && !maker.add(*step, recipe);) ++tries;
  if (!options.sequence.empty()) return for_its_machine(std::move(recipe));
  const std::int64_t wanted = random.between(1, 4);
  for (int tries = 0; tries < 40 && maker.analysed() < 8 && static_cast<std::int64_t>(recipe.steps.size()) < wanted;
       ++tries) {
    const bool favoured = options.favourite && random.percent(50);
    maker.add(favoured ? *options.favourite : *transforms::steps()[random.below(transforms::steps().size())], recipe);
  }
  return for_its_machine(std::move(recipe));
}

}  // namespace sous::tests
