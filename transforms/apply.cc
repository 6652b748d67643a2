#include "transforms/apply.h"

#include <algorithm>
#include <set>

#include "transforms/simplify.h"

namespace sous::transforms {
namespace {

// What a tuned nest never comes near, and what a recipe of 256 tilings would: each check of legality takes longer than
// the one before it.
constexpr std::size_t most_depth = 32;
constexpr std::size_t most_loops = 256;

// Only what steps have added counts: a nest of the program may be as deep as it likes.
Result<void> check_growth(const sdfg::ScheduleTree& before, const sdfg::ScheduleTree& now) {
  const std::size_t loops_before = sdfg::loop_symbols(before).size(), loops_now = sdfg::loop_symbols(now).size();
  const std::size_t depth_now = depth(now);
  if (depth_now <= depth(before) + most_depth && loops_now <= loops_before + most_loops) return {};
  return fail("recipe.budget", "the steps have made the nest " + std::to_string(depth_now) + " loops deep, of " +
                                   std::to_string(loops_now) + " loops");
}

// The statements in the smallest part of the tree that holds the loops which the step names: all that most steps look
// at. `deepest` false: in whole children of the root.
std::set<int> concerned(const sdfg::ScheduleTree& tree, const std::set<std::string>& named, bool deepest) {
  std::set<int> statements;
  const sdfg::ScheduleNode* only = nullptr;
  int holding = 0;
  for (const sdfg::ScheduleNode& node : tree) {
    const sdfg::ScheduleTree child{node};
    if (std::ranges::none_of(sdfg::loop_symbols(child), [&](const auto& s) { return named.contains(s); })) continue;
    sdfg::for_each_leaf(child, [&](const sdfg::ScheduleLeaf& leaf) { statements.insert(leaf.statement); });
    only = &node;
    ++holding;
  }
  if (!deepest || holding != 1) return statements;
  const auto* loop = std::get_if<sdfg::ScheduleLoop>(&only->value);
  if (loop && named.contains(loop->symbol)) return statements;
  return concerned(*sdfg::children(*only), named, true);
}

std::set<std::string> names_in(const StepCall& call) {
  std::set<std::string> named;
  for (const auto& [name, value] : call.params) {
    if (const auto* one = std::get_if<std::string>(&value)) named.insert(*one);
    if (const auto* many = std::get_if<std::vector<std::string>>(&value)) named.insert(many->begin(), many->end());
  }
  return named;
}

}  // namespace

Result<Plan> plan_of(const StepInfo& step, const StepCall& call, Nest& nest, const ApplyOptions& options) {
  const auto provided = [&](const std::set<int>* statements) -> Result<void> {
    if (statements && !nest.stale && nest.dependences.cover(*statements)) return {};
    TRY(nest.dependences, statements ? sdfg::Dependences::compute_among(nest.scop, *statements, options.budget)
                                     : sdfg::Dependences::compute(nest.scop, options.budget));
    nest.stale = false;
    return {};
  };
  if (!step.needs_dependences) return step.plan(nest, call, options.context);
  // Those of a restructured nest (tiles in registers, packed operands) are costly, and seldom needed twice.
  const std::set<int> statements = concerned(nest.tree, names_in(call), nest.restructured);
  TRY_VOID(provided(&statements));
  Result<Plan> plan = step.plan(nest, call, options.context);
  if (plan || plan.error().code != "isl.scope") return plan;
  TRY_VOID(provided(nullptr));
  return step.plan(nest, call, options.context);
}

Result<sdfg::Sdfg> apply(const sdfg::Sdfg& sdfg, const Recipe& recipe, const ApplyOptions& options,
                         std::vector<StepReport>* reports) {
  Nest nest{.scop = sdfg::scop_of(sdfg), .dependences = {}, .tree = {}, .stale = true};
  nest.tree = nest.scop.tree;
  return apply(std::move(nest), recipe, options, reports);
}

Result<sdfg::Sdfg> apply(Nest nest, const Recipe& recipe, const ApplyOptions& options,
                         std::vector<StepReport>* reports) {
  SOUS_ASSERT(!nest.draft);
  const sdfg::ScheduleTree original = nest.tree;
  const auto planned = [&](const StepCall& call) -> Result<Plan> {
    const StepInfo* step = find_step(call.step);
    if (step == nullptr) return fail("recipe.unknown-step", "there is no step " + call.step);
    TRY(Plan plan, plan_of(*step, call, nest, options));
    TRY_VOID(check_growth(original, plan.tree()));
    return plan;
  };
  for (const StepCall& call : recipe.steps) {
    if (options.patience && options.patience->over())
      return fail("recipe.time", "what the server said has taken too long", to_text(call));
    const Result<Plan> plan = planned(call);
    if (reports)
      reports->push_back({.step = to_text(call),
                          .applied = plan.has_value(),
                          .refusal = plan ? "" : plan.error().why + " [" + plan.error().code + "]"});
    if (!plan && options.refused == ApplyOptions::Refused::Stop) break;
    if (!plan && options.refused == ApplyOptions::Refused::LeaveOut) continue;
    if (!plan) return fail(plan.error().code, plan.error().why, to_text(call));
    nest = rewrite(std::move(nest), *plan);
  }
  return sdfg::lower(nest.scop, nest.tree);
}

std::optional<Draft> draft(const Nest& nest, const Recipe& recipe, const StepContext& context) {
  Nest one = nest;
  one.draft = true;
  for (const StepCall& call : recipe.steps) {
    const StepInfo* step = find_step(call.step);
    if (step == nullptr || !step->drafted) return std::nullopt;
    const Result<Plan> plan = step->plan(one, call, context);
    if (!plan || !check_growth(nest.tree, plan->tree())) return std::nullopt;
    one.tree = plan->tree();
  }
  return Draft{sdfg::lower(one.scop, one.tree)};
}

}  // namespace sous::transforms
