#include "transforms/operands.h"

#include <algorithm>
#include <functional>

#include "sdfg/contraction.h"
#include "sdfg/polyhedral.h"
#include "transforms/footprints.h"
#include "transforms/normal/util.h"
#include "transforms/step.h"
#include "transforms/tile_bounds.h"

namespace sous::transforms {

using sdfg::Expr;
using sdfg::Memlet;
using sdfg::ScalarExpr;
using sdfg::ScalarOp;

namespace {

class Finder {
 public:
  Finder(const sdfg::Sdfg& sdfg, const sdfg::Loop& loop, bool fold) : fold_(fold) {
    const auto written = sdfg::touched(loop.body).written;
    for (const sdfg::Container& c : sdfg.containers)
      for (const std::string& w : written) {
        if (!normal::may_overlap(sdfg, c.name, w)) continue;
        changing_.insert(c.name);
        if (w != c.name) changing_elsewhere_.insert(c.name);
      }
    // Values that change with `loop` itself may be folded: the copy is made in each of its iterations.
    sdfg::visit(loop.body, [&](const sdfg::Node& n) {
      const auto* l = std::get_if<sdfg::Loop>(&n.value);
      if (l == nullptr) return;
      inner_.insert(l->symbol);
      // What is private to a loop inside exists nowhere else.
      changing_elsewhere_.insert(l->privates.begin(), l->privates.end());
    });
    for_each_place(loop.body, [&](const sdfg::Node& n, const Around& around) {
      const auto* s = std::get_if<sdfg::State>(&n.value);
      const bool down = std::ranges::any_of(around.loops, [](const sdfg::ScheduleLoop& l) { return l.step < 0; });
      if (s && around.known && !down) state(*s, around);
    });
  }
  std::vector<Operand> take() { return std::move(found_); }

 private:
  bool is_outside(const Expr& e) const {
    return e.reads().empty() &&
           std::ranges::none_of(e.symbols(), [&](const std::string& s) { return inner_.contains(s); });
  }
  bool is_invariant(const Memlet& m) const {
    return !changing_.contains(m.container) &&
           std::ranges::all_of(m.subset, [&](const Expr& e) { return is_outside(e); });
  }
  bool is_invariant(const ScalarExpr& e, const std::vector<Memlet>& inputs) const {
    if (e.op == ScalarOp::input) return is_invariant(inputs[static_cast<std::size_t>(e.input)]);
    if (e.op == ScalarOp::symbolic) return is_outside(e.symbolic);
    if (e.op != ScalarOp::constant && !is_total(e)) return false;
    return std::ranges::all_of(e.args, [&](const ScalarExpr& arg) { return is_invariant(arg, inputs); });
  }

  void state(const sdfg::State& s, const Around& around) {
    const auto assignment = sdfg::as_assignment(s);
    if (!assignment) return;
    for (std::size_t k = 0; k < assignment->inputs.size(); ++k) {
      const Memlet& m = assignment->inputs[k];
      if (m.subset.empty() || changing_elsewhere_.contains(m.container) || is_invariant(m)) continue;
      if (!std::ranges::all_of(m.subset, sdfg::is_quasi_affine)) continue;
      const auto add = [&](const ScalarExpr& value) { this->add(s.name, *assignment, k, value, around); };
      if (is_whole(assignment->code, static_cast<int>(k), assignment->inputs, add)) add(assignment->code);
    }
  }

  // Whether `e` as a whole can be computed from input k; otherwise hands over the largest parts of it that can.
  bool is_whole(const ScalarExpr& e, int k, const std::vector<Memlet>& inputs,
                const std::function<void(const ScalarExpr&)>& add) const {
    if (e.op == ScalarOp::input) return e.input == k;
    std::vector<const ScalarExpr*> whole;
    bool rest_is_invariant = true;
    for (const ScalarExpr& arg : e.args)
      if (is_whole(arg, k, inputs, add))
        whole.push_back(&arg);
      else
        rest_is_invariant = rest_is_invariant && is_invariant(arg, inputs);
    if (fold_ && !whole.empty() && rest_is_invariant && is_total(e)) return true;
    const bool sum = e.op == ScalarOp::add || e.op == ScalarOp::sub;
    for (const ScalarExpr* arg : whole)
      if (sum && sdfg::is_product(*arg))
        add_factors(*arg, k, inputs, add);
      else
        add(*arg);
    return false;
  }

  // A product that a sum uses may be one fused operation with it: computed ahead it would be rounded once more. Its
  // factors can be.
  void add_factors(const ScalarExpr& product, int k, const std::vector<Memlet>& inputs,
                   const std::function<void(const ScalarExpr&)>& add) const {
    for (const ScalarExpr& factor : product.args)
      if (product.op == ScalarOp::neg)
        add_factors(factor, k, inputs, add);
      else if (is_whole(factor, k, inputs, add))
        add(factor);
  }

  void add(const std::string& state, const sdfg::Assignment& assignment, std::size_t k, const ScalarExpr& value,
           const Around& around) {
    Operand o{.state = state,
              .value = value,
              .element = assignment.inputs[k],
              .others = {},
              .code = {},
              .around = around,
              .is_container_written = changing_.contains(assignment.inputs[k].container)};
    o.code = value.map_inputs([&](const ScalarExpr& leaf) {
      const Memlet& m = assignment.inputs[static_cast<std::size_t>(leaf.input)];
      if (leaf.input == static_cast<int>(k)) return ScalarExpr::make_input(0, leaf.type);
      auto at = std::ranges::find(o.others, m);
      if (at == o.others.end()) at = o.others.insert(at, m);
      return ScalarExpr::make_input(1 + static_cast<int>(at - o.others.begin()), leaf.type);
    });
    const auto same = [&](const Operand& other) { return other.state == state && other.value == value; };
    if (std::ranges::none_of(found_, same)) found_.push_back(std::move(o));
  }

  const bool fold_;
  std::set<std::string> changing_;            // containers that something inside may write
  std::set<std::string> changing_elsewhere_;  // those of which it may do so under another name, or of its own
  std::set<std::string> inner_;               // symbols bound inside
  std::vector<Operand> found_;
};

std::vector<sdfg::ScheduleLoop> without(std::vector<sdfg::ScheduleLoop> loops,
                                        const std::map<std::string, Expr>& kept) {
  std::erase_if(loops, [&](const sdfg::ScheduleLoop& l) { return kept.contains(l.symbol); });
  return loops;
}

}  // namespace

bool is_total(const ScalarExpr& e) {
  switch (e.op) {
    case ScalarOp::neg:
    case ScalarOp::add:
    case ScalarOp::sub:
    case ScalarOp::mul:
      return e.type != sdfg::ElementType::boolean;
    case ScalarOp::div:
      return sdfg::is_float(e.type);
    case ScalarOp::uncontracted:
      return true;
    case ScalarOp::cast:
      return sdfg::is_float(e.type) || !sdfg::is_float(e.args[0].type);
    default:
      return false;
  }
}

bool never_fails(const ScalarExpr& e) {
  if (e.op == ScalarOp::input || e.op == ScalarOp::constant) return true;
  if (e.op == ScalarOp::symbolic)
    return sdfg::is_quasi_affine(e.symbolic);  // a quotient by a symbol may be one by zero
  return is_total(e) && std::ranges::all_of(e.args, never_fails);
}

const sdfg::ScheduleLoop* Operand::loop(const std::string& symbol) const {
  const auto at = std::ranges::find(around.loops, symbol, &sdfg::ScheduleLoop::symbol);
  return at == around.loops.end() ? nullptr : &*at;
}

sdfg::Points Operand::elements() const { return at(around.iterations(), element.subset); }

std::optional<Expr> Operand::least(const Expr& e, const std::map<std::string, Expr>& kept) const {
  const auto least = least_of_all(e, without(around.loops, kept));
  return least ? std::optional(least->substitute(kept)) : std::nullopt;
}
std::optional<Expr> Operand::greatest(const Expr& e, const std::map<std::string, Expr>& kept) const {
  const auto greatest = greatest_of_all(e, without(around.loops, kept));
  return greatest ? std::optional(greatest->substitute(kept)) : std::nullopt;
}

std::vector<Operand> operands(const sdfg::Sdfg& sdfg, const sdfg::Loop& loop, bool fold) {
  return Finder(sdfg, loop, fold).take();
}

sdfg::State replaced(const sdfg::State& state, const std::vector<Replacement>& with) {
  const auto assignment = sdfg::as_assignment(state);
  SOUS_ASSERT(assignment.has_value());
  std::vector<Memlet> inputs = assignment->inputs;
  const std::function<ScalarExpr(const ScalarExpr&)> rewrite = [&](const ScalarExpr& e) {
    for (const Replacement& r : with)
      if (e == r.from) {
        inputs.push_back(r.to);
        return ScalarExpr::make_input(static_cast<int>(inputs.size()) - 1, e.type);
      }
    ScalarExpr result = e;
    for (ScalarExpr& arg : result.args) arg = rewrite(arg);
    return result;
  };
  ScalarExpr code = rewrite(assignment->code);
  return normal::tidy_assignment(state.name, assignment->out, std::move(code), std::move(inputs));
}

}  // namespace sous::transforms
