// Values of scalar expressions, one at a time: the arithmetic of the interpreter.
//
// A value is the 64 bits of a ScalarExpr constant: floats as their IEEE bits (f32 in the low half), signed integers
// sign-extended, unsigned ones zero-extended, bool 0 or 1.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "sdfg/result.h"
#include "sdfg/scalar_expr.h"
#include "sdfg/sdfg.h"

namespace sous::sdfg {

// Brings bits of any origin (a truncated result, a constant) into the form above.
std::uint64_t canonical_bits(ElementType type, std::uint64_t bits);

std::uint64_t real_bits(double value, ElementType type);  // type f32 or f64, rounded to it
double real_from_bits(std::uint64_t bits, ElementType type);

// The value of `code`; inputs[k] is that of input k, in its own type.
// Errors: interp.division, interp.shift, interp.cast-range, interp.expr (a symbolic leaf that cannot be evaluated).
Result<std::uint64_t> evaluate(const ScalarExpr& code, std::span<const std::uint64_t> inputs,
                               const std::map<std::string, std::int64_t>& symbols);

// `accumulator op value`, as a combining memlet does it.
std::uint64_t combine(ReductionOp op, ElementType type, std::uint64_t accumulator, std::uint64_t value);

}  // namespace sous::sdfg
