// Guards that are bounds: see narrow_loops in passes.h.
#include <algorithm>
#include <optional>
#include <utility>

#include "transforms/normal/passes.h"
#include "transforms/normal/util.h"

namespace sous::transforms::normal {

using namespace sdfg;

namespace {

// Statements that a guard with two alternatives may stand before twice.
constexpr std::size_t most_copied = 2;

// The value of 64 bits as a mathematical integer.
std::optional<Expr> as_symbolic(const ScalarExpr& e) {
  if (e.type != ElementType::i64) return std::nullopt;
  if (e.op == ScalarOp::symbolic) return e.symbolic;
  if (e.op == ScalarOp::constant) return Expr(e.integer_value());
  return std::nullopt;
}

// Nothing but symbols is looked at.
bool is_symbolic(const Condition& c) {
  bool reads = !c.inputs.empty();
  c.code.visit(
      [&](const ScalarExpr& e) { reads = reads || (e.op == ScalarOp::symbolic && !e.symbolic.reads().empty()); });
  return !reads;
}

bool uses(const ScalarExpr& code, const std::string& symbol) {
  bool found = false;
  code.visit([&](const ScalarExpr& e) { found = found || (e.op == ScalarOp::symbolic && e.symbolic.uses(symbol)); });
  return found;
}

ScalarExpr negated(ScalarExpr e) {
  return e.op == ScalarOp::logical_not ? e.args[0] : ScalarExpr::unary(ScalarOp::logical_not, std::move(e));
}

// Conditions that all have to hold where this one does (or, `!holds`, does not).
void collect(const ScalarExpr& e, bool holds, std::vector<ScalarExpr>& out) {
  if (e.op == ScalarOp::logical_not) return collect(e.args[0], !holds, out);
  if (e.op == (holds ? ScalarOp::logical_and : ScalarOp::logical_or)) {
    collect(e.args[0], holds, out);
    return collect(e.args[1], holds, out);
  }
  out.push_back(holds ? e : negated(e));
}

std::optional<ScalarExpr> all_of(std::vector<ScalarExpr> conditions) {
  std::optional<ScalarExpr> result;
  for (ScalarExpr& c : conditions)
    result = result ? ScalarExpr::binary(ScalarOp::logical_and, std::move(*result), std::move(c)) : std::move(c);
  return result;
}

class Narrower {
 public:
  explicit Narrower(Log& log) : log_(log) {}

  Region region(const Region& r) {
    Region out;
    for (const Node& node : r.nodes) {
      const auto* here = std::get_if<Loop>(&node.value);
      if (here != nullptr) outer_.push_back(here->symbol);
      Node inside = with_bodies(node, [&](const Region& body) { return region(body); });
      if (here != nullptr) outer_.pop_back();
      if (auto* loop = std::get_if<Loop>(&inside.value)) {
        out.nodes.push_back(narrowed(std::move(*loop)));
      } else if (auto apart = alternatives(inside, r.nodes.size() == 1)) {
        for (Node& one : *apart) out.nodes.push_back(std::move(one));
      } else {
        out.nodes.push_back(std::move(inside));
      }
    }
    return out;
  }

 private:
  // A loop that is nothing but a guarded body: what the guard says of its symbol goes into its bounds, and what does
  // not depend on it around it.
  Node narrowed(Loop loop) {
    std::vector<ScalarExpr> around;
    for (;;) {
      auto* guard = loop.body.nodes.size() == 1 ? std::get_if<If>(&loop.body.nodes[0].value) : nullptr;
      if (guard == nullptr || !guard->else_body.nodes.empty() || !is_symbolic(guard->condition) || loop.step != 1)
        break;
      std::vector<ScalarExpr> all, left;
      collect(guard->condition.code, true, all);
      bool changed = false;
      for (ScalarExpr& one : all) {
        if (!uses(one, loop.symbol) && may_be_bound(one)) {
          around.push_back(std::move(one));
          changed = true;
        } else if (bound(loop, one)) {
          changed = true;
        } else {
          left.push_back(std::move(one));
        }
      }
      if (!changed) break;
      log_.push_back("guards: " + loop.symbol + " runs where its body does");
      Region body = std::move(guard->then_body);
      if (auto rest = all_of(std::move(left)))
        loop.body.nodes = {
            If{.condition = {.code = std::move(*rest), .inputs = {}}, .then_body = std::move(body), .else_body = {}}};
      else
        loop.body = std::move(body);
    }
    auto outside = all_of(std::move(around));
    if (!outside) return loop;
    Region body;
    body.nodes.emplace_back(std::move(loop));
    return If{.condition = {.code = std::move(*outside), .inputs = {}}, .then_body = std::move(body), .else_body = {}};
  }

  // Whether it looks at one loop at most: the bounds of that may say it.
  bool may_be_bound(const ScalarExpr& condition) const {
    return std::ranges::count_if(outer_, [&](const std::string& s) { return uses(condition, s); }) <= 1;
  }

  // Moves what the condition says into the bounds, if they can say it.
  bool bound(Loop& loop, const ScalarExpr& condition) const {
    const bool holds = condition.op != ScalarOp::logical_not;
    const ScalarExpr& c = holds ? condition : condition.args[0];
    if (c.args.size() != 2) return false;
    const auto a = as_symbolic(c.args[0]), b = as_symbolic(c.args[1]);
    if (!a || !b) return false;
    const Expr difference = *a - *b;  // compared with 0
    const auto k = coefficient_of(difference, loop.symbol);
    if (!k || (*k != Expr(1) && *k != Expr(-1))) return false;
    const bool up = *k == Expr(1);
    // symbol < at, symbol == at and so on
    const Expr at = up ? Expr::symbol(loop.symbol) - difference : Expr::symbol(loop.symbol) + difference;
    // Windows that borders cut off keep their length.
    const auto moves = [&](const std::string& s) { return at.uses(s) || loop.begin.uses(s) || loop.end.uses(s); };
    if (at.uses(loop.symbol) || std::ranges::any_of(outer_, moves)) return false;
    // Loops begin at sums: a maximum would be in all subscripts, once they are counted from 0.
    const bool may_begin = (at - loop.begin).constant().has_value();
    if (c.op == ScalarOp::eq || c.op == ScalarOp::ne) {
      const bool equal = holds == (c.op == ScalarOp::eq), first = at == loop.begin, last = at + 1 == loop.end;
      if (equal ? !may_begin : !first && !last) return false;
      if (equal || first) loop.begin = equal ? Expr::max(loop.begin, at) : at + 1;
      if (equal || !first) loop.end = equal ? Expr::min(loop.end, at + 1) : at;
      return true;
    }
    const bool is_less = c.op == ScalarOp::lt || c.op == ScalarOp::le;
    if (!is_less && c.op != ScalarOp::gt && c.op != ScalarOp::ge) return false;
    // The difference is less than 0, or more, or that or 0: so is the symbol to `at`, or the other way round.
    const bool less = is_less == holds, or_equal = (c.op == ScalarOp::le || c.op == ScalarOp::ge) == holds;
    if (less != up && !may_begin) return false;
    if (less == up)
      loop.end = Expr::min(loop.end, or_equal ? at + 1 : at);
    else
      loop.begin = Expr::max(loop.begin, or_equal ? at : at + 1);
    return true;
  }

  // A guard that lets in the first row or the first column: one for each, where either names one iteration.
  static std::optional<std::vector<Node>> alternatives(const Node& node, bool alone) {
    const auto* guard = std::get_if<If>(&node.value);
    if (guard == nullptr || !alone || !guard->else_body.nodes.empty() || !is_symbolic(guard->condition))
      return std::nullopt;
    const ScalarExpr& code = guard->condition.code;
    const bool is_short = guard->then_body.nodes.size() <= most_copied &&
                          std::ranges::all_of(guard->then_body.nodes,
                                              [](const Node& n) { return std::holds_alternative<State>(n.value); });
    const auto names_one = [](const ScalarExpr& e) { return e.op == ScalarOp::eq && as_symbolic(e.args[0]); };
    if (code.op != ScalarOp::logical_or || !is_short || !names_one(code.args[0]) || !names_one(code.args[1]))
      return std::nullopt;
    If first = *guard, second = *guard;
    first.condition.code = code.args[0];
    second.condition.code = ScalarExpr::binary(ScalarOp::logical_and, negated(code.args[0]), code.args[1]);
    return std::vector<Node>{std::move(first), std::move(second)};
  }

  Log& log_;
  std::vector<std::string> outer_;  // the symbols of the loops around
};

}  // namespace

Sdfg narrow_loops(const Sdfg& sdfg, Log& log) {
  Sdfg result = sdfg;
  result.root = Narrower(log).region(sdfg.root);
  return result;
}

}  // namespace sous::transforms::normal
