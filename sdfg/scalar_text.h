// What the printer and the parser of scalar expressions share: precedence, the type that a node has when none is
// written, constants.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sdfg/scalar_expr.h"

namespace sous::sdfg {

// Binding strength of an infix operator, C's own; 0 for whatever is not one.
int precedence(ScalarOp op);

// The type of `op` over these arguments by the rules of scalar_expr.h. Needs as many arguments as the operator has;
// nullopt for leaves and casts, whose type is always written.
std::optional<ElementType> natural_type(ScalarOp op, const std::vector<ScalarExpr>& args);

// A constant, lossless: "1.5" (f64), "1.5f32", "3" (i32), "3u8", "true", "-inf(f64)", "nan(f64)"; bit patterns that
// these do not reach: "bits(f64, 0x7ff0000000000001)".
std::string constant_text(const ScalarExpr& constant);

// The constant that a number token (no hexadecimal) denotes; nullopt if it has none: a suffix that is no type, a value
// that the type does not hold.
std::optional<ScalarExpr> parse_constant(std::string_view number, bool negative);

// "0x1f" or "31"
std::optional<std::uint64_t> parse_unsigned(std::string_view number);
std::string hex_text(std::uint64_t value);

}  // namespace sous::sdfg
