// Compiled with -ffp-contract=off (sdfg/CMakeLists.txt): no operation here may be fused with another.
#include "sdfg/scalar_eval.h"

#include <cmath>
#include <limits>

#include "sdfg/scalar_bits.h"

namespace sous::sdfg {
namespace {

using Bits = std::uint64_t;

std::int64_t lowest(ElementType type) { return std::numeric_limits<std::int64_t>::min() >> (64 - width(type)); }

Result<Bits> integer_division(ScalarOp op, ElementType type, Bits a, Bits b) {
  if (b == 0) return fail("interp.division", "integer division by zero");
  const bool quotient = op == ScalarOp::div;
  if (!is_signed(type)) return quotient ? a / b : a % b;
  if (as_signed(b) == -1 && as_signed(a) == lowest(type)) {
    return fail("interp.division", "the smallest integer divided by -1");
  }
  return static_cast<Bits>(quotient ? as_signed(a) / as_signed(b) : as_signed(a) % as_signed(b));
}

Result<Bits> shift(ScalarOp op, ElementType type, Bits a, ElementType amount_type, Bits amount) {
  if ((is_signed(amount_type) && as_signed(amount) < 0) || amount >= static_cast<Bits>(width(type))) {
    return fail("interp.shift", "a shift by a negative amount or by the width or more");
  }
  if (op == ScalarOp::shl) return canonical_bits(type, a << amount);
  return is_signed(type) ? static_cast<Bits>(as_signed(a) >> amount) : a >> amount;
}

// Arithmetic, bit operations and min / max on integers and bools; never fails.
Bits integer_binary(ScalarOp op, ElementType type, Bits a, Bits b) {
  const bool less = is_signed(type) ? as_signed(a) < as_signed(b) : a < b;
  switch (op) {
    case ScalarOp::add:
      return canonical_bits(type, a + b);
    case ScalarOp::sub:
      return canonical_bits(type, a - b);
    case ScalarOp::mul:
      return canonical_bits(type, a * b);
    case ScalarOp::bit_and:
      return a & b;
    case ScalarOp::bit_or:
      return a | b;
    case ScalarOp::bit_xor:
      return a ^ b;
    case ScalarOp::min:
      return less ? a : b;
    case ScalarOp::max:
      return less ? b : a;
    default:
      panic(__FILE__, __LINE__, "not an integer operator");
  }
}

bool integer_compare(ScalarOp op, ElementType type, Bits a, Bits b) {
  const bool less = is_signed(type) ? as_signed(a) < as_signed(b) : a < b;
  switch (op) {
    case ScalarOp::lt:
      return less;
    case ScalarOp::le:
      return less || a == b;
    case ScalarOp::gt:
      return !less && a != b;
    case ScalarOp::ge:
      return !less;
    case ScalarOp::eq:
      return a == b;
    case ScalarOp::ne:
      return a != b;
    default:
      panic(__FILE__, __LINE__, "not a comparison");
  }
}

template <class Float>
bool float_compare(ScalarOp op, Float a, Float b) {
  switch (op) {
    case ScalarOp::lt:
      return a < b;
    case ScalarOp::le:
      return a <= b;
    case ScalarOp::gt:
      return a > b;
    case ScalarOp::ge:
      return a >= b;
    case ScalarOp::eq:
      return a == b;
    case ScalarOp::ne:
      return a != b;
    default:
      panic(__FILE__, __LINE__, "not a comparison");
  }
}

// Every operator on floats whose arguments all have the node's type. Unused arguments are 0.
template <class Float>
Float float_operation(ScalarOp op, Float a, Float b, Float c) {
  switch (op) {
    case ScalarOp::neg:
      return -a;
    case ScalarOp::add:
      return a + b;
    case ScalarOp::sub:
      return a - b;
    case ScalarOp::mul:
      return a * b;
    case ScalarOp::div:
      return a / b;
    case ScalarOp::min:
      return a < b ? a : b;
    case ScalarOp::max:
      return a > b ? a : b;
    case ScalarOp::uncontracted:
      return a;
    case ScalarOp::fabs:
      return std::fabs(a);
    case ScalarOp::sqrt:
      return std::sqrt(a);
    case ScalarOp::cbrt:
      return std::cbrt(a);
    case ScalarOp::exp:
      return std::exp(a);
    case ScalarOp::exp2:
      return std::exp2(a);
    case ScalarOp::expm1:
      return std::expm1(a);
    case ScalarOp::log:
      return std::log(a);
    case ScalarOp::log2:
      return std::log2(a);
    case ScalarOp::log10:
      return std::log10(a);
    case ScalarOp::log1p:
      return std::log1p(a);
    case ScalarOp::sin:
      return std::sin(a);
    case ScalarOp::cos:
      return std::cos(a);
    case ScalarOp::tan:
      return std::tan(a);
    case ScalarOp::asin:
      return std::asin(a);
    case ScalarOp::acos:
      return std::acos(a);
    case ScalarOp::atan:
      return std::atan(a);
    case ScalarOp::sinh:
      return std::sinh(a);
    case ScalarOp::cosh:
      return std::cosh(a);
    case ScalarOp::tanh:
      return std::tanh(a);
    case ScalarOp::asinh:
      return std::asinh(a);
    case ScalarOp::acosh:
      return std::acosh(a);
    case ScalarOp::atanh:
      return std::atanh(a);
    case ScalarOp::erf:
      return std::erf(a);
    case ScalarOp::erfc:
      return std::erfc(a);
    case ScalarOp::tgamma:
      return std::tgamma(a);
    case ScalarOp::floor:
      return std::floor(a);
    case ScalarOp::ceil:
      return std::ceil(a);
    case ScalarOp::trunc:
      return std::trunc(a);
    case ScalarOp::round:
      return std::round(a);
    case ScalarOp::rint:
      return std::rint(a);
    case ScalarOp::pow:
      return std::pow(a, b);
    case ScalarOp::atan2:
      return std::atan2(a, b);
    case ScalarOp::fmod:
      return std::fmod(a, b);
    case ScalarOp::hypot:
      return std::hypot(a, b);
    case ScalarOp::fdim:
      return std::fdim(a, b);
    case ScalarOp::fmin:
      return std::fmin(a, b);
    case ScalarOp::fmax:
      return std::fmax(a, b);
    case ScalarOp::copysign:
      return std::copysign(a, b);
    case ScalarOp::fma:
      return std::fma(a, b, c);
    case ScalarOp::input:
    case ScalarOp::constant:
    case ScalarOp::symbolic:
    case ScalarOp::bit_not:
    case ScalarOp::logical_not:
    case ScalarOp::rem:
    case ScalarOp::bit_and:
    case ScalarOp::bit_or:
    case ScalarOp::bit_xor:
    case ScalarOp::shl:
    case ScalarOp::shr:
    case ScalarOp::lt:
    case ScalarOp::le:
    case ScalarOp::gt:
    case ScalarOp::ge:
    case ScalarOp::eq:
    case ScalarOp::ne:
    case ScalarOp::logical_and:
    case ScalarOp::logical_or:
    case ScalarOp::select:
    case ScalarOp::cast:
      break;
  }
  panic(__FILE__, __LINE__, "not an operator on floats");
}

class Evaluator {
 public:
  Evaluator(std::span<const Bits> inputs, const std::map<std::string, std::int64_t>& symbols)
      : inputs_(inputs), symbols_(symbols) {}

  Result<Bits> operator()(const ScalarExpr& e) const {
    switch (e.op) {
      case ScalarOp::input:
        SOUS_ASSERT(static_cast<std::size_t>(e.input) < inputs_.size());
        return inputs_[e.input];
      case ScalarOp::constant:
        return canonical_bits(e.type, e.bits);
      case ScalarOp::symbolic: {
        const auto value = e.symbolic.evaluate(symbols_);
        if (!value) return fail("interp.expr", "'" + e.symbolic.to_string() + "' cannot be evaluated");
        return convert(ElementType::i64, static_cast<Bits>(*value), e.type);
      }
      case ScalarOp::logical_and:
      case ScalarOp::logical_or: {
        TRY(const Bits left, (*this)(e.args[0]));
        const bool decided = (left != 0) == (e.op == ScalarOp::logical_or);
        return decided ? Result<Bits>(left) : (*this)(e.args[1]);
      }
      case ScalarOp::select: {
        TRY(const Bits condition, (*this)(e.args[0]));
        return (*this)(e.args[condition != 0 ? 1 : 2]);
      }
      default:
        return strict(e);
    }
  }

 private:
  // Operators that evaluate all their arguments.
  Result<Bits> strict(const ScalarExpr& e) const {
    Bits v[3] = {};
    SOUS_ASSERT(!e.args.empty() && e.args.size() <= 3);
    for (std::size_t k = 0; k < e.args.size(); ++k) {
      TRY(v[k], (*this)(e.args[k]));
    }
    const ElementType argument = e.args[0].type;
    switch (e.op) {
      case ScalarOp::cast:
        return convert(argument, v[0], e.type);
      case ScalarOp::logical_not:
        return Bits{v[0] == 0};
      case ScalarOp::bit_not:
        return canonical_bits(e.type, ~v[0]);
      case ScalarOp::lt:
      case ScalarOp::le:
      case ScalarOp::gt:
      case ScalarOp::ge:
      case ScalarOp::eq:
      case ScalarOp::ne:
        if (argument == ElementType::f32)
          return Bits{float_compare(e.op, to_float<float>(v[0]), to_float<float>(v[1]))};
        if (argument == ElementType::f64)
          return Bits{float_compare(e.op, to_float<double>(v[0]), to_float<double>(v[1]))};
        return Bits{integer_compare(e.op, argument, v[0], v[1])};
      default:
        break;
    }
    if (e.type == ElementType::f32) {
      return from_float(float_operation(e.op, to_float<float>(v[0]), to_float<float>(v[1]), to_float<float>(v[2])));
    }
    if (e.type == ElementType::f64) {
      return from_float(float_operation(e.op, to_float<double>(v[0]), to_float<double>(v[1]), to_float<double>(v[2])));
    }
    switch (e.op) {
      case ScalarOp::neg:
        return canonical_bits(e.type, Bits{0} - v[0]);
      case ScalarOp::div:
      case ScalarOp::rem:
        return integer_division(e.op, e.type, v[0], v[1]);
      case ScalarOp::shl:
      case ScalarOp::shr:
        return shift(e.op, e.type, v[0], e.args[1].type, v[1]);
      default:
        return integer_binary(e.op, e.type, v[0], v[1]);
    }
  }

  std::span<const Bits> inputs_;
  const std::map<std::string, std::int64_t>& symbols_;
};

}  // namespace

Result<std::uint64_t> evaluate(const ScalarExpr& code, std::span<const std::uint64_t> inputs,
                               const std::map<std::string, std::int64_t>& symbols) {
  return Evaluator(inputs, symbols)(code);
}

std::uint64_t combine(ReductionOp op, ElementType type, std::uint64_t accumulator, std::uint64_t value) {
  const auto apply = [&](ScalarOp scalar) -> Bits {
    if (type == ElementType::f32) {
      return from_float(float_operation(scalar, to_float<float>(accumulator), to_float<float>(value), 0.0F));
    }
    if (type == ElementType::f64) {
      return from_float(float_operation(scalar, to_float<double>(accumulator), to_float<double>(value), 0.0));
    }
    return integer_binary(scalar, type, accumulator, value);
  };
  switch (op) {
#define X(e, text, scalar) \
  case ReductionOp::e:     \
    return apply(ScalarOp::scalar);
    SOUS_REDUCTION_OPS(X)
#undef X
  }
  __builtin_unreachable();
}

}  // namespace sous::sdfg
