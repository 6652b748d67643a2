// What a loop that declares a reduction may do with the reduced container: combine into it, nothing else.
#include <algorithm>

#include "sdfg/check_rules.h"
#include "sdfg/text_internal.h"

namespace sous::sdfg::rules {
namespace {

bool uses_input(const ScalarExpr& e, int input) {
  if (e.op == ScalarOp::input) return e.input == input;
  return std::ranges::any_of(e.args, [&](const ScalarExpr& a) { return uses_input(a, input); });
}

// Whether `e` is input (op) something, the accumulator being used once: directly or below further ones of the same
// operator (s + a + b), or below casts (a float accumulator of C computes in double).
bool accumulates(const ScalarExpr& e, int input, ReductionOp op) {
  if (e.op == ScalarOp::input) return e.input == input;
  if (static_cast<int>(e.args.size()) != info(e.op).arity) return false;  // reported as sdfg.scalar.arity
  if (e.op == ScalarOp::cast) return accumulates(e.args[0], input, op);
  auto either = [&] {
    return (accumulates(e.args[0], input, op) && !uses_input(e.args[1], input)) ||
           (accumulates(e.args[1], input, op) && !uses_input(e.args[0], input));
  };
  // min and max of floats are comparisons: select(x < s, x, s).
  const bool chooses =
      e.op == ScalarOp::select && (accumulates(e.args[1], input, op) || accumulates(e.args[2], input, op));
  switch (op) {
    case ReductionOp::sum:
      if (e.op == ScalarOp::sub) return accumulates(e.args[0], input, op) && !uses_input(e.args[1], input);
      return e.op == ScalarOp::add && either();
    case ReductionOp::product:
      return e.op == ScalarOp::mul && either();
    case ReductionOp::min:
      return chooses || ((e.op == ScalarOp::min || e.op == ScalarOp::fmin) && either());
    case ReductionOp::max:
      return chooses || ((e.op == ScalarOp::max || e.op == ScalarOp::fmax) && either());
    case ReductionOp::bit_and:
      return e.op == ScalarOp::bit_and && either();
    case ReductionOp::bit_or:
      return e.op == ScalarOp::bit_or && either();
    case ReductionOp::bit_xor:
      return e.op == ScalarOp::bit_xor && either();
  }
  __builtin_unreachable();
}

class ReductionChecker {
 public:
  ReductionChecker(Context& context, const Reduction& reduction, const Scope& scope)
      : context_(context), reduction_(reduction), scope_(scope) {}

  void region(const Region& r, int depth) {
    if (depth > 200) return;  // reported as sdfg.depth
    for (const Node& n : r.nodes)
      match(
          n.value, [&](const State& s) { state(s); },
          [&](const Loop& l) {
            reads(l.begin);
            reads(l.end);
            region(l.body, depth + 1);
          },
          [&](const If& i) {
            condition(i.condition);
            region(i.then_body, depth + 1);
            region(i.else_body, depth + 1);
          },
          [&](const While& w) {
            condition(w.condition);
            region(w.body, depth + 1);
          });
  }

 private:
  void refuse(const std::string& what) {
    context_.report("sdfg.reduction.access", "'" + reduction_.container + "' is reduced by this loop, but " + what,
                    scope_.where);
  }

  void reads(const Expr& e) {
    if (e.is_valid() && e.reads().contains(reduction_.container)) refuse("read in '" + e.to_string() + "'");
  }

  void subscripts(const Memlet& m) {
    for (const Expr& e : m.subset) reads(e);
  }

  void condition(const Condition& c) {
    for (const Memlet& m : c.inputs) {
      subscripts(m);
      if (m.container == reduction_.container) refuse("read in a condition");
    }
  }

  // Whether the node at `k` reads the element that this edge out of it writes, and combines it with something.
  bool updates(const State& s, const Edge& out) const {
    const auto* t = std::get_if<Tasklet>(&s.nodes[static_cast<std::size_t>(out.source)]);
    if (!t) return false;
    int accumulator = -1;
    for (const Edge& e : s.edges) {
      if (e.target != out.source || e.memlet.container != reduction_.container) continue;
      const auto input = std::ranges::find(t->inputs, e.connector);
      if (accumulator >= 0 || input == t->inputs.end() || e.memlet.subset != out.memlet.subset) return false;
      accumulator = static_cast<int>(input - t->inputs.begin());
    }
    return accumulator >= 0 && accumulates(t->code, accumulator, reduction_.op);
  }

  void state(const State& s) {
    const int count = static_cast<int>(s.nodes.size());
    std::set<int> writers;  // nodes that may read the container, since they combine into it
    auto usable = [&](const Edge& e) { return e.source >= 0 && e.target >= 0 && e.source < count && e.target < count; };
    for (const Edge& e : s.edges) {
      subscripts(e.memlet);
      if (!usable(e) || e.memlet.container != reduction_.container) continue;
      if (!std::holds_alternative<AccessNode>(s.nodes[static_cast<std::size_t>(e.target)])) continue;
      if (e.memlet.combine == reduction_.op) continue;
      if (!e.memlet.combine && updates(s, e))
        writers.insert(e.source);
      else
        refuse("state " + s.name + " writes it otherwise");
    }
    for (const Edge& e : s.edges)
      if (usable(e) && e.memlet.container == reduction_.container && !writers.contains(e.target) &&
          !std::holds_alternative<AccessNode>(s.nodes[static_cast<std::size_t>(e.target)]))
        refuse("state " + s.name + " reads it");
  }

  Context& context_;
  const Reduction& reduction_;
  const Scope& scope_;
};

}  // namespace

void check_reduction(Context& context, const Loop& loop, const Reduction& reduction, const Scope& scope) {
  ReductionChecker(context, reduction, scope).region(loop.body, scope.depth);
}

}  // namespace sous::sdfg::rules
