#include "tests/support/random_scalar.h"

namespace sous::tests {

using namespace sdfg;

namespace {

using Leaf = std::function<ScalarExpr(ElementType)>;

// No pow with a constant exponent, no fmin / fmax of zeros, no copysign: there the C library and an optimising compiler
// may rightly differ in the last bit, in the sign of zero, or on the sign of a NaN.
ScalarExpr math_call(Random& random, ElementType type, int depth, const Leaf& leaf) {
  const auto operand = [&] { return any_value(random, type, depth - 1, leaf); };
  const auto magnitude = [&] {
    return ScalarExpr::binary(ScalarOp::add, ScalarExpr::unary(ScalarOp::fabs, operand()), ScalarExpr::real(0.5, type));
  };
  static const std::vector<ScalarOp> of_any = {
      ScalarOp::uncontracted, ScalarOp::sin,   ScalarOp::cos,   ScalarOp::tanh,  ScalarOp::atan,
      ScalarOp::exp,          ScalarOp::erf,   ScalarOp::cbrt,  ScalarOp::floor, ScalarOp::ceil,
      ScalarOp::rint,         ScalarOp::trunc, ScalarOp::erfc,  ScalarOp::asinh, ScalarOp::round,
      ScalarOp::expm1,        ScalarOp::fabs,  ScalarOp::floor, ScalarOp::fabs};
  static const std::vector<ScalarOp> of_positive = {ScalarOp::sqrt,  ScalarOp::sqrt,  ScalarOp::sqrt,  ScalarOp::log,
                                                    ScalarOp::log10, ScalarOp::log1p, ScalarOp::tgamma};
  switch (random.below(6)) {
    case 0:
    case 1:
      return ScalarExpr::unary(random.pick(of_any), operand());
    case 2:
    case 3:
      return ScalarExpr::unary(random.pick(of_positive), magnitude());
    case 4: {
      ScalarExpr fused = ScalarExpr::binary(ScalarOp::add, operand(), operand());
      fused.op = ScalarOp::fma;
      fused.args.push_back(operand());
      return fused;
    }
    default: {
      const auto op =
          random.pick(std::vector<ScalarOp>{ScalarOp::atan2, ScalarOp::hypot, ScalarOp::fmod, ScalarOp::fdim});
      return ScalarExpr::binary(op, operand(), magnitude());
    }
  }
}

ScalarExpr float_value(Random& random, ElementType type, int depth, const Leaf& leaf) {
  const auto operand = [&] { return any_value(random, type, depth - 1, leaf); };
  const std::size_t form = random.below(100);
  if (form < 35) return ScalarExpr::binary(ScalarOp::add, operand(), operand());
  if (form < 55) return ScalarExpr::binary(ScalarOp::mul, operand(), operand());
  if (form < 75) return ScalarExpr::binary(ScalarOp::sub, operand(), operand());
  if (form < 80) return ScalarExpr::binary(ScalarOp::div, operand(), operand());
  if (form < 85) return ScalarExpr::unary(ScalarOp::neg, operand());
  if (form < 92)
    return ScalarExpr::select(any_value(random, ElementType::boolean, depth - 1, leaf), operand(), operand());
  return math_call(random, type, depth, leaf);
}

ScalarExpr integer_value(Random& random, ElementType type, int depth, const Leaf& leaf) {
  const auto operand = [&] { return any_value(random, type, depth - 1, leaf); };
  const auto masked = [&] { return ScalarExpr::binary(ScalarOp::bit_and, operand(), ScalarExpr::integer(7, type)); };
  static const std::vector<ScalarOp> plain = {ScalarOp::add,    ScalarOp::add,     ScalarOp::add, ScalarOp::sub,
                                              ScalarOp::sub,    ScalarOp::mul,     ScalarOp::mul, ScalarOp::bit_and,
                                              ScalarOp::bit_or, ScalarOp::bit_xor, ScalarOp::min, ScalarOp::max};
  const std::size_t form = random.below(100);
  if (form < 72) return ScalarExpr::binary(random.pick(plain), operand(), operand());
  if (form < 78) return ScalarExpr::unary(random.percent(60) ? ScalarOp::neg : ScalarOp::bit_not, operand());
  if (form < 84) return ScalarExpr::binary(random.percent(50) ? ScalarOp::shl : ScalarOp::shr, operand(), masked());
  if (form < 91) {
    const auto divisor = ScalarExpr::binary(ScalarOp::add, masked(), ScalarExpr::integer(1, type));
    return ScalarExpr::binary(random.percent(50) ? ScalarOp::div : ScalarOp::rem, operand(), divisor);
  }
  return ScalarExpr::select(any_value(random, ElementType::boolean, depth - 1, leaf), operand(), operand());
}

ScalarExpr bool_value(Random& random, int depth, const Leaf& leaf) {
  const auto operand = [&] { return any_value(random, ElementType::boolean, depth - 1, leaf); };
  static const std::vector<ScalarOp> comparisons = {ScalarOp::lt, ScalarOp::le, ScalarOp::gt,
                                                    ScalarOp::ge, ScalarOp::eq, ScalarOp::ne};
  const std::size_t form = random.below(100);
  if (form < 70) {
    const auto type = random.pick(std::vector<ElementType>{ElementType::f64, ElementType::f64, ElementType::f32,
                                                           ElementType::i32, ElementType::i64, ElementType::u8});
    return ScalarExpr::binary(random.pick(comparisons), any_value(random, type, depth - 1, leaf),
                              any_value(random, type, depth - 1, leaf));
  }
  if (form < 85) {
    return ScalarExpr::binary(random.percent(50) ? ScalarOp::logical_and : ScalarOp::logical_or, operand(), operand());
  }
  return ScalarExpr::unary(ScalarOp::logical_not, operand());
}

}  // namespace

ScalarExpr any_constant(Random& random, ElementType type) {
  switch (info(type).kind) {
    case TypeKind::Signed:
      return ScalarExpr::integer(random.between(-6, 9), type);
    case TypeKind::Unsigned:
      return ScalarExpr::integer(random.between(0, 9), type);
    case TypeKind::Float:
      return ScalarExpr::real(static_cast<double>(random.between(-32, 32)) / 8, type);
    case TypeKind::Bool:
      return ScalarExpr::integer(random.between(0, 1), type);
  }
  __builtin_unreachable();
}

ScalarExpr convert_value(const ScalarExpr& value, ElementType type) {
  if (!is_float(value.type) || !is_integer(type)) return ScalarExpr::cast(value, type);
  const double low = info(type).kind == TypeKind::Unsigned ? 0 : -100;
  const auto from_below = ScalarExpr::binary(ScalarOp::fmax, value, ScalarExpr::real(low, value.type));
  const auto clamped = ScalarExpr::binary(ScalarOp::fmin, from_below, ScalarExpr::real(100, value.type));
  return ScalarExpr::cast(clamped, type);
}

ScalarExpr any_value(Random& random, ElementType type, int depth, const Leaf& leaf) {
  if (depth <= 0 || random.percent(15)) return leaf(type);
  switch (info(type).kind) {
    case TypeKind::Signed:
    case TypeKind::Unsigned:
      return integer_value(random, type, depth, leaf);
    case TypeKind::Float:
      return float_value(random, type, depth, leaf);
    case TypeKind::Bool:
      return bool_value(random, depth, leaf);
  }
  __builtin_unreachable();
}

}  // namespace sous::tests
