// What C's compilers contract: a product and the sum that uses it, inside one expression only (C17 6.5, FP_CONTRACT):
// one rounding for two. So whoever moves a product of another statement, or of a call, into an expression makes it
// `uncontracted` there.
#pragma once

#include <utility>

#include "sdfg/scalar_expr.h"

namespace sous::sdfg {

// a*b, or -(a*b), of floating point.
inline bool is_product(const ScalarExpr& code) {
  if (code.op == ScalarOp::neg) return is_product(code.args[0]);
  return code.op == ScalarOp::mul && is_float(code.type);
}

// The value of a statement, or a call, as an operand elsewhere.
inline ScalarExpr kept_apart(ScalarExpr code) {
  return is_product(code) ? ScalarExpr::unary(ScalarOp::uncontracted, std::move(code)) : code;
}

}  // namespace sous::sdfg
