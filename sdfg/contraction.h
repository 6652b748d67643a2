// What C's compilers contract: a product and the sum that uses it, inside one expression only (C17 6.5, FP_CONTRACT).
// So whoever moves expressions keeps a product of another statement, or of a call, out of them.
#pragma once

#include "sdfg/scalar_expr.h"

namespace sous::sdfg {

// a*b, or -(a*b), of floating point.
inline bool is_product(const ScalarExpr& code) {
  if (code.op == ScalarOp::neg) return is_product(code.args[0]);
  return code.op == ScalarOp::mul && is_float(code.type);
}

}  // namespace sous::sdfg
