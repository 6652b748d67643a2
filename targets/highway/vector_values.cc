// Scalar expressions as vector expressions of the same results.
#include <cmath>

#include "sdfg/planted_fault.h"
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

bool is_identifier(const std::string& text) {
  return text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string::npos;
}

}  // namespace

Value VectorLoop::vector_value(std::string text, ElementType type) {
  types.insert(type);
  return {.kind = Value::Kind::Vector, .text = {std::move(text)}, .type = type};
}

Value VectorLoop::mask_value(std::string text, ElementType type) {
  return {.kind = Value::Kind::Mask, .text = {std::move(text)}, .type = type};
}

std::string VectorLoop::vector(const Value& value, ElementType type) {
  if (value.kind == Value::Kind::Vector) return value.text.text;
  SOUS_ASSERT(value.kind == Value::Kind::Uniform);
  std::string text = "hn::Set(" + tag(type) + ", " + value.text.text + ")";
  if (!value.invariant || (value.faults && nesting_ > 0)) return text;
  const auto known = hoisted_.find(text);
  if (known != hoisted_.end()) return known->second;
  const std::string name = names_.fresh(
      is_identifier(value.text.text) && !std::isdigit(value.text.text[0]) ? value.text.text + "_v" : "broadcast");
  before_.line("const auto " + name + " = " + text + ";");
  needs_guard_ = needs_guard_ || value.faults;
  hoisted_[text] = name;
  return name;
}

std::string VectorLoop::converted(const std::string& mask, ElementType from, ElementType to) {
  if (from == ElementType::boolean) from = ElementType::u8;
  if (to == ElementType::boolean) to = ElementType::u8;
  if (from == to || !widest_) return mask;
  return "sous::mask_cast(" + tag(to) + ", " + tag(from) + ", " + mask + ")";
}

std::string VectorLoop::mask(const Value& value, ElementType type) {
  if (value.kind == Value::Kind::Mask) return converted(value.text.text, value.type, type);
  SOUS_ASSERT(value.kind == Value::Kind::Uniform);
  return "sous::mask_of(" + (widest_ ? tag(type) : "d") + ", " + value.text.text + ")";
}

std::string VectorLoop::active(ElementType type) { return converted(mask_, mask_type(), type); }

std::string VectorLoop::with_mask(ElementType type) { return mask_.empty() ? "" : ", " + active(type); }

std::string VectorLoop::named(const Value& value, const std::string& hint) {
  const std::string name = names_.fresh(hint);
  printer_.out.line("const auto " + name + " = " + value.text.text + ";");
  return name;
}

Value VectorLoop::evaluate(const ScalarExpr& e, const std::vector<Value>& inputs) {
  if (e.op == ScalarOp::input) return inputs[static_cast<std::size_t>(e.input)];
  if (e.op == ScalarOp::constant) {
    Value value;
    value.text = literal(e);
    value.type = e.type;
    value.invariant = true;
    return value;
  }
  if (e.op == ScalarOp::symbolic) return symbolic(e);
  if (auto fused = contracted(e, inputs)) return *fused;
  std::vector<Value> args;
  for (const ScalarExpr& arg : e.args) {
    args.push_back(evaluate(arg, inputs));
    if (failure) return {};
  }
  return operation(e, args);
}

// a*b + c, a*b - c and c - a*b in one rounding, where that is allowed; the left product first, as compilers do.
std::optional<Value> VectorLoop::contracted(const ScalarExpr& e, const std::vector<Value>& inputs) {
  if (!(printer_.options().contract || planted(Fault::fused_without_leave)) || !sdfg::is_float(e.type))
    return std::nullopt;
  if (e.op != ScalarOp::add && e.op != ScalarOp::sub) return std::nullopt;
  for (const std::size_t k : {std::size_t{0}, std::size_t{1}}) {
    const bool negated = e.args[k].op == ScalarOp::neg;
    const ScalarExpr& product = negated ? e.args[k].args[0] : e.args[k];
    if (product.op != ScalarOp::mul) continue;
    const Value a = evaluate(product.args[0], inputs), b = evaluate(product.args[1], inputs);
    if (failure) return Value{};
    if (a.kind == Value::Kind::Uniform && b.kind == Value::Kind::Uniform) continue;
    const Value c = evaluate(e.args[1 - k], inputs);
    if (failure) return Value{};
    const bool minus_product = negated != (e.op == ScalarOp::sub && k == 1);
    const bool minus_rest = e.op == ScalarOp::sub && k == 0;
    const std::string function = std::string(minus_product ? "Neg" : "") + "Mul" + (minus_rest ? "Sub" : "Add");
    return vector_value(
        "hn::" + function + "(" + vector(a, e.type) + ", " + vector(b, e.type) + ", " + vector(c, e.type) + ")",
        e.type);
  }
  return std::nullopt;
}

Value VectorLoop::symbolic(const ScalarExpr& e) {
  if (!differs(e.symbolic)) {
    Value value;
    value.text = expressions_.operation(e, {});
    value.type = e.type;
    value.invariant = is_invariant(e.symbolic);
    return value;
  }
  if (e.type == ElementType::boolean) {
    fail("an index as a boolean");
    return {};
  }
  if (const auto coefficient = sdfg::coefficient_of(e.symbolic, loop_.symbol)) {
    const std::string step = expressions_.index(*coefficient * sdfg::Expr(loop_.step)).text;
    return vector_value("sous::iota(" + tag(e.type) + ", " + expressions_.index(e.symbolic).text + ", " + step + ")",
                        e.type);
  }
  expressions_.symbols[loop_.symbol] = lane_index();
  const std::string text = expressions_.operation(e, {}).text;
  set_first(first_);
  return vector_value(
      "sous::gather(" + tag(e.type) + with_mask(e.type) + ", [&](int64_t " + lane_ + ") { return " + text + "; })",
      e.type);
}

Value VectorLoop::operation(const ScalarExpr& e, const std::vector<Value>& args) {
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
  if (uniform) {
    result.text = expressions_.operation(e, texts);
    return result;
  }
  const auto v = [&](std::size_t k) { return vector(args[k], args[k].type); };
  const auto call = [&](std::string_view function, const std::string& arguments) {
    return vector_value("hn::" + std::string(function) + "(" + arguments + ")", e.type);
  };
  const bool is_bool = e.type == ElementType::boolean;
  // The type of the masks to combine: that of the first which is one.
  const auto mask_call = [&](std::string_view function) {
    ElementType type = mask_type();
    for (std::size_t k = args.size(); k-- > 0;) {
      if (args[k].kind == Value::Kind::Mask) type = args[k].type;
    }
    std::string list;
    for (const Value& arg : args) list += (list.empty() ? "" : ", ") + mask(arg, type);
    return mask_value("hn::" + std::string(function) + "(" + list + ")", type);
  };
  const auto guarded = [&](std::size_t first) {
    for (std::size_t k = first; k < e.args.size(); ++k) {
      if (divides_integers(e.args[k])) fail("a division that only some lanes do");
      if (printer_.options().math_errno && sdfg::sets_errno(e.args[k])) fail("a call that only some lanes make");
    }
  };
  switch (e.op) {
    case ScalarOp::input:
    case ScalarOp::constant:
    case ScalarOp::symbolic:
      break;
    case ScalarOp::neg:
      if (sdfg::is_float(e.type)) return call("Neg", v(0));
      return call("Sub", "hn::Zero(" + tag(e.type) + "), " + v(0));
    case ScalarOp::bit_not:
      return is_bool ? mask_call("Not") : call("Not", v(0));
    case ScalarOp::logical_not:
      return mask_call("Not");
    case ScalarOp::add:
      if (is_bool) break;
      return call("Add", v(0) + ", " + v(1));
    case ScalarOp::sub:
      if (is_bool) break;
      return call("Sub", v(0) + ", " + v(1));
    case ScalarOp::mul:
      if (is_bool) break;
      if (sdfg::info(e.type).bytes == 1) return lane_by_lane(e, args);
      return call("Mul", v(0) + ", " + v(1));
    case ScalarOp::div:
      if (sdfg::is_float(e.type)) return call("Div", v(0) + ", " + v(1));
      return lane_by_lane(e, args);
    case ScalarOp::rem:
      return lane_by_lane(e, args);
    case ScalarOp::bit_and:
      return is_bool ? mask_call("And") : call("And", v(0) + ", " + v(1));
    case ScalarOp::bit_or:
      return is_bool ? mask_call("Or") : call("Or", v(0) + ", " + v(1));
    case ScalarOp::bit_xor:
      return is_bool ? mask_call("Xor") : call("Xor", v(0) + ", " + v(1));
    case ScalarOp::shl:
    case ScalarOp::shr: {
      const ScalarExpr& amount = e.args[1];
      if (amount.op != ScalarOp::constant || sdfg::info(e.type).bytes == 1) return lane_by_lane(e, args);
      const std::string function = e.op == ScalarOp::shl ? "ShiftLeft" : "ShiftRight";
      return call(function + "<" + std::to_string(amount.integer_value()) + ">", v(0));
    }
    case ScalarOp::lt:
    case ScalarOp::le:
    case ScalarOp::gt:
    case ScalarOp::ge:
    case ScalarOp::eq:
    case ScalarOp::ne:
      return compare(e, args);
    case ScalarOp::logical_and:
      guarded(1);
      return mask_call("And");
    case ScalarOp::logical_or:
      guarded(1);
      return mask_call("Or");
    case ScalarOp::min:
    case ScalarOp::max:
      if (is_bool) return mask_call(e.op == ScalarOp::min ? "And" : "Or");
      return call(e.op == ScalarOp::min ? "Min" : "Max", v(0) + ", " + v(1));
    case ScalarOp::select: {
      guarded(1);
      if (failure) return {};
      if (is_bool) {
        ElementType type = mask_type();
        for (const Value& arg : args) {
          if (arg.kind == Value::Kind::Mask) type = arg.type;
        }
        return mask_value("sous::blend_mask<decltype(" + (widest_ ? tag(type) : "d") + ")>(" + mask(args[0], type) +
                              ", " + mask(args[1], type) + ", " + mask(args[2], type) + ")",
                          type);
      }
      const std::size_t yes = planted(Fault::select_swapped) ? 2 : 1;
      return call("IfThenElse",
                  mask(args[0], e.type) + ", " + vector(args[yes], e.type) + ", " + vector(args[3 - yes], e.type));
    }
    case ScalarOp::cast:
      return cast(e, args[0]);
    case ScalarOp::uncontracted:
      return args[0];
    case ScalarOp::divide_by: {
      const std::string x = v(0), d = v(1), y = v(2), tagged = tag(e.type) + ", ";
      if (planted(Fault::division_unguarded)) {
        const std::string q = "hn::Mul(" + x + ", " + y + ")";
        const std::string r = "sous::fused(" + tagged + "hn::Neg(" + q + "), " + d + ", " + x + ")";
        return vector_value("sous::fused(" + tagged + r + ", " + y + ", " + q + ")", e.type);
      }
      return vector_value("sous::divide_by(" + tag(e.type) + with_mask(e.type) + ", " + x + ", " + d + ", " + y + ")",
                          e.type);
    }
    case ScalarOp::fma:
      return vector_value("sous::fused(" + tag(e.type) + ", " + v(0) + ", " + v(1) + ", " + v(2) + ")", e.type);
    case ScalarOp::fmin:
    case ScalarOp::fmax:
      // C leaves open which of two zeros it is. Compilers take the constant where the second is one.
      if (const ScalarExpr& last = e.args[1]; last.op == ScalarOp::constant && !std::isnan(last.real_value()))
        return call("IfThenElse", std::string(e.op == ScalarOp::fmin ? "hn::Lt(" : "hn::Gt(") + v(0) + ", " + v(1) +
                                      "), " + v(0) + ", " + v(1));
      return vector_value("sous::" + std::string(info(e.op).text) + "(" + tag(e.type) + ", " + v(0) + ", " + v(1) + ")",
                          e.type);
    case ScalarOp::sqrt:
      if (printer_.options().math_errno)
        return vector_value("sous::sqrt_errno(" + tag(e.type) + with_mask(e.type) + ", " + v(0) + ")", e.type);
      return call(exact_function(e.op), v(0));
    case ScalarOp::floor:
    case ScalarOp::ceil:
    case ScalarOp::trunc:
    case ScalarOp::rint:
      return vector_value("sous::" + std::string(exact_function(e.op)) + "(" + v(0) + ")", e.type);
    case ScalarOp::fabs:
    case ScalarOp::copysign:
      return call(exact_function(e.op), v(0) + (args.size() > 1 ? ", " + v(1) : ""));
    case ScalarOp::cbrt:
    case ScalarOp::exp:
    case ScalarOp::exp2:
    case ScalarOp::expm1:
    case ScalarOp::log:
    case ScalarOp::log2:
    case ScalarOp::log10:
    case ScalarOp::log1p:
    case ScalarOp::sin:
    case ScalarOp::cos:
    case ScalarOp::tan:
    case ScalarOp::asin:
    case ScalarOp::acos:
    case ScalarOp::atan:
    case ScalarOp::sinh:
    case ScalarOp::cosh:
    case ScalarOp::tanh:
    case ScalarOp::erf:
    case ScalarOp::round:
    case ScalarOp::pow:
    case ScalarOp::atan2:
    case ScalarOp::fmod:
    case ScalarOp::hypot: {
      const std::string_view approximate = approximate_function(e.op);
      if (printer_.options().approximate_math && !approximate.empty())
        return call(approximate, tag(e.type) + ", " + v(0));
      return lane_by_lane(e, args);
    }
  }
  fail("arithmetic on booleans");
  return {};
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
    default:
      return mask_value("hn::Not(hn::Eq" + both + ")", type);
  }
}

Value VectorLoop::cast(const ScalarExpr& e, const Value& arg) {
  const ElementType from = e.args[0].type;
  if (from == ElementType::boolean) {
    const std::string d = tag(e.type);
    return vector_value(
        "hn::IfThenElseZero(" + mask(arg, e.type) + ", hn::Set(" + d + ", static_cast<" + value_type(e.type) + ">(1)))",
        e.type);
  }
  const std::string v = vector(arg, from);
  if (e.type == ElementType::boolean)
    return mask_value("hn::Not(hn::Eq(" + v + ", hn::Zero(" + tag(from) + ")))", from);
  const std::string function = sdfg::is_float(from) && !sdfg::is_float(e.type) ? "sous::to_integer(" : "sous::cast(";
  return vector_value(function + tag(e.type) + ", " + tag(from) + ", " + v + ")", e.type);
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
