// Which statements are reductions.
#include <algorithm>

#include "sdfg/dependence_data.h"
#include "sdfg/extremum.h"

namespace sous::sdfg {

namespace {

// The reduction that combines with this operator, if one does.
std::optional<ReductionOp> reduction_of(ScalarOp op) {
#define X(e, text, combines) \
  if (op == ScalarOp::combines) return ReductionOp::e;
  SOUS_REDUCTION_OPS(X)
#undef X
  return std::nullopt;
}

// Whether a subscript reads the container.
bool subscripts_read(const Memlet& memlet, const std::string& container) {
  return std::ranges::any_of(memlet.subset, [&](const Expr& e) { return e.reads().contains(container); });
}

}  // namespace

std::optional<ReductionOp> selected_extremum(const ScalarExpr& e) {
  if (e.op != ScalarOp::select) return std::nullopt;
  const ScalarExpr& c = e.args[0];
  bool less = c.op == ScalarOp::lt || c.op == ScalarOp::le, greater = c.op == ScalarOp::gt || c.op == ScalarOp::ge;
  if (!less && !greater) return std::nullopt;
  if (c.args[0] == e.args[1] && c.args[1] == e.args[2]) return less ? ReductionOp::min : ReductionOp::max;
  if (c.args[0] == e.args[2] && c.args[1] == e.args[1]) return less ? ReductionOp::max : ReductionOp::min;
  return std::nullopt;
}

bool keeps_first_extremum(const Statement& statement) {
  const auto update = self_update(statement);
  if (!update || (update->op != ReductionOp::min && update->op != ReductionOp::max)) return false;
  const auto a = as_assignment(std::get<State>(statement.node.value));
  const ScalarExpr& code = a->code;
  if (code.op != ScalarOp::select) return false;
  const bool strict = code.args[0].op == ScalarOp::lt || code.args[0].op == ScalarOp::gt;
  const ScalarExpr& otherwise = code.args[2];
  return strict && otherwise.op == ScalarOp::input &&
         a->inputs[static_cast<std::size_t>(otherwise.input)].container == update->container;
}

std::optional<Reduction> commuting_update(const Statement& statement) {
  const auto* state = std::get_if<State>(&statement.node.value);
  if (!state) return std::nullopt;
  auto a = as_assignment(*state);
  if (!a || a->out.combine) return std::nullopt;
  int accumulator = -1;
  for (std::size_t i = 0; i < a->inputs.size(); ++i) {
    if (a->inputs[i] != a->out) continue;
    if (accumulator >= 0) return std::nullopt;
    accumulator = static_cast<int>(i);
  }
  if (accumulator < 0 || subscripts_read(a->out, a->out.container)) return std::nullopt;
  auto uses = [&](const ScalarExpr& e) {
    int count = 0;
    e.visit([&](const ScalarExpr& n) { count += n.op == ScalarOp::input && n.input == accumulator; });
    return count;
  };
  auto is_accumulator = [&](const ScalarExpr& e) { return e.op == ScalarOp::input && e.input == accumulator; };
  if (auto op = selected_extremum(a->code)) {
    if (uses(a->code) == 2 && (is_accumulator(a->code.args[1]) || is_accumulator(a->code.args[2])))
      return Reduction{.container = a->out.container, .op = *op};
    return std::nullopt;
  }
  if (uses(a->code) != 1) return std::nullopt;
  // Down the spine of one operator to the accumulator; subtracting from it adds to it.
  const ScalarExpr* e = &a->code;
  ScalarOp op = e->op == ScalarOp::sub ? ScalarOp::add : e->op;
  const auto reduction = reduction_of(op);
  if (!reduction) return std::nullopt;
  while (!is_accumulator(*e)) {
    bool step = e->op == op || (op == ScalarOp::add && e->op == ScalarOp::sub);
    if (!step) return std::nullopt;
    if (uses(e->args[0]) == 1)
      e = &e->args[0];
    else if (e->op != ScalarOp::sub)
      e = &e->args[1];
    else
      return std::nullopt;
  }
  return Reduction{.container = a->out.container, .op = *reduction};
}

std::optional<Reduction> self_update(const Statement& statement) {
  auto update = commuting_update(statement);
  if (!update) return std::nullopt;
  const auto a = as_assignment(std::get<State>(statement.node.value));
  for (const Memlet& input : a->inputs)
    if ((input.container == update->container && input != a->out) || subscripts_read(input, update->container))
      return std::nullopt;
  return update;
}

}  // namespace sous::sdfg
