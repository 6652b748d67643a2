#include "sdfg/scalar_text.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

namespace sous::sdfg {
namespace {

struct Binding {
  ScalarOp op;
  int strength;
};
constexpr std::array bindings = {
    Binding{ScalarOp::logical_or, 1}, Binding{ScalarOp::logical_and, 2}, Binding{ScalarOp::bit_or, 3},
    Binding{ScalarOp::bit_xor, 4},    Binding{ScalarOp::bit_and, 5},     Binding{ScalarOp::eq, 6},
    Binding{ScalarOp::ne, 6},         Binding{ScalarOp::lt, 7},          Binding{ScalarOp::le, 7},
    Binding{ScalarOp::gt, 7},         Binding{ScalarOp::ge, 7},          Binding{ScalarOp::shl, 8},
    Binding{ScalarOp::shr, 8},        Binding{ScalarOp::add, 9},         Binding{ScalarOp::sub, 9},
    Binding{ScalarOp::mul, 10},       Binding{ScalarOp::div, 10},        Binding{ScalarOp::rem, 10},
};

constexpr int binding(ScalarOp op) {
  for (const Binding& b : bindings)
    if (b.op == op) return b.strength;
  return 0;
}

// Every infix operator has a binding, and nothing else.
#define X(e, ...) static_assert((info(ScalarOp::e).form == OpForm::Infix) == (binding(ScalarOp::e) > 0));
SOUS_SCALAR_OPS(X)
#undef X

bool is_boolean(ScalarOp op) {
  const int strength = binding(op);
  return op == ScalarOp::logical_not || strength == 1 || strength == 2 || strength == 6 || strength == 7;
}

template <class Float>
std::string shortest(Float value) {
  std::array<char, 64> buffer;
  const auto end = std::to_chars(buffer.begin(), buffer.end(), value).ptr;
  std::string text(buffer.begin(), end);
  if (text.find_first_of(".e") == text.npos) text += ".0";
  return text;
}

std::string bits_text(const ScalarExpr& constant) {
  return "bits(" + std::string(info(constant.type).name) + ", " + hex_text(constant.bits) + ")";
}

std::string float_text(const ScalarExpr& constant) {
  const double value = constant.real_value();
  const std::string type(info(constant.type).name);
  const bool single = constant.type == ElementType::f32;
  if (single && constant.bits >> 32 != 0) return bits_text(constant);
  if (std::isnan(value)) {
    constexpr auto quiet = std::numeric_limits<double>::quiet_NaN();
    const std::uint64_t usual = single ? std::bit_cast<std::uint32_t>(std::numeric_limits<float>::quiet_NaN())
                                       : std::bit_cast<std::uint64_t>(quiet);
    return constant.bits == usual ? "nan(" + type + ")" : bits_text(constant);
  }
  if (std::isinf(value)) return (value < 0 ? "-inf(" : "inf(") + type + ")";
  return single ? shortest(static_cast<float>(value)) + "f32" : shortest(value);
}

template <class Float>
std::optional<Float> parse_float(std::string_view digits) {
  Float value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

}  // namespace

int precedence(ScalarOp op) { return binding(op); }

std::optional<ElementType> natural_type(ScalarOp op, const std::vector<ScalarExpr>& args) {
  if (info(op).form == OpForm::Leaf || op == ScalarOp::cast) return std::nullopt;
  if (is_boolean(op)) return ElementType::boolean;
  return op == ScalarOp::select ? args[1].type : args[0].type;
}

std::string constant_text(const ScalarExpr& constant) {
  if (is_float(constant.type)) return float_text(constant);
  const std::int64_t value = constant.integer_value();
  if (ScalarExpr::integer(value, constant.type).bits != constant.bits) return bits_text(constant);
  if (constant.type == ElementType::boolean) return value != 0 ? "true" : "false";
  const std::string digits = constant.type == ElementType::u64 ? std::to_string(constant.bits) : std::to_string(value);
  return constant.type == ElementType::i32 ? digits : digits + std::string(info(constant.type).name);
}

std::optional<ScalarExpr> parse_constant(std::string_view number, bool negative) {
  // The suffix starts at the first letter that is not an exponent's.
  constexpr std::string_view decimal = "0123456789";
  std::size_t end = number.find_first_not_of("0123456789.");
  if (end < number.size() - 1 && (number[end] == 'e' || number[end] == 'E')) {
    const bool sign = number[end + 1] == '+' || number[end + 1] == '-';
    end = number.find_first_not_of(decimal, end + (sign ? 2 : 1));
  }
  const std::string_view digits = number.substr(0, end);
  const std::string_view suffix = end < number.size() ? number.substr(end) : std::string_view();
  const bool fraction = digits.find_first_of(".eE") != digits.npos;
  const auto type = suffix.empty() ? std::optional(fraction ? ElementType::f64 : ElementType::i32) : parse_type(suffix);
  if (!type || *type == ElementType::boolean) return std::nullopt;
  if (*type == ElementType::f64) {
    const auto value = parse_float<double>(digits);
    if (!value) return std::nullopt;
    return ScalarExpr::real(negative ? -*value : *value, *type);
  }
  if (*type == ElementType::f32) {
    const auto value = parse_float<float>(digits);
    if (!value) return std::nullopt;
    return ScalarExpr::real(negative ? -*value : *value, *type);
  }
  const auto magnitude = fraction ? std::nullopt : parse_unsigned(digits);
  if (!magnitude) return std::nullopt;
  const bool is_signed = info(*type).kind == TypeKind::Signed;
  if (is_signed && *magnitude > (std::uint64_t{1} << 63) - (negative ? 0 : 1)) return std::nullopt;
  if (!is_signed && negative && *magnitude != 0) return std::nullopt;
  const auto value = static_cast<std::int64_t>(negative ? 0 - *magnitude : *magnitude);
  ScalarExpr constant = ScalarExpr::integer(value, *type);
  if (constant.integer_value() != value) return std::nullopt;
  return constant;
}

std::optional<std::uint64_t> parse_unsigned(std::string_view number) {
  int base = 10;
  if (number.starts_with("0x")) {
    base = 16;
    number.remove_prefix(2);
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value, base);
  if (error != std::errc() || end != number.data() + number.size()) return std::nullopt;
  return value;
}

std::string hex_text(std::uint64_t value) {
  std::array<char, 16> buffer;
  return "0x" + std::string(buffer.begin(), std::to_chars(buffer.begin(), buffer.end(), value, 16).ptr);
}

}  // namespace sous::sdfg
