#include "targets/cpp/early_exits.h"

#include <variant>

namespace sous::targets {
namespace {

using sdfg::ScalarOp;

// Whether the loop's condition is a temporary scalar, or that it is not set.
bool is_flag(const sdfg::Condition& condition, const sdfg::Sdfg& sdfg) {
  if (condition.inputs.size() != 1) return false;
  const bool negated = condition.code.op == ScalarOp::logical_not;
  const sdfg::ScalarExpr& read = negated ? condition.code.args[0] : condition.code;
  const sdfg::Container* flag = sdfg.find(condition.inputs[0].container);
  return read.op == ScalarOp::input && !sdfg::is_float(read.type) && flag != nullptr && flag->shape.empty() &&
         flag->transient;
}

// Whether the condition, a flag, does not hold once the state has run.
bool ends(const sdfg::State& state, const sdfg::Condition& condition) {
  const bool goes_on_where = condition.code.op != ScalarOp::logical_not;
  bool ended = false;
  for (const sdfg::TaskletView& tasklet : sdfg::tasklets(state)) {
    for (const sdfg::Memlet* out : tasklet.outputs) {
      if (out->container != condition.inputs[0].container) continue;
      const sdfg::ScalarExpr& value = tasklet.tasklet->code;
      ended = value.op == ScalarOp::constant && !out->combine && (value.integer_value() != 0) != goes_on_where;
    }
  }
  return ended;
}

// `last`: behind the region, nothing of the body runs unless the condition holds.
void find(const sdfg::Region& region, const sdfg::Condition& condition, bool last,
          std::set<const sdfg::State*>& found) {
  for (std::size_t k = 0; k < region.nodes.size(); ++k) {
    const auto is_guarded = [&](std::size_t at) {
      const auto* branch = std::get_if<sdfg::If>(&region.nodes[at].value);
      return branch != nullptr && branch->else_body.nodes.empty() && branch->condition == condition;
    };
    const std::size_t behind = region.nodes.size() - k - 1;
    const bool nothing = last && (behind == 0 || (behind == 1 && is_guarded(k + 1)));
    if (const auto* state = std::get_if<sdfg::State>(&region.nodes[k].value)) {
      if (nothing && ends(*state, condition)) found.insert(state);
    } else if (const auto* branch = std::get_if<sdfg::If>(&region.nodes[k].value)) {
      find(branch->then_body, condition, nothing, found);
      find(branch->else_body, condition, nothing, found);
    }
  }
}

}  // namespace

std::set<const sdfg::State*> early_exits(const sdfg::While& loop, const sdfg::Sdfg& sdfg) {
  std::set<const sdfg::State*> found;
  if (is_flag(loop.condition, sdfg)) find(loop.body, loop.condition, true, found);
  return found;
}

}  // namespace sous::targets
