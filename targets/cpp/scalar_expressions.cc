// Scalar expressions as C++: constants, operators and functions with the types that the IR computes in.
#include <charconv>
#include <cmath>

#include "sdfg/planted_fault.h"
#include "targets/cpp/expressions.h"
#include "targets/cpp/operators.h"

namespace sous::targets {

using sdfg::ElementType;
using sdfg::ScalarExpr;
using sdfg::ScalarOp;

namespace {

std::string cpp(ElementType type) { return std::string(info(type).cpp); }

bool is_narrow(ElementType type) { return sdfg::is_integer(type) && sdfg::info(type).bytes < 4; }

// C++ computes in int what is narrower; back to the type that the IR computes in.
Text narrowed(Text value, ElementType type) {
  if (!is_narrow(type) && type != ElementType::boolean) return value;
  if (planted(Fault::narrow_not_wrapped)) return value;
  return {"(" + cpp(type) + ")" + value.in(Binding::Primary), Binding::Primary};
}

template <class T>
std::string shortest(T value) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string text(buffer, end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

Text literal(const ScalarExpr& c) {
  if (sdfg::is_float(c.type)) {
    if (!std::isfinite(c.real_value())) {
      const bool wide = c.type == ElementType::f64;
      const std::string bits = wide ? "UINT64_C(" + std::to_string(c.bits) + ")"
                                    : "(uint32_t)" + std::to_string(static_cast<std::uint32_t>(c.bits)) + "u";
      return {"__builtin_bit_cast(" + cpp(c.type) + ", " + bits + ")"};
    }
    const std::string text =
        c.type == ElementType::f32 ? shortest(static_cast<float>(c.real_value())) + "f" : shortest(c.real_value());
    return {text, text.starts_with('-') ? Binding::Other : Binding::Primary};
  }
  if (c.type == ElementType::boolean) return {c.bits != 0 ? "true" : "false"};
  const std::int64_t value = c.integer_value();
  switch (c.type) {
    case ElementType::i32:
      if (value == INT32_MIN) return {"INT32_MIN"};
      return integer(value);
    case ElementType::u32:
      return {std::to_string(static_cast<std::uint32_t>(value)) + "u"};
    case ElementType::i64:
      if (value == INT64_MIN) return {"INT64_MIN"};
      return {"INT64_C(" + std::to_string(value) + ")"};
    case ElementType::u64:
      return {"UINT64_C(" + std::to_string(static_cast<std::uint64_t>(value)) + ")"};
    case ElementType::i8:
    case ElementType::i16:
    case ElementType::u8:
    case ElementType::u16:
      return {"(" + cpp(c.type) + ")" + integer(value).in(Binding::Primary)};
    case ElementType::f32:
    case ElementType::f64:
    case ElementType::boolean:
      break;
  }
  __builtin_unreachable();
}

Text Expressions::scalar(const ScalarExpr& e, const std::vector<const sdfg::Memlet*>& inputs) const {
  std::vector<Text> texts;
  for (const sdfg::Memlet* memlet : inputs) texts.push_back(element(*memlet));
  return scalar(e, texts);
}

Text Expressions::scalar(const ScalarExpr& e, const std::vector<Text>& inputs) const {
  if (e.op == ScalarOp::input) return inputs[static_cast<std::size_t>(e.input)];
  if (on_device)
    if (auto text = device_operation(e, inputs)) return *text;
  std::vector<Text> args;
  for (const ScalarExpr& arg : e.args) args.push_back(scalar(arg, inputs));
  return operation(e, args);
}

Text Expressions::operation(const ScalarExpr& e, const std::vector<Text>& args) const {
  const auto prefix = [&](std::string_view op) {
    return narrowed({std::string(op) + args[0].in(Binding::Primary), Binding::Other}, e.type);
  };
  const auto binary = [&](Binding binding) {
    return narrowed(infix(args[0], info(e.op).text, args[1], binding), e.type);
  };
  switch (e.op) {
    case ScalarOp::input:
      break;
    case ScalarOp::constant:
      return literal(e);
    case ScalarOp::symbolic: {
      Text value = index(e.symbolic);
      if (e.type == ElementType::i64 && !e.symbolic.constant()) return value;
      if (e.type == ElementType::boolean) return {value.in(Binding::Primary) + " != 0", Binding::Other};
      return {"(" + cpp(e.type) + ")" + value.in(Binding::Primary)};
    }
    case ScalarOp::neg:
      return prefix("-");
    case ScalarOp::bit_not:
      return prefix("~");
    case ScalarOp::logical_not:
      return {"!" + args[0].in(Binding::Primary), Binding::Other};
    case ScalarOp::add:
    case ScalarOp::sub:
      return binary(Binding::Sum);
    case ScalarOp::mul:
    case ScalarOp::div:
    case ScalarOp::rem:
      return binary(Binding::Product);
    case ScalarOp::bit_and:
    case ScalarOp::bit_or:
    case ScalarOp::bit_xor:
    case ScalarOp::shl:
    case ScalarOp::shr:
      return binary(Binding::Other);
    case ScalarOp::lt:
    case ScalarOp::le:
    case ScalarOp::gt:
    case ScalarOp::ge:
    case ScalarOp::eq:
    case ScalarOp::ne:
    case ScalarOp::logical_and:
    case ScalarOp::logical_or:
      if (planted(Fault::compare_signed) && e.args[0].type == ElementType::u32)
        return {"(int32_t)" + args[0].in(Binding::Primary) + " " + std::string(info(e.op).text) + " (int32_t)" +
                    args[1].in(Binding::Primary),
                Binding::Other};
      return {args[0].in(Binding::Primary) + " " + std::string(info(e.op).text) + " " + args[1].in(Binding::Primary),
              Binding::Other};
    case ScalarOp::select:
      return {
          args[0].in(Binding::Primary) + " ? " + args[1].in(Binding::Primary) + " : " + args[2].in(Binding::Primary),
          Binding::Other};
    case ScalarOp::cast:
      if (e.type == ElementType::boolean) return {args[0].in(Binding::Primary) + " != 0", Binding::Other};
      return {"(" + cpp(e.type) + ")" + args[0].in(Binding::Primary)};
    case ScalarOp::min:
    case ScalarOp::max: {
      // Sums of what is narrower than int are int: name the type.
      const std::string function = std::string(info(e.op).text) + "<" + cpp(e.type) + ">";
      return call(function, args);
    }
    case ScalarOp::uncontracted:
#define X(op, ...) case ScalarOp::op:
      SOUS_MATH_OPS(X)
#undef X
      return call(info(e.op).text, args);
  }
  panic(__FILE__, __LINE__, "an input where none can be");
}

Text Expressions::combined(sdfg::ReductionOp op, ElementType type, const Text& accumulated, const Text& value) const {
  const auto infixed = [&](std::string_view text, Binding binding) {
    return narrowed(infix(accumulated, text, value, binding), type);
  };
  switch (op) {
    case sdfg::ReductionOp::sum:
      return infixed("+", Binding::Sum);
    case sdfg::ReductionOp::product:
      return infixed("*", Binding::Product);
    case sdfg::ReductionOp::min:
      return call("min<" + cpp(type) + ">", {accumulated, value});
    case sdfg::ReductionOp::max:
      return call("max<" + cpp(type) + ">", {accumulated, value});
    case sdfg::ReductionOp::bit_and:
      return infixed("&", Binding::Other);
    case sdfg::ReductionOp::bit_or:
      return infixed("|", Binding::Other);
    case sdfg::ReductionOp::bit_xor:
      return infixed("^", Binding::Other);
  }
  __builtin_unreachable();
}

}  // namespace sous::targets
