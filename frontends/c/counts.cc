#include "frontends/c/counts.h"

#include <optional>
#include <utility>

namespace sous::frontends::c {

using sdfg::Memlet;
using sdfg::ScalarExpr;
using sdfg::ScalarOp;

namespace {

// By how much a state counts on an integer without subscripts; nullopt: it does something else.
std::optional<std::int64_t> step_of(const sdfg::Assignment& a) {
  const bool adds = a.code.op == ScalarOp::add || a.code.op == ScalarOp::sub;
  if (!adds || sdfg::is_float(a.code.type) || !a.out.subset.empty() || a.out.combine || a.inputs.size() != 1)
    return std::nullopt;
  const ScalarExpr &old = a.code.args[0], &step = a.code.args[1];
  if (old.op != ScalarOp::input || a.inputs[0] != a.out || step.op != ScalarOp::constant) return std::nullopt;
  return step.integer_value();
}

// The same where the condition holds, and otherwise nothing.
sdfg::State where_it_holds(const std::string& name, const sdfg::Assignment& count, const ScalarExpr& test,
                           const std::vector<Memlet>& inputs) {
  std::vector<Memlet> all{count.out};
  all.insert(all.end(), inputs.begin(), inputs.end());
  ScalarExpr holds =
      test.map_inputs([](const ScalarExpr& leaf) { return ScalarExpr::make_input(leaf.input + 1, leaf.type); });
  const ScalarExpr& step = count.code.args[1];
  ScalarExpr counted = step.integer_value() == 1
                           ? ScalarExpr::cast(std::move(holds), step.type)
                           : ScalarExpr::select(std::move(holds), step, ScalarExpr::integer(0, step.type));
  return sdfg::assignment(name, count.out,
                          ScalarExpr::binary(count.code.op, ScalarExpr::make_input(0, count.code.type), counted),
                          std::move(all));
}

bool calls(const ScalarExpr& e) {
  bool found = false;
  e.visit([&](const ScalarExpr& part) { found = found || sdfg::info(part.op).form == sdfg::OpForm::Call; });
  return found;
}

}  // namespace

std::vector<sdfg::State> take_counts(const ScalarExpr& test, const std::vector<Memlet>& inputs, sdfg::Region& body,
                                     bool is_asked_once, const std::function<bool(const std::string&)>& is_own) {
  std::vector<sdfg::State> counts;
  if (calls(test) && !is_asked_once) return counts;
  const sdfg::Region asked{{sdfg::Node(sdfg::If{.condition = {test, inputs}, .then_body = {}, .else_body = {}})}};
  for (std::size_t k = 0; k < body.nodes.size();) {
    const auto* state = std::get_if<sdfg::State>(&body.nodes[k].value);
    const auto count = state != nullptr ? sdfg::as_assignment(*state) : std::nullopt;
    bool taken = count && step_of(*count) && is_own(count->out.container);
    if (taken) {
      sdfg::Region others = body;
      others.nodes.erase(others.nodes.begin() + static_cast<std::ptrdiff_t>(k));
      for (const sdfg::Region* region : {&std::as_const(others), &asked}) {
        const sdfg::Touched touched = sdfg::touched(*region);
        taken =
            taken && !touched.read.contains(count->out.container) && !touched.written.contains(count->out.container);
      }
    }
    if (!taken) {
      ++k;
      continue;
    }
    counts.push_back(where_it_holds(state->name, *count, test, inputs));
    body.nodes.erase(body.nodes.begin() + static_cast<std::ptrdiff_t>(k));
  }
  return counts;
}

}  // namespace sous::frontends::c
