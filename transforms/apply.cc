#include "transforms/apply.h"

#include <algorithm>

namespace sous::transforms {
namespace {

// What a tuned nest never comes near, and what a recipe of 256 tilings would: each check of legality takes longer than
// the one before it.
constexpr std::size_t most_depth = 32;
constexpr std::size_t most_loops = 256;

std::size_t loops_below(const sdfg::ScheduleTree& tree, std::size_t depth, std::size_t& deepest) {
  deepest = std::max(deepest, depth);
  std::size_t count = 0;
  for (const sdfg::ScheduleNode& node : tree) {
    if (const auto* loop = std::get_if<sdfg::ScheduleLoop>(&node.value))
      count += 1 + loops_below(loop->children, depth + 1, deepest);
    if (const auto* guard = std::get_if<sdfg::ScheduleGuard>(&node.value))
      count += loops_below(guard->children, depth, deepest);
  }
  return count;
}

// Only what steps have added counts: a nest of the program may be as deep as it likes.
Result<void> check_growth(const sdfg::ScheduleTree& before, const sdfg::ScheduleTree& now) {
  std::size_t depth_before = 0, depth_now = 0;
  const std::size_t loops_before = loops_below(before, 0, depth_before), loops_now = loops_below(now, 0, depth_now);
  if (depth_now <= depth_before + most_depth && loops_now <= loops_before + most_loops) return {};
  return fail("recipe.budget", "the steps have made the nest " + std::to_string(depth_now) + " loops deep, of " +
                                   std::to_string(loops_now) + " loops");
}

}  // namespace

Result<sdfg::Sdfg> apply(const sdfg::Sdfg& sdfg, const Recipe& recipe, const ApplyOptions& options,
                         std::vector<StepReport>* reports) {
  Nest nest{.lifted = sdfg::lift(sdfg), .dependences = {}, .tree = {}};
  TRY(nest.dependences, sdfg::Dependences::compute(nest.lifted, options.budget));
  nest.tree = nest.lifted.tree;
  const sdfg::ScheduleTree original = nest.tree;
  for (const StepCall& call : recipe.steps) {
    const StepInfo* step = find_step(call.step);
    if (nest.stale && step && step->needs_dependences) {
      TRY(nest.dependences, sdfg::Dependences::compute(nest.lifted, options.budget));
      nest.stale = false;
    }
    auto plan = step ? step->plan(nest, call, options.context)
                     : Result<Plan>(fail("recipe.unknown-step", "there is no step " + call.step));
    if (reports)
      reports->push_back({.step = to_text(call),
                          .applied = plan.has_value(),
                          .refusal = plan ? "" : plan.error().why + " [" + plan.error().code + "]"});
    if (!plan) return fail(plan.error().code, plan.error().why, to_text(call));
    TRY_VOID(check_growth(original, plan->tree()));
    nest = rewrite(std::move(nest), *plan);
  }
  return sdfg::lower(nest.lifted, nest.tree);
}

}  // namespace sous::transforms
