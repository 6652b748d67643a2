// Scalar expressions as vector expressions of the same results.
#include <cctype>

#include "sdfg/planted_fault.h"
#include "targets/highway/vector_loop.h"

namespace sous::targets {

using sdfg::ElementType;
using sdfg::ScalarExpr;
using sdfg::ScalarOp;

namespace {

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
    const Value c = evaluate(e.args[1 - k], inputs);
    if (failure) return Value{};
    const auto uniform = [](const Value& value) { return value.kind == Value::Kind::Uniform; };
    if (uniform(a) && uniform(b) && uniform(c)) return std::nullopt;  // the scalar text is for compilers to contract
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

Value VectorLoop::cast(const ScalarExpr& e, const Value& arg) {
  const ElementType from = e.args[0].type;
  if (from == ElementType::boolean) {
    const std::string d = tag(e.type);
    return vector_value(
        "hn::IfThenElseZero(" + mask(arg, e.type) + ", hn::Set(" + d + ", static_cast<" + value_type(e.type) + ">(1)))",
        e.type);
  }
  const std::string v = vector(arg, from);
  if (e.type == ElementType::boolean && sdfg::info(from).bytes < 4) need(Vectors::All);
  if (e.type == ElementType::boolean)
    return mask_value("hn::Not(hn::Eq(" + v + ", hn::Zero(" + tag(from) + ")))", from);
  return vector_value("sous::cast(" + tag(e.type) + ", " + tag(from) + ", " + v + ")", e.type);
}

}  // namespace sous::targets
