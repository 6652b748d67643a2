#include "sdfg/scalar_expr.h"

#include <bit>
#include <utility>

#include "sdfg/result.h"

namespace sous::sdfg {

ScalarExpr ScalarExpr::make_input(int index, ElementType type) {
  return {.op = ScalarOp::input, .type = type, .args = {}, .input = index, .bits = 0, .symbolic = {}};
}

ScalarExpr ScalarExpr::make_symbolic(Expr e, ElementType type) {
  return {.op = ScalarOp::symbolic, .type = type, .args = {}, .input = 0, .bits = 0, .symbolic = std::move(e)};
}

namespace {

ScalarExpr constant(std::uint64_t bits, ElementType type) {
  return {.op = ScalarOp::constant, .type = type, .args = {}, .input = 0, .bits = bits, .symbolic = {}};
}

// Truncates to the type's width and extends the sign (or zeros) to 64 bits.
std::uint64_t wrap(std::int64_t value, ElementType type) {
  switch (type) {
    case ElementType::i8:
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int8_t>(value)));
    case ElementType::i16:
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int16_t>(value)));
    case ElementType::i32:
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(value)));
    case ElementType::u8:
      return static_cast<std::uint8_t>(value);
    case ElementType::u16:
      return static_cast<std::uint16_t>(value);
    case ElementType::u32:
      return static_cast<std::uint32_t>(value);
    case ElementType::i64:
    case ElementType::u64:
      return static_cast<std::uint64_t>(value);
    case ElementType::boolean:
      return value != 0;
    case ElementType::f32:
    case ElementType::f64:
      break;
  }
  ::sous::panic(__FILE__, __LINE__, "an integer constant of a float type");
}

bool is_comparison(ScalarOp op) {
  return op == ScalarOp::lt || op == ScalarOp::le || op == ScalarOp::gt || op == ScalarOp::ge || op == ScalarOp::eq ||
         op == ScalarOp::ne;
}

}  // namespace

ScalarExpr ScalarExpr::integer(std::int64_t value, ElementType type) { return constant(wrap(value, type), type); }

ScalarExpr ScalarExpr::real(double value, ElementType type) {
  SOUS_ASSERT(is_float(type));
  return constant(type == ElementType::f32 ? std::bit_cast<std::uint32_t>(static_cast<float>(value))
                                           : std::bit_cast<std::uint64_t>(value),
                  type);
}

ScalarExpr ScalarExpr::unary(ScalarOp op, ScalarExpr a) {
  ElementType type = op == ScalarOp::logical_not ? ElementType::boolean : a.type;
  return {.op = op, .type = type, .args = {std::move(a)}, .input = 0, .bits = 0, .symbolic = {}};
}

ScalarExpr ScalarExpr::binary(ScalarOp op, ScalarExpr a, ScalarExpr b) {
  bool boolean = is_comparison(op) || op == ScalarOp::logical_and || op == ScalarOp::logical_or;
  ElementType type = boolean ? ElementType::boolean : a.type;
  return {.op = op, .type = type, .args = {std::move(a), std::move(b)}, .input = 0, .bits = 0, .symbolic = {}};
}

ScalarExpr ScalarExpr::select(ScalarExpr condition, ScalarExpr a, ScalarExpr b) {
  ElementType type = a.type;
  return {.op = ScalarOp::select,
          .type = type,
          .args = {std::move(condition), std::move(a), std::move(b)},
          .input = 0,
          .bits = 0,
          .symbolic = {}};
}

ScalarExpr ScalarExpr::cast(ScalarExpr a, ElementType type) {
  if (a.type == type) return a;
  return {.op = ScalarOp::cast, .type = type, .args = {std::move(a)}, .input = 0, .bits = 0, .symbolic = {}};
}

double ScalarExpr::real_value() const {
  SOUS_ASSERT(op == ScalarOp::constant && is_float(type));
  return type == ElementType::f32 ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))
                                  : std::bit_cast<double>(bits);
}

std::int64_t ScalarExpr::integer_value() const {
  SOUS_ASSERT(op == ScalarOp::constant && !is_float(type));
  return static_cast<std::int64_t>(bits);
}

ScalarExpr ScalarExpr::substitute(const std::map<std::string, Expr>& with) const {
  ScalarExpr result = *this;
  if (op == ScalarOp::symbolic) result.symbolic = symbolic.substitute(with);
  for (ScalarExpr& arg : result.args) arg = arg.substitute(with);
  return result;
}

void ScalarExpr::visit(const std::function<void(const ScalarExpr&)>& f) const {
  f(*this);
  for (const ScalarExpr& arg : args) arg.visit(f);
}

ScalarExpr ScalarExpr::map_inputs(const std::function<ScalarExpr(const ScalarExpr&)>& f) const {
  if (op == ScalarOp::input) return f(*this);
  ScalarExpr result = *this;
  for (ScalarExpr& arg : result.args) arg = arg.map_inputs(f);
  return result;
}

}  // namespace sous::sdfg
