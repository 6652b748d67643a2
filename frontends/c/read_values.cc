#include "frontends/c/read_values.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "frontends/c/intervals.h"
#include "sdfg/planted_fault.h"

namespace sous::frontends::c {

using sdfg::Expr;
using sdfg::Memlet;
using sdfg::ScalarExpr;
using sdfg::ScalarOp;

namespace {

struct Value {
  std::optional<Expr> lo, hi;  // over parameters
  friend bool operator==(const Value&, const Value&) = default;
};

bool is_signed(sdfg::ElementType type) { return sdfg::info(type).kind == sdfg::TypeKind::Signed; }

class Follower {
 public:
  // With `assume`, sizes may be assumed to be positive, and what narrows no value that is computed from them too large.
  Follower(const sdfg::Sdfg& sdfg, const Ranges& ranges, bool assume) : sdfg_(sdfg), ranges_(ranges), assume_(assume) {
    region(sdfg.root);
  }

  ReadValues found() const {
    ReadValues result;
    for (const auto& [where, value] : read_)
      if (value.lo && value.hi)
        result[where.first].emplace(where.second, Range{"the value of " + where.second, value.lo, value.hi});
    return result;
  }
  std::ptrdiff_t unknown() const {
    return std::ranges::count_if(read_, [](const auto& one) { return !one.second.lo || !one.second.hi; });
  }
  const std::vector<Expr>& assumptions() const { return ranges_.assumptions; }

 private:
  using Values = std::map<std::string, Value>;

  bool is_own_scalar(const std::string& name) const {
    const sdfg::Container* c = sdfg_.find(name);
    return c != nullptr && c->transient && c->shape.empty() && sdfg::is_integer(c->type);
  }
  Value value_of(const std::string& scalar) const {
    const auto at = now_.find(scalar);
    return at == now_.end() ? Value{} : at->second;
  }

  Value joined(const Value& a, const Value& b) { return joined(a, b, box_); }
  // As far as what is known where the box is tells which is larger.
  Value joined(const Value& a, const Value& b, const Box& box) {
    Value both;
    if (a.lo && b.lo) both.lo = -ranges_.larger(-*a.lo, -*b.lo, box);
    if (a.hi && b.hi) both.hi = ranges_.larger(*a.hi, *b.hi, box);
    return both;
  }
  Values joined(const Values& a, const Values& b) {
    Values both;
    for (const auto& [name, value] : a)
      if (const auto other = b.find(name); other != b.end()) both[name] = joined(value, other->second);
    return both;
  }

  // `e` is a subscript of `container`, or of none.
  void reads(const std::string& container, const Expr& e) {
    for (const std::string& name : e.reads()) {
      if (!is_own_scalar(name)) continue;
      // What the loops around say does not hold at the other reads.
      const auto [at, is_first] = read_.emplace(std::pair(container, name), value_of(name));
      if (!is_first) at->second = joined(at->second, value_of(name), {});
    }
    e.map_reads([&](const std::string& inner, const std::vector<Expr>& subscript) {
      for (const Expr& s : subscript) reads(inner, s);
      return Expr::read(inner, subscript);
    });
  }
  void reads(const Memlet& memlet) {
    for (const Expr& e : memlet.subset) reads(memlet.container, e);
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

  // Follows a body that is run any number of times, beginning with what holds ahead of it or behind it; `now_` is what
  // holds ahead of each time. An end that moves from time to time is not known.
  void repeat(const sdfg::Region& body) {
    const Values ahead = now_;
    const auto written = sdfg::touched(body).written;
    const auto is_carried = [&](const auto& known) { return written.contains(known.first); };
    constexpr int most_rounds = 3, deepest = 4;
    const bool worth_while = depth_ < deepest && std::ranges::any_of(ahead, is_carried);
    ++depth_;
    for (int round = 0; worth_while && round < most_rounds; ++round) {
      const Values begin = now_;
      region(body);
      Values again = planted(Fault::value_kept_through_loop) ? begin : joined(ahead, now_);
      for (auto& [name, value] : again)
        if (const auto before = begin.find(name); round > 0 && before != begin.end()) {
          if (value.lo != before->second.lo) value.lo.reset();
          if (value.hi != before->second.hi) value.hi.reset();
        }
      now_ = std::move(again);
      if (now_ == begin) {
        --depth_;
        return;
      }
    }
    std::erase_if(now_ = ahead, is_carried);
    const Values begin = now_;
    region(body);
    now_ = begin;
    --depth_;
  }

  void loop(const sdfg::Loop& l) {
    reads("", l.begin);
    reads("", l.end);
    const Values ahead = now_;
    box_.push_back(loop_range(l.symbol, l.begin, l.end, l.step));
    repeat(l.body);
    box_.pop_back();
    // In a loop that runs, more is known of sizes than behind one that may not.
    for (auto& [name, value] : now_)
      if (const auto before = ahead.find(name); before != ahead.end()) value = joined(value, before->second);
  }

  void repeated(const sdfg::While& w) {
    repeat(w.body);
    reads(w.condition);
  }

  void branch(const sdfg::If& i) {
    reads(i.condition);
    const Values before = now_;
    const auto known = said_;
    learn(i.condition.code, i.condition.inputs, true);
    said_of_inputs_.clear();  // those of other statements are not the same
    region(i.then_body);
    const Values then = std::exchange(now_, before);
    said_ = known;
    learn(i.condition.code, i.condition.inputs, false);
    said_of_inputs_.clear();
    region(i.else_body);
    said_ = known;
    now_ = planted(Fault::value_of_one_branch) ? then : joined(now_, then);
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

  void narrow(const ScalarExpr& e, const std::vector<Memlet>& inputs, const Value& by) {
    if (e.op == ScalarOp::cast && holds_all(e.type, e.args[0].type)) return narrow(e.args[0], inputs, by);
    if (e.op == ScalarOp::input) {
      const Memlet& m = inputs[static_cast<std::size_t>(e.input)];
      if (is_own_scalar(m.container)) narrow(now_[m.container], by);
    } else if (e.op == ScalarOp::add && is_signed(e.type)) {
      said_of_inputs_.emplace_back(e, by);
      const Value offset = value(e.args[1], inputs);
      if (!offset.lo || offset.lo != offset.hi) return;
      narrow(e.args[0], inputs,
             {by.lo ? std::optional(*by.lo - *offset.lo) : std::nullopt,
              by.hi ? std::optional(*by.hi - *offset.lo) : std::nullopt});
    } else if (const auto symbolic = as_symbolic(e); symbolic && !symbolic->constant()) {
      said_.emplace_back(*symbolic, by);
    } else {
      said_of_inputs_.emplace_back(e, by);
    }
  }
  static void narrow(Value& value, const Value& by) {
    if (by.lo) value.lo = by.lo;
    if (by.hi) value.hi = by.hi;
  }

  Value symbolic(const Expr& e) {
    if (!e.reads().empty()) return {};
    Ranges ranges = ranges_;
    Value result{ranges.lower(e, box_, assume_), ranges.upper(e, box_, assume_)};
    if (assume_ && result.lo && result.hi) ranges_.assumptions = ranges.assumptions;
    for (const auto& [about, value] : said_)
      if (about == e) narrow(result, value);
    return result;
  }

  Value value(const ScalarExpr& e, const std::vector<Memlet>& inputs) {
    Value result = value_of_operation(e, inputs);
    for (const auto& [about, value] : said_of_inputs_)
      if (about == e) narrow(result, value);
    return result;
  }
  Value value_of_operation(const ScalarExpr& e, const std::vector<Memlet>& inputs) {
    if (const auto exact = as_symbolic(e)) return symbolic(*exact);
    if (!sdfg::is_integer(e.type)) return {};
    const auto of = [&](std::size_t k) { return value(e.args[k], inputs); };
    const auto shift = [&] { return e.args[1].op == ScalarOp::constant ? shift_of(e.args[1]) : std::nullopt; };
    switch (e.op) {
      case ScalarOp::input:
        return element(inputs[static_cast<std::size_t>(e.input)]);
      case ScalarOp::cast:
        return holds_all(e.type, e.args[0].type) ? of(0) : in_type(of(0), e.type);
      case ScalarOp::select:
        return joined(value_where(e.args[0], true, e.args[1], inputs),
                      value_where(e.args[0], false, e.args[2], inputs));
      case ScalarOp::min:
      case ScalarOp::max:
        return extreme(of(0), of(1), e.op == ScalarOp::max);
      case ScalarOp::add:
      case ScalarOp::sub:
        return computed(sum(of(0), e.op == ScalarOp::add ? of(1) : negative(of(1))), e.type);
      case ScalarOp::mul:
        return computed(product(of(0), of(1)), e.type);
      case ScalarOp::div:
        return quotient(of(0), of(1));
      case ScalarOp::shl:
        return shift() ? in_type(product(of(0), {*shift(), *shift()}), e.type) : Value{};  // sign bits shifted out
      case ScalarOp::shr:
        return shift() ? ends(of(0), [&](const Expr& end) { return Expr::floor_div(end, *shift()); }) : Value{};
      case ScalarOp::rem:
        return remainder(of(0), e.args[1]);
      case ScalarOp::bit_and:
        return masked(of(0), of(1));
      default:
        return {};
    }
  }

  // 2^k.
  static std::optional<Expr> shift_of(const ScalarExpr& amount) {
    constexpr std::int64_t most = 30;
    const auto by = as_symbolic(amount);
    const auto k = by ? by->constant() : std::nullopt;
    return k && *k >= 0 && *k <= most ? std::optional(Expr(std::int64_t{1} << *k)) : std::nullopt;
  }
  static Value ends(const Value& v, const auto& f) {
    return {v.lo ? std::optional(f(*v.lo)) : std::nullopt, v.hi ? std::optional(f(*v.hi)) : std::nullopt};
  }
  bool is_nonneg(const std::optional<Expr>& e) const { return e && ranges_.nonneg(*e, box_); }

  // What an operator computes exactly: overflow of a signed type is undefined, an unsigned one wraps.
  Value computed(const Value& v, sdfg::ElementType type) { return is_signed(type) ? v : in_type(v, type); }
  // Modulo the range of the type, where that is the value itself.
  Value in_type(const Value& v, sdfg::ElementType type) {
    constexpr int of_int = 4;  // bytes; a shorter one is chosen for what does not fit, too
    if (!v.lo || !v.hi) return {};
    if (planted(Fault::value_in_any_type)) return v;
    const bool is_wide = sdfg::info(type).bytes > of_int;
    if (!is_wide && ranges_.fits(*v.lo, type, box_) && ranges_.fits(*v.hi, type, box_)) return v;
    const bool is_sign_kept = is_signed(type) ? is_wide || is_nonneg(v.lo) : is_nonneg(v.lo);
    if (!is_sign_kept || sdfg::info(type).bytes < of_int) return {};
    if (!is_wide) {
      const std::int64_t most = type_interval(type).hi;
      const bool likely = assume_ && ranges_.fits(*v.lo, type, box_) && is_likely_below(*v.hi, most);
      return likely && ranges_.require_nonneg(Expr(most) - *v.hi, {}) ? v : Value{};
    }
    const WideInterval values{interval(*v.lo, ranges_.parameters).lo, interval(*v.hi, ranges_.parameters).hi};
    if (values.lo >= INT64_MIN && values.hi <= INT64_MAX) return v;
    const bool likely = assume_ && is_likely_below(*v.hi, INT64_MAX) && is_likely_below(-*v.lo, INT64_MAX);
    return likely && ranges_.require_64_bits(*v.lo, {}) && ranges_.require_64_bits(*v.hi, {}) ? v : Value{};
  }
  // For all sizes up to a few ten thousand.
  static bool is_likely_below(const Expr& e, std::int64_t limit) {
    std::map<std::string, Interval> sizes;
    for (const std::string& symbol : e.symbols()) sizes[symbol] = {0, 1 << 15};
    return interval(e, sizes).hi <= limit;
  }
  Value product(const Value& a, const Value& b) {
    // A chain of squares would double with each link.
    constexpr std::size_t most_terms = 8;
    for (const auto* end : {&a.lo, &a.hi, &b.lo, &b.hi})
      if (!*end || !(*end)->is_short() || (*end)->terms().size() > most_terms) return {};
    for (const auto& [x, y] : {std::pair(a, b), std::pair(b, a)})
      if (const auto factor = y.lo == y.hi ? y.lo->constant() : std::nullopt)
        return *factor >= 0 ? Value{*x.lo * *y.lo, *x.hi * *y.lo} : Value{*x.hi * *y.lo, *x.lo * *y.lo};
    return is_nonneg(a.lo) && is_nonneg(b.lo) ? Value{*a.lo * *b.lo, *a.hi * *b.hi} : Value{};
  }
  // Where neither is negative: rounded down.
  Value quotient(const Value& a, const Value& b) {
    if (!is_nonneg(a.lo) || !a.hi || !b.lo || !is_nonneg(*b.lo - Expr(1))) return {};
    return {Expr(0), ranges_.quotient(*a.hi, *b.lo, box_, assume_)};
  }
  // By what is not negative.
  Value masked(const Value& a, const Value& b) {
    for (const Value& mask : {a, b})
      if (is_nonneg(mask.lo) && mask.hi) return {Expr(0), *mask.hi};
    return {};
  }

  Value element(const Memlet& m) const {
    if (m.subset.empty() && is_own_scalar(m.container)) return value_of(m.container);
    const auto values = ranges_.elements.find(m.container);
    return values == ranges_.elements.end() ? Value{} : Value{Expr(values->second.lo), Expr(values->second.hi)};
  }
  Value value_where(const ScalarExpr& condition, bool holds, const ScalarExpr& e, const std::vector<Memlet>& inputs) {
    const Values before = now_;
    const std::pair known(said_, said_of_inputs_);
    learn(condition, inputs, holds);
    const Value result = value(e, inputs);
    now_ = before;
    std::tie(said_, said_of_inputs_) = known;
    return result;
  }
  // One side alone bounds a maximum from below, and a minimum from above.
  Value extreme(const Value& a, const Value& b, bool is_max) {
    Value result = joined(a, b);
    std::optional<Expr>& end = is_max ? result.lo : result.hi;
    const std::optional<Expr>&x = is_max ? a.lo : a.hi, &y = is_max ? b.lo : b.hi;
    end = !x ? y : !y ? x : is_max ? ranges_.larger(*x, *y, box_) : -ranges_.larger(-*x, -*y, box_);
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
  Ranges ranges_;
  bool assume_ = false;
  Box box_;
  int depth_ = 0;                                              // of loops around
  Values now_;                                                 // of variables, here
  std::vector<std::pair<Expr, Value>> said_;                   // by the conditions around, of expressions over loops
  std::vector<std::pair<ScalarExpr, Value>> said_of_inputs_;   // by those of the same statement
  std::map<std::pair<std::string, std::string>, Value> read_;  // by whose subscript reads which variable
};

}  // namespace

ReadValues values_read(const sdfg::Sdfg& sdfg, Ranges& ranges) {
  const Follower sure(sdfg, ranges, false);
  ReadValues values = sure.found();
  if (sure.unknown() > 0) {
    const Follower assuming(sdfg, ranges, true);
    if (assuming.unknown() < sure.unknown()) {
      ranges.assumptions = assuming.assumptions();
      values = assuming.found();
    }
  }
  // The entry computes them.
  for (auto& [container, of_variables] : values)
    std::erase_if(of_variables, [&](const auto& one) {
      return !ranges.require_64_bits(*one.second.lo, {}) || !ranges.require_64_bits(*one.second.hi, {});
    });
  return values;
}

}  // namespace sous::frontends::c
