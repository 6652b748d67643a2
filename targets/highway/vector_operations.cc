// Operations on vectors and masks with the results of the scalar ones.
#include <bit>
#include <cmath>

#include "sdfg/planted_fault.h"
#include "sdfg/scalar_bits.h"
#include "targets/highway/vector_loop.h"

namespace sous::targets {

using sdfg::ElementType;
using sdfg::ScalarExpr;
using sdfg::ScalarOp;

namespace {

bool divides_integers(const ScalarExpr& e) {
  bool found = false;
  e.visit([&](const ScalarExpr& node) {
    found = found || ((node.op == ScalarOp::div || node.op == ScalarOp::rem) && sdfg::is_integer(node.type));
  });
  return found;
}

// The vector function with the scalar one's very result, for floats; empty if there is none.
std::string_view exact_function(ScalarOp op) {
  switch (op) {
    case ScalarOp::fabs:
      return "Abs";
    case ScalarOp::sqrt:
      return "Sqrt";
    case ScalarOp::floor:
      return "Floor";
    case ScalarOp::ceil:
      return "Ceil";
    case ScalarOp::trunc:
      return "Trunc";
    case ScalarOp::rint:
      return "Round";
    case ScalarOp::copysign:
      return "CopySign";
    default:
      return "";
  }
}

// hwy/contrib/math: within a few units in the last place.
std::string_view approximate_function(ScalarOp op) {
  switch (op) {
    case ScalarOp::exp:
      return "Exp";
    case ScalarOp::expm1:
      return "Expm1";
    case ScalarOp::log:
      return "Log";
    case ScalarOp::log2:
      return "Log2";
    case ScalarOp::log10:
      return "Log10";
    case ScalarOp::log1p:
      return "Log1p";
    case ScalarOp::sin:
      return "Sin";
    case ScalarOp::cos:
      return "Cos";
    case ScalarOp::sinh:
      return "Sinh";
    case ScalarOp::tanh:
      return "Tanh";
    case ScalarOp::asin:
      return "Asin";
    case ScalarOp::acos:
      return "Acos";
    case ScalarOp::atan:
      return "Atan";
    default:
      return "";
  }
}

}  // namespace

// An operation on what is the same in all lanes stays scalar.
std::optional<Value> VectorLoop::uniform_operation(const ScalarExpr& e, const std::vector<Value>& args) {
  bool uniform = true;
  Value result;
  result.type = e.type;
  result.invariant = true;
  result.faults = ((e.op == ScalarOp::div || e.op == ScalarOp::rem) && sdfg::is_integer(e.type)) ||
                  (printer_.options().math_errno && sdfg::sets_errno(e));
  std::vector<Text> texts;
  for (const Value& arg : args) {
    uniform = uniform && arg.kind == Value::Kind::Uniform;
    result.invariant = result.invariant && arg.invariant;
    result.faults = result.faults || arg.faults;
    texts.push_back(arg.text);
  }
  if (!uniform) return std::nullopt;
  result.text = expressions_.operation(e, texts);
  return result;
}

Value VectorLoop::vector_call(std::string_view function, const std::string& arguments, ElementType type) {
  return vector_value("hn::" + std::string(function) + "(" + arguments + ")", type);
}

// The type of the masks to combine: that of the first which is one.
Value VectorLoop::mask_call(std::string_view function, const std::vector<Value>& args) {
  ElementType type = mask_type();
  for (std::size_t k = args.size(); k-- > 0;) {
    if (args[k].kind == Value::Kind::Mask) type = args[k].type;
  }
  std::string list;
  for (const Value& arg : args) list += (list.empty() ? "" : ", ") + mask(arg, type);
  return mask_value("hn::" + std::string(function) + "(" + list + ")", type);
}

// A divisor, or what a root is taken of: nobody's, that of a lane beyond the end would raise exceptions that a program
// may trap or look at. (So would that of a lane for which a condition does not hold; compilers differ in whether they
// care.)
std::string VectorLoop::active_or_one(const std::string& vector, ElementType type) {
  if (mask_.empty()) return vector;
  return (in_rest_ ? "sous::active_or_one(" : "sous::chosen_or_one(") + tag(type) + with_mask(type) + ", " + vector +
         ")";
}

// The operands behind the first are computed in all lanes, where the source does so in some.
void VectorLoop::require_speculable(const ScalarExpr& e) {
  for (std::size_t k = 1; k < e.args.size(); ++k) {
    if (divides_integers(e.args[k])) fail("a division that only some lanes do");
    if (printer_.options().math_errno && sdfg::sets_errno(e.args[k])) fail("a call that only some lanes make");
  }
}

Value VectorLoop::operation(const ScalarExpr& e, const std::vector<Value>& args) {
  if (auto uniform = uniform_operation(e, args)) return *std::move(uniform);
  // Of narrow elements our own vectors have memory and conversions (targets/runtime/vectors.h).
  const auto computes_narrow = [&](ElementType type) {
    return type != ElementType::boolean && sdfg::info(type).bytes < 4;
  };
  if (e.op != ScalarOp::cast &&
      (computes_narrow(e.type) || std::ranges::any_of(e.args, computes_narrow, &ScalarExpr::type)))
    need(Vectors::All);
  const auto v = [&](std::size_t k) { return vector(args[k], args[k].type); };
  const bool is_bool = e.type == ElementType::boolean;
  const auto bitwise = [&](std::string_view function) {
    return is_bool ? mask_call(function, args) : vector_call(function, v(0) + ", " + v(1), e.type);
  };
  switch (e.op) {
    case ScalarOp::input:
    case ScalarOp::constant:
    case ScalarOp::symbolic:
      break;
    case ScalarOp::add:
    case ScalarOp::sub:
    case ScalarOp::mul:
      if (is_bool) break;
      return arithmetic(e, args);
    case ScalarOp::neg:
    case ScalarOp::div:
    case ScalarOp::rem:
    case ScalarOp::shl:
    case ScalarOp::shr:
      return arithmetic(e, args);
    case ScalarOp::bit_not:
      return is_bool ? mask_call("Not", args) : vector_call("Not", v(0), e.type);
    case ScalarOp::logical_not:
      return mask_call("Not", args);
    case ScalarOp::bit_and:
      return bitwise("And");
    case ScalarOp::bit_or:
      return bitwise("Or");
    case ScalarOp::bit_xor:
      return bitwise("Xor");
    case ScalarOp::lt:
    case ScalarOp::le:
    case ScalarOp::gt:
    case ScalarOp::ge:
    case ScalarOp::eq:
    case ScalarOp::ne:
      return compare(e, args);
    case ScalarOp::logical_and:
      require_speculable(e);
      return mask_call("And", args);
    case ScalarOp::logical_or:
      require_speculable(e);
      return mask_call("Or", args);
    case ScalarOp::min:
    case ScalarOp::max:
      if (is_bool) return mask_call(e.op == ScalarOp::min ? "And" : "Or", args);
      return vector_call(e.op == ScalarOp::min ? "Min" : "Max", v(0) + ", " + v(1), e.type);
    case ScalarOp::select:
      return select(e, args);
    case ScalarOp::cast:
      return cast(e, args[0]);
    case ScalarOp::uncontracted:
      return args[0];
#define X(op, ...) case ScalarOp::op:
      SOUS_MATH_OPS(X)
#undef X
      return mathematics(e, args);
  }
  fail("arithmetic on booleans");
  return {};
}

Value VectorLoop::arithmetic(const ScalarExpr& e, const std::vector<Value>& args) {
  const auto v = [&](std::size_t k) { return vector(args[k], args[k].type); };
  switch (e.op) {
    case ScalarOp::neg:
      if (sdfg::is_float(e.type)) return vector_call("Neg", v(0), e.type);
      return vector_call("Sub", "hn::Zero(" + tag(e.type) + "), " + v(0), e.type);
    case ScalarOp::add:
      return vector_call("Add", v(0) + ", " + v(1), e.type);
    case ScalarOp::sub:
      return vector_call("Sub", v(0) + ", " + v(1), e.type);
    case ScalarOp::mul:
      if (sdfg::info(e.type).bytes == 1) return lane_by_lane(e, args);
      return vector_call("Mul", v(0) + ", " + v(1), e.type);
    case ScalarOp::div:
      if (sdfg::is_float(e.type)) {
        const bool harmless = e.args[1].op == ScalarOp::constant && e.args[1].real_value() != 0;
        return vector_call("Div", v(0) + ", " + (harmless ? v(1) : active_or_one(v(1), e.type)), e.type);
      }
      return divided(e, args);
    case ScalarOp::shl:
    case ScalarOp::shr: {
      const ScalarExpr& amount = e.args[1];
      if (amount.op != ScalarOp::constant || sdfg::info(e.type).bytes == 1) return lane_by_lane(e, args);
      const std::string function = e.op == ScalarOp::shl ? "ShiftLeft" : "ShiftRight";
      return vector_call(function + "<" + std::to_string(amount.integer_value()) + ">", v(0), e.type);
    }
    default:  // a remainder
      return divided(e, args);
  }
}

// Integers by a constant power of two: what is shifted out, or the rest, of a number that is first moved to where
// rounding down is rounding toward zero.
Value VectorLoop::divided(const ScalarExpr& e, const std::vector<Value>& args) {
  const ScalarExpr& divisor = e.args[1];
  const std::int64_t by = divisor.op == ScalarOp::constant ? divisor.integer_value() : 0;
  const ElementType type = e.type;
  if (by < 2 || !std::has_single_bit(static_cast<std::uint64_t>(by)) || sdfg::info(type).bytes == 1 ||
      args[0].kind != Value::Kind::Vector)
    return lane_by_lane(e, args);
  const int bits = std::countr_zero(static_cast<std::uint64_t>(by));
  const auto shifted = [](int count, const std::string& v) {
    return "hn::ShiftRight<" + std::to_string(count) + ">(" + v + ")";
  };
  const std::string below = "hn::Set(" + tag(type) + ", " + literal(ScalarExpr::integer(by - 1, type)).text + ")";
  if (!sdfg::is_signed(type)) {
    const std::string v = vector(args[0], type);
    return e.op == ScalarOp::div ? vector_value(shifted(bits, v), type) : vector_call("And", v + ", " + below, type);
  }
  const std::string v = named(args[0], "dividend");
  const std::string to_zero = planted(Fault::lanes_divide_rounding_down)
                                  ? "hn::Zero(" + tag(type) + ")"
                                  : "hn::And(" + shifted(8 * sdfg::info(type).bytes - 1, v) + ", " + below + ")";
  const std::string bias = named(vector_value(to_zero, type), "bias");
  const std::string moved = "hn::Add(" + v + ", " + bias + ")";
  if (e.op == ScalarOp::div) return vector_value(shifted(bits, moved), type);
  return vector_call("Sub", "hn::And(" + moved + ", " + below + "), " + bias, type);
}

Value VectorLoop::select(const ScalarExpr& e, const std::vector<Value>& args) {
  require_speculable(e);
  if (failure) return {};
  if (e.type == ElementType::boolean) {
    ElementType type = mask_type();
    for (const Value& arg : args) {
      if (arg.kind == Value::Kind::Mask) type = arg.type;
    }
    return mask_value("sous::blend_mask<decltype(" + (widest_ ? tag(type) : "d") + ")>(" + mask(args[0], type) + ", " +
                          mask(args[1], type) + ", " + mask(args[2], type) + ")",
                      type);
  }
  const std::size_t yes = planted(Fault::select_swapped) ? 2 : 1;
  return vector_call("IfThenElse",
                     mask(args[0], e.type) + ", " + vector(args[yes], e.type) + ", " + vector(args[3 - yes], e.type),
                     e.type);
}

Value VectorLoop::mathematics(const ScalarExpr& e, const std::vector<Value>& args) {
  const auto v = [&](std::size_t k) { return vector(args[k], args[k].type); };
  switch (e.op) {
    case ScalarOp::fma:
      return vector_value("sous::fused(" + tag(e.type) + ", " + v(0) + ", " + v(1) + ", " + v(2) + ")", e.type);
    case ScalarOp::fmin:
    case ScalarOp::fmax:
      // C leaves open which of two zeros it is. Compilers take the constant where the second is one.
      if (const ScalarExpr& last = e.args[1]; last.op == ScalarOp::constant && !std::isnan(last.real_value()))
        return vector_call("IfThenElse",
                           std::string(e.op == ScalarOp::fmin ? "hn::Lt(" : "hn::Gt(") + v(0) + ", " + v(1) + "), " +
                               v(0) + ", " + v(1),
                           e.type);
      return vector_value("sous::" + std::string(info(e.op).text) + "(" + tag(e.type) + ", " + v(0) + ", " + v(1) + ")",
                          e.type);
    case ScalarOp::sqrt:
      if (printer_.options().math_errno)
        return vector_value(
            "sous::sqrt_errno(" + tag(e.type) + with_mask(e.type) + ", " + active_or_one(v(0), e.type) + ")", e.type);
      return vector_call(exact_function(e.op), active_or_one(v(0), e.type), e.type);
    case ScalarOp::floor:
    case ScalarOp::ceil:
    case ScalarOp::trunc:
    case ScalarOp::rint:
      return vector_value("sous::" + std::string(exact_function(e.op)) + "(" + v(0) + ")", e.type);
    case ScalarOp::fabs:
    case ScalarOp::copysign:
      return vector_call(exact_function(e.op), v(0) + (args.size() > 1 ? ", " + v(1) : ""), e.type);
    default: {
      const std::string_view approximate = approximate_function(e.op);
      if (printer_.options().approximate_math && !approximate.empty()) {
        need(Vectors::Mathematics);
        return vector_value(
            "sous::" + std::string(approximate) + "(" + tag(e.type) + with_mask(e.type) + ", " + v(0) + ")", e.type);
      }
      return lane_by_lane(e, args);
    }
  }
}

Value VectorLoop::compare(const ScalarExpr& e, const std::vector<Value>& args) {
  const ElementType type = args[0].type;
  if (e.args[0].type == ElementType::boolean) {
    if (e.op != ScalarOp::eq && e.op != ScalarOp::ne) {
      fail("an order of booleans");
      return {};
    }
    const ElementType m = args[0].kind == Value::Kind::Mask ? args[0].type : args[1].type;
    const std::string differ = "hn::Xor(" + mask(args[0], m) + ", " + mask(args[1], m) + ")";
    return mask_value(e.op == ScalarOp::ne ? differ : "hn::Not(" + differ + ")", m);
  }
  const std::string both = "(" + vector(args[0], type) + ", " + vector(args[1], type) + ")";
  const bool ordered = sdfg::is_float(type);  // a NaN makes every comparison false but !=
  switch (e.op) {
    case ScalarOp::lt:
      return mask_value("hn::Lt" + both, type);
    case ScalarOp::gt:
      return mask_value("hn::Gt" + both, type);
    case ScalarOp::le:
      return mask_value(ordered ? "hn::Le" + both : "hn::Not(hn::Gt" + both + ")", type);
    case ScalarOp::ge:
      return mask_value(ordered ? "hn::Ge" + both : "hn::Not(hn::Lt" + both + ")", type);
    case ScalarOp::eq:
      return mask_value("hn::Eq" + both, type);
    case ScalarOp::ne:
      return mask_value("hn::Not(hn::Eq" + both + ")", type);
    default:
      panic(__FILE__, __LINE__, "not a comparison");
  }
}

Value VectorLoop::lane_by_lane(const ScalarExpr& e, const std::vector<Value>& args) {
  std::string parameters, list;
  std::vector<Text> names;
  for (std::size_t k = 0; k < args.size(); ++k) {
    const ElementType type = e.args[k].type;
    if (type == ElementType::boolean) {
      fail("arithmetic on booleans");
      return {};
    }
    names.push_back({k == 0 ? "x" : "y"});
    parameters += (k > 0 ? ", " : "") + value_type(type) + " " + names.back().text;
    list += ", " + tag(type) + ", " + vector(args[k], type);
  }
  return vector_value("sous::map(" + tag(e.type) + with_mask(e.type) + ", [](" + parameters + ") { return " +
                          expressions_.operation(e, names).text + "; }" + list + ")",
                      e.type);
}

}  // namespace sous::targets
