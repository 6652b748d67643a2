#include "frontends/c/read_values.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "sdfg/planted_fault.h"

namespace sous::frontends::c {

using sdfg::Expr;
using sdfg::Memlet;
using sdfg::ScalarExpr;
using sdfg::ScalarOp;

namespace {

struct Value {
  std::optional<Expr> lo, hi;  // over parameters
};

bool is_signed(sdfg::ElementType type) { return sdfg::info(type).kind == sdfg::TypeKind::Signed; }

// Whether every value of one type is one of the other.
bool holds_all(sdfg::ElementType to, sdfg::ElementType from) {
  if (from == sdfg::ElementType::boolean) return sdfg::is_integer(to);
  if (!sdfg::is_integer(to) || !sdfg::is_integer(from)) return false;
  const auto wide = sdfg::info(to).bytes, narrow = sdfg::info(from).bytes;
  return is_signed(to) == is_signed(from) ? wide >= narrow : is_signed(to) && wide > narrow;
}

class Follower {
 public:
  Follower(const sdfg::Sdfg& sdfg, const Ranges& ranges, const ElementValues& elements)
      : sdfg_(sdfg), ranges_(ranges), elements_(elements) {
    region(sdfg.root);
  }

  std::map<std::string, Range> found() const {
    std::map<std::string, Range> result;
    for (const auto& [name, value] : read_)
      if (value.lo && value.hi) result.emplace(name, Range{"the value of " + name, value.lo, value.hi});
    return result;
  }

 private:
  using Values = std::map<std::string, Value>;
  // A comparison as left <= right + offset.
  struct AtMost {
    const ScalarExpr* left;
    const ScalarExpr* right;
    std::int64_t offset;
  };

  bool is_own_scalar(const std::string& name) const {
    const sdfg::Container* c = sdfg_.find(name);
    return c != nullptr && c->transient && c->shape.empty() && sdfg::is_integer(c->type);
  }
  Value value_of(const std::string& scalar) const {
    const auto at = now_.find(scalar);
    return at == now_.end() ? Value{} : at->second;
  }

  Expr smaller(const Expr& a, const Expr& b) const { return -ranges_.larger(-a, -b); }
  Value joined(const Value& a, const Value& b) const {
    Value both;
    if (a.lo && b.lo) both.lo = smaller(*a.lo, *b.lo);
    if (a.hi && b.hi) both.hi = ranges_.larger(*a.hi, *b.hi);
    return both;
  }

  void reads(const Expr& e) {
    for (const std::string& name : e.reads()) {
      if (!is_own_scalar(name)) continue;
      const auto [at, is_first] = read_.emplace(name, value_of(name));
      if (!is_first) at->second = joined(at->second, value_of(name));
    }
  }
  void reads(const Memlet& memlet) {
    for (const Expr& e : memlet.subset) reads(e);
  }
  void reads(const sdfg::Condition& condition) {
    for (const Memlet& m : condition.inputs) reads(m);
  }

  void region(const sdfg::Region& region) {
    for (const sdfg::Node& node : region.nodes)
      match(
          node.value, [&](const sdfg::State& s) { state(s); }, [&](const sdfg::Loop& l) { loop(l); },
          [&](const sdfg::If& i) { branch(i); }, [&](const sdfg::While& w) { repeated(w); });
  }

  void state(const sdfg::State& s) {
    for (const sdfg::Edge& e : s.edges) reads(e.memlet);
    const auto assignment = sdfg::as_assignment(s);
    const bool plain = assignment && !assignment->out.combine;
    const Value value = plain ? this->value(assignment->code, assignment->inputs) : Value{};
    for (const std::string& name : sdfg::touched(sdfg::Region{{sdfg::Node{s}}}).written) now_.erase(name);
    if (plain && is_own_scalar(assignment->out.container)) now_[assignment->out.container] = value;
  }

  // What the body writes is not known at its beginning, nor behind it.
  void forget(const sdfg::Region& body) {
    if (planted(Fault::value_kept_through_loop)) return;
    for (const std::string& name : sdfg::touched(body).written) now_.erase(name);
  }

  void loop(const sdfg::Loop& l) {
    reads(l.begin);
    reads(l.end);
    forget(l.body);
    const Values before = now_;
    box_.push_back(loop_range(l.symbol, l.begin, l.end, l.step));
    region(l.body);
    box_.pop_back();
    now_ = before;
  }

  void repeated(const sdfg::While& w) {
    forget(w.body);
    reads(w.condition);
    const Values before = now_;
    region(w.body);
    now_ = before;
  }

  void branch(const sdfg::If& i) {
    reads(i.condition);
    const Values before = now_;
    const auto known = said_;
    learn(i.condition.code, i.condition.inputs, true);
    region(i.then_body);
    const Values then = std::exchange(now_, before);
    said_ = known;
    learn(i.condition.code, i.condition.inputs, false);
    region(i.else_body);
    said_ = known;
    Values both;
    for (const auto& [name, value] : now_)
      if (const auto other = then.find(name); other != then.end())
        both[name] = planted(Fault::value_of_one_branch) ? other->second : joined(value, other->second);
    now_ = std::move(both);
  }

  // What the condition says of variables, and of expressions over loops, in the branch where it holds, or does not.
  void learn(const ScalarExpr& condition, const std::vector<Memlet>& inputs, bool holds) {
    if (condition.op == ScalarOp::logical_not) return learn(condition.args[0], inputs, !holds);
    if (condition.op == (holds ? ScalarOp::logical_and : ScalarOp::logical_or)) {
      learn(condition.args[0], inputs, holds);
      learn(condition.args[1], inputs, holds);
      return;
    }
    for (const AtMost& one : inequalities(condition, holds)) {
      const Value left = value(*one.left, inputs), right = value(*one.right, inputs);
      if (right.hi) narrow(*one.left, inputs, {std::nullopt, *right.hi + Expr(one.offset)});
      if (left.lo) narrow(*one.right, inputs, {*left.lo - Expr(one.offset), std::nullopt});
    }
  }
  static std::vector<AtMost> inequalities(const ScalarExpr& c, bool holds) {
    if (c.args.size() != 2 || !is_signed(c.args[0].type)) return {};
    const ScalarExpr *a = &c.args[0], *b = &c.args[1];
    switch (c.op) {
      case ScalarOp::lt:
        return {holds ? AtMost{a, b, -1} : AtMost{b, a, 0}};
      case ScalarOp::le:
        return {holds ? AtMost{a, b, 0} : AtMost{b, a, -1}};
      case ScalarOp::gt:
        return {holds ? AtMost{b, a, -1} : AtMost{a, b, 0}};
      case ScalarOp::ge:
        return {holds ? AtMost{b, a, 0} : AtMost{a, b, -1}};
      case ScalarOp::eq:
        return holds ? std::vector<AtMost>{{a, b, 0}, {b, a, 0}} : std::vector<AtMost>{};
      case ScalarOp::ne:
        return holds ? std::vector<AtMost>{} : std::vector<AtMost>{{a, b, 0}, {b, a, 0}};
      default:
        return {};
    }
  }

  void narrow(const ScalarExpr& e, const std::vector<Memlet>& inputs, const Value& by) {
    if (e.op == ScalarOp::cast && holds_all(e.type, e.args[0].type)) return narrow(e.args[0], inputs, by);
    if (e.op == ScalarOp::input) {
      const Memlet& m = inputs[static_cast<std::size_t>(e.input)];
      if (is_own_scalar(m.container)) narrow(now_[m.container], by);
    } else if (e.op == ScalarOp::add && is_signed(e.type)) {
      const Value offset = value(e.args[1], inputs);
      if (!offset.lo || offset.lo != offset.hi) return;
      narrow(e.args[0], inputs,
             {by.lo ? std::optional(*by.lo - *offset.lo) : std::nullopt,
              by.hi ? std::optional(*by.hi - *offset.lo) : std::nullopt});
    } else if (const auto symbolic = as_symbolic(e); symbolic && !symbolic->constant()) {
      said_.emplace_back(*symbolic, by);
    }
  }
  static void narrow(Value& value, const Value& by) {
    if (by.lo) value.lo = by.lo;
    if (by.hi) value.hi = by.hi;
  }

  Value symbolic(const Expr& e) const {
    if (!e.reads().empty()) return {};
    Ranges ranges = ranges_;
    Value result{ranges.lower(e, box_), ranges.upper(e, box_)};
    for (const auto& [about, value] : said_)
      if (about == e) narrow(result, value);
    return result;
  }

  Value value(const ScalarExpr& e, const std::vector<Memlet>& inputs) {
    if (const auto exact = as_symbolic(e)) return symbolic(*exact);
    if (!sdfg::is_integer(e.type)) return {};
    const auto of = [&](std::size_t k) { return value(e.args[k], inputs); };
    switch (e.op) {
      case ScalarOp::input:
        return element(inputs[static_cast<std::size_t>(e.input)]);
      case ScalarOp::cast:
        return holds_all(e.type, e.args[0].type) ? of(0) : Value{};
      case ScalarOp::select:
        return joined(value_where(e.args[0], true, e.args[1], inputs),
                      value_where(e.args[0], false, e.args[2], inputs));
      case ScalarOp::min:
      case ScalarOp::max:
        return extreme(of(0), of(1), e.op == ScalarOp::max);
      case ScalarOp::add:
      case ScalarOp::sub:
        return is_signed(e.type) ? sum(of(0), e.op == ScalarOp::add ? of(1) : negative(of(1))) : Value{};
      case ScalarOp::rem:
        return remainder(of(0), e.args[1]);
      default:
        return {};
    }
  }

  Value element(const Memlet& m) const {
    if (m.subset.empty() && is_own_scalar(m.container)) return value_of(m.container);
    auto values = elements_(m.container);
    if (const auto narrow = ranges_.elements.find(m.container); !values && narrow != ranges_.elements.end())
      values = narrow->second;
    return values ? Value{Expr(values->lo), Expr(values->hi)} : Value{};
  }
  Value value_where(const ScalarExpr& condition, bool holds, const ScalarExpr& e, const std::vector<Memlet>& inputs) {
    const Values before = now_;
    const auto known = said_;
    learn(condition, inputs, holds);
    const Value result = value(e, inputs);
    now_ = before;
    said_ = known;
    return result;
  }
  // One side alone bounds a maximum from below, and a minimum from above.
  Value extreme(const Value& a, const Value& b, bool is_max) const {
    Value result = joined(a, b);
    std::optional<Expr>& end = is_max ? result.lo : result.hi;
    const std::optional<Expr>&x = is_max ? a.lo : a.hi, &y = is_max ? b.lo : b.hi;
    end = !x ? y : !y ? x : is_max ? ranges_.larger(*x, *y) : smaller(*x, *y);
    return result;
  }
  static Value negative(const Value& v) {
    return {v.hi ? std::optional(-*v.hi) : std::nullopt, v.lo ? std::optional(-*v.lo) : std::nullopt};
  }
  static Value sum(const Value& a, const Value& b) {
    return {a.lo && b.lo ? std::optional(*a.lo + *b.lo) : std::nullopt,
            a.hi && b.hi ? std::optional(*a.hi + *b.hi) : std::nullopt};
  }
  // Of C: what is divided says the sign.
  Value remainder(const Value& of, const ScalarExpr& divisor) const {
    const auto by = as_symbolic(divisor);
    if (!by || !by->reads().empty() || !is_over_parameters(*by) || !ranges_.nonneg(*by - Expr(1), box_)) return {};
    const bool positive = (of.lo && ranges_.nonneg(*of.lo, box_));
    return {positive ? Expr(0) : Expr(1) - *by, *by - Expr(1)};
  }
  bool is_over_parameters(const Expr& e) const {
    return std::ranges::none_of(box_, [&](const Range& r) { return e.uses(r.symbol); });
  }

  const sdfg::Sdfg& sdfg_;
  const Ranges& ranges_;
  const ElementValues& elements_;
  Box box_;
  Values now_;                                // of variables, here
  std::vector<std::pair<Expr, Value>> said_;  // by the conditions around, of expressions over loops
  std::map<std::string, Value> read_;
};

}  // namespace

std::map<std::string, Range> values_read(const sdfg::Sdfg& sdfg, const Ranges& ranges, const ElementValues& elements) {
  return Follower(sdfg, ranges, elements).found();
}

}  // namespace sous::frontends::c
