// What is particular about the functions of math.h.
#pragma once

#include "sdfg/scalar_expr.h"

namespace sous::sdfg {

// Whether evaluating it may set errno (C17 7.12.1; -fmath-errno).
inline bool sets_errno(const ScalarExpr& code) {
  bool found = false;
  code.visit([&](const ScalarExpr& e) { found = found || info(e.op).sets_errno == SetsErrno::Yes; });
  return found;
}

}  // namespace sous::sdfg
