// Random scalar expressions that evaluate without error, whatever their inputs are.
#pragma once

#include <functional>

#include "sdfg/scalar_expr.h"
#include "tests/support/random.h"

namespace sous::tests {

// A small number of the type: integers -6 to 9 (0 to 9 if unsigned), floats in eighths.
sdfg::ScalarExpr any_constant(Random& random, sdfg::ElementType type);

// A cast that is defined for every value: floats are clamped to [-100, 100] (unsigned: [0, 100]) on the way to
// integers.
sdfg::ScalarExpr convert_value(const sdfg::ScalarExpr& value, sdfg::ElementType type);

// An expression of this type and at most this depth; `leaf` makes leaves of a wanted type.
sdfg::ScalarExpr any_value(Random& random, sdfg::ElementType type, int depth,
                           const std::function<sdfg::ScalarExpr(sdfg::ElementType)>& leaf);

}  // namespace sous::tests
