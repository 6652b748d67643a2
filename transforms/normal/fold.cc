// Exact folding: see fold in passes.h.
#include <bit>
#include <cmath>

#include "sdfg/contraction.h"
#include "sdfg/scalar_eval.h"
#include "transforms/normal/facts.h"
#include "transforms/normal/passes.h"
#include "transforms/normal/util.h"

namespace sous::transforms::normal {

using namespace sdfg;

namespace {

bool is_constant(const ScalarExpr& e) { return e.op == ScalarOp::constant; }
bool is_integer_constant(const ScalarExpr& e, std::int64_t value) {
  return is_constant(e) && !is_float(e.type) && e.integer_value() == value;
}
bool is_real_constant(const ScalarExpr& e, double value) {  // by bits: 0.0 is not -0.0
  return is_constant(e) && is_float(e.type) &&
         std::bit_cast<std::uint64_t>(e.real_value()) == std::bit_cast<std::uint64_t>(value);
}

// Operations that IEEE 754 (or the integers) define to the last bit, on every machine. Not the math library's.
bool is_exact(ScalarOp op) {
  const OpForm form = info(op).form;
  if (form == OpForm::Prefix || form == OpForm::Infix) return true;
  switch (op) {
    case ScalarOp::min:
    case ScalarOp::max:
    case ScalarOp::select:
    case ScalarOp::cast:
    case ScalarOp::uncontracted:
    case ScalarOp::fabs:
    case ScalarOp::sqrt:
    case ScalarOp::floor:
    case ScalarOp::ceil:
    case ScalarOp::trunc:
      return true;
    default:  // the math library's functions, and leaves
      return false;
  }
}

// x / c == x * (1/c) exactly where both are powers of two and 1/c is normal.
std::optional<double> exact_reciprocal(const ScalarExpr& e) {
  if (!is_constant(e) || !is_float(e.type)) return std::nullopt;
  const double value = e.real_value();
  int exponent = 0;
  if (!std::isfinite(value) || std::fabs(std::frexp(value, &exponent)) != 0.5) return std::nullopt;
  const int limit = e.type == ElementType::f32 ? 120 : 1000;
  return std::abs(exponent) < limit ? std::optional(1 / value) : std::nullopt;
}

// The integer expression that a leaf is, where it denotes one of this type without loss.
std::optional<Expr> as_symbolic(const ScalarExpr& e) {
  if (!is_integer(e.type)) return std::nullopt;
  if (e.op == ScalarOp::symbolic) return e.symbolic;
  if (is_constant(e) && info(e.type).kind == TypeKind::Signed) return Expr(e.integer_value());
  return std::nullopt;
}

ScalarExpr constant_of(ElementType type, std::uint64_t bits) {
  return {.op = ScalarOp::constant, .type = type, .args = {}, .input = 0, .bits = bits, .symbolic = {}};
}

ScalarExpr fold_leaf(ScalarExpr e) {
  if (e.op == ScalarOp::symbolic && is_integer(e.type))
    if (const auto value = e.symbolic.constant())
      return constant_of(e.type, canonical_bits(e.type, static_cast<std::uint64_t>(*value)));
  return e;
}

// The value of an exact operation on constants.
std::optional<ScalarExpr> evaluated(const ScalarExpr& e) {
  bool all_constant = is_exact(e.op);
  for (const ScalarExpr& arg : e.args) all_constant = all_constant && is_constant(arg);
  if (!all_constant) return std::nullopt;
  const auto bits = evaluate(e, {}, {});
  if (!bits) return std::nullopt;
  ScalarExpr value = constant_of(e.type, *bits);
  // The sign of a NaN that an operation makes is the compiler's or the machine's choice, and sqrt(-1) sets errno.
  if (is_float(e.type) && std::isnan(value.real_value())) return std::nullopt;
  return value;
}

// Index arithmetic in scalar code becomes symbolic: symbolic leaves are taken modulo the type's width, as add, sub
// and mul are.
std::optional<ScalarExpr> as_index_arithmetic(const ScalarExpr& e) {
  if (!is_integer(e.type) || (e.op != ScalarOp::add && e.op != ScalarOp::sub && e.op != ScalarOp::mul))
    return std::nullopt;
  const auto a = as_symbolic(e.args[0]), b = as_symbolic(e.args[1]);
  if (!a || !b) return std::nullopt;
  const Expr value = e.op == ScalarOp::add ? *a + *b : e.op == ScalarOp::sub ? *a - *b : *a * *b;
  if (!value.is_valid() || !value.is_short()) return std::nullopt;
  return fold_leaf(ScalarExpr::make_symbolic(value, e.type));
}

// The neutral elements of +, -, * and /, and division by what has an exact reciprocal.
ScalarExpr fold_arithmetic(ScalarExpr e) {
  const auto& args = e.args;
  const bool real = is_float(e.type), integer = is_integer(e.type);
  switch (e.op) {
    case ScalarOp::add:
      if (integer && is_integer_constant(args[0], 0)) return args[1];
      if (integer && is_integer_constant(args[1], 0)) return args[0];
      if (real && is_real_constant(args[0], -0.0)) return args[1];
      if (real && is_real_constant(args[1], -0.0)) return args[0];
      return e;
    case ScalarOp::sub:
      if (integer && is_integer_constant(args[1], 0)) return args[0];
      if (integer && args[0] == args[1]) return ScalarExpr::integer(0, e.type);
      if (real && is_real_constant(args[1], 0.0)) return args[0];
      return e;
    case ScalarOp::mul:
      for (int k : {0, 1}) {
        if (integer && is_integer_constant(args[k], 0)) return args[k];
        if (integer && is_integer_constant(args[k], 1)) return args[1 - k];
        if (real && is_real_constant(args[k], 1.0)) return args[1 - k];
      }
      return e;
    default:  // a division
      if (integer && is_integer_constant(args[1], 1)) return args[0];
      if (real && is_real_constant(args[1], 1.0)) return args[0];
      if (const auto reciprocal = exact_reciprocal(args[1]))
        return ScalarExpr::binary(ScalarOp::mul, args[0], ScalarExpr::real(*reciprocal, e.type));
      return e;
  }
}

// Whether the mathematical integer is one of the type.
bool fits(const Expr& value, ElementType type, const Facts& facts) {
  const std::int64_t most = INT64_MAX >> (64 - 8 * info(type).bytes);
  return facts.non_negative(Expr(most) - value) && facts.non_negative(value + Expr(most) + Expr(1));
}

ScalarExpr fold_cast(ScalarExpr e, const Facts& facts) {
  const ScalarExpr& inner = e.args[0];
  const bool integer = is_integer(e.type);
  if (inner.type == e.type) return inner;
  // A symbolic value is a mathematical integer modulo the width: a narrower or equal one can be taken directly. A
  // signed one is taken for the integer itself (in conditions, subscripts and bounds): only where it does not wrap.
  if (inner.op == ScalarOp::symbolic && integer && is_integer(inner.type) &&
      info(e.type).bytes <= info(inner.type).bytes &&
      (info(e.type).kind == TypeKind::Unsigned || fits(inner.symbolic, e.type, facts)))
    return ScalarExpr::make_symbolic(inner.symbolic, e.type);
  // There and back through a type that holds every value.
  if (inner.op == ScalarOp::cast && inner.args[0].type == e.type) {
    const ElementType wide = inner.type;
    const bool float_to_double = e.type == ElementType::f32 && wide == ElementType::f64;
    const bool widened = integer && is_integer(wide) && info(wide).bytes > info(e.type).bytes;
    if (float_to_double || widened) return inner.args[0];
  }
  return e;
}

ScalarExpr fold_node(ScalarExpr e, const Facts& facts) {
  const auto& args = e.args;
  if (args.empty()) return fold_leaf(std::move(e));
  if (auto constant = evaluated(e)) return *std::move(constant);
  if (auto index = as_index_arithmetic(e)) return *std::move(index);
  switch (e.op) {
    case ScalarOp::add:
    case ScalarOp::sub:
    case ScalarOp::mul:
    case ScalarOp::div:
      return fold_arithmetic(std::move(e));
    case ScalarOp::neg:
    case ScalarOp::bit_not:
    case ScalarOp::logical_not:
      if (args[0].op == e.op) return args[0].args[0];
      return e;
    case ScalarOp::logical_and:
    case ScalarOp::logical_or: {
      const bool is_and = e.op == ScalarOp::logical_and;
      if (is_constant(args[0])) return (args[0].integer_value() != 0) == is_and ? args[1] : args[0];
      if (is_constant(args[1]) && (args[1].integer_value() != 0) == is_and) return args[0];
      return e;
    }
    case ScalarOp::select:
      if (is_constant(args[0])) return args[0].integer_value() != 0 ? args[1] : args[2];
      if (args[1] == args[2]) return args[1];
      return e;
    case ScalarOp::uncontracted:
      return is_product(args[0]) ? e : args[0];
    case ScalarOp::cast:
      return fold_cast(std::move(e), facts);
    default:  // nothing else folds
      return e;
  }
}

// Whether an operand of e could be contracted with it or, through a sign, with what is around it.
bool contracts(ScalarOp op) { return op == ScalarOp::add || op == ScalarOp::sub || op == ScalarOp::neg; }

ScalarExpr fold_scalar(ScalarExpr e, const Facts& facts) {
  if (e.op == ScalarOp::symbolic) e.symbolic = facts.simplify(e.symbolic);
  for (ScalarExpr& arg : e.args) {
    arg = fold_scalar(std::move(arg), facts);
    if (arg.op == ScalarOp::uncontracted && !contracts(e.op))  // comes back if e itself folds away
      arg = ScalarExpr(arg.args[0]);
  }
  ScalarExpr folded = fold_node(e, facts);
  // A product that comes to light where 1.0*x or a cast was: no sum around that was to contract it. (Nor x/4, which is
  // rounded where it is subnormal.)
  return folded == e ? folded : kept_apart(std::move(folded));
}

// What a statement stores is in no sum.
ScalarExpr fold_value(ScalarExpr e, const Facts& facts) {
  const ScalarExpr folded = fold_scalar(std::move(e), facts);
  return folded.op == ScalarOp::uncontracted ? folded.args[0] : folded;
}

Region fold_region(const Region& region, const Facts& facts) {
  const auto simplify = [&](Memlet& m) {
    for (Expr& e : m.subset) e = facts.simplify(e);
  };
  const auto fold_condition = [&](Condition c) {
    for (Memlet& m : c.inputs) simplify(m);
    c.code = fold_value(std::move(c.code), facts);
    tidy_inputs(c.code, c.inputs);
    return c;
  };
  Region out;
  for (const Node& node : region.nodes)
    match(
        node.value,
        [&](const State& s) {
          std::optional<Assignment> a = as_assignment(s);
          if (!a) return out.nodes.emplace_back(s), void();
          for (Memlet& m : a->inputs) simplify(m);
          simplify(a->out);
          out.nodes.emplace_back(tidy_assignment(s.name, a->out, fold_value(a->code, facts), a->inputs));
        },
        [&](const Loop& l) {
          Loop loop = l;
          loop.begin = facts.simplify(l.begin);
          loop.end = facts.simplify(l.end);
          Facts inside = facts;
          inside.enter(loop);
          loop.body = fold_region(l.body, inside);
          out.nodes.emplace_back(std::move(loop));
        },
        [&](const If& i) {
          If folded{.condition = fold_condition(i.condition),
                    .then_body = fold_region(i.then_body, facts),
                    .else_body = fold_region(i.else_body, facts)};
          if (is_constant(folded.condition.code)) {  // one branch, always
            Region& taken = folded.condition.code.integer_value() != 0 ? folded.then_body : folded.else_body;
            for (Node& n : taken.nodes) out.nodes.push_back(std::move(n));
            return;
          }
          if (folded.then_body.nodes.empty() && !folded.else_body.nodes.empty()) {
            std::swap(folded.then_body, folded.else_body);
            folded.condition.code =
                fold_node(ScalarExpr::unary(ScalarOp::logical_not, std::move(folded.condition.code)), facts);
          }
          out.nodes.emplace_back(std::move(folded));
        },
        [&](const While& w) {
          out.nodes.emplace_back(While{.condition = fold_condition(w.condition),
                                       .test_first = w.test_first,
                                       .body = fold_region(w.body, facts)});
        });
  return out;
}

}  // namespace

Sdfg fold(const Sdfg& sdfg, Log& log) {
  Sdfg result = sdfg;
  result.root = fold_region(sdfg.root, Facts(sdfg));
  if (result.root != sdfg.root) log.push_back("fold: expressions folded");
  return result;
}

}  // namespace sous::transforms::normal
