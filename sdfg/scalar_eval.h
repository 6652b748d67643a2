// Values of scalar expressions, one at a time: the arithmetic of the interpreter.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "sdfg/result.h"
#include "sdfg/scalar_bits.h"
#include "sdfg/scalar_expr.h"
#include "sdfg/sdfg.h"

namespace sous::sdfg {

// The value of `code`; inputs[k] is that of input k, in its own type.
// Errors: interp.division, interp.shift, interp.cast-range, interp.expr (a symbolic leaf that cannot be evaluated).
Result<std::uint64_t> evaluate(const ScalarExpr& code, std::span<const std::uint64_t> inputs,
                               const std::map<std::string, std::int64_t>& symbols);

// `accumulator op value`, as a combining memlet does it.
std::uint64_t combine(ReductionOp op, ElementType type, std::uint64_t accumulator, std::uint64_t value);

}  // namespace sous::sdfg
