// What is particular about the functions of math.h.
#pragma once

#include <algorithm>
#include <iterator>

#include "sdfg/scalar_expr.h"

namespace sous::sdfg {

// Whether evaluating it may set errno (C17 7.12.1; -fmath-errno).
inline bool sets_errno(const ScalarExpr& code) {
  // Of the functions of math.h, which stand last, all but these.
  constexpr ScalarOp never[] = {ScalarOp::fabs,  ScalarOp::cbrt,     ScalarOp::floor, ScalarOp::ceil,
                                ScalarOp::trunc, ScalarOp::round,    ScalarOp::rint,  ScalarOp::fmin,
                                ScalarOp::fmax,  ScalarOp::copysign, ScalarOp::fma};
  bool found = false;
  code.visit([&](const ScalarExpr& e) {
    found = found || (e.op >= ScalarOp::fabs && std::ranges::find(never, e.op) == std::end(never));
  });
  return found;
}

}  // namespace sous::sdfg
