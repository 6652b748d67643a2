// What conditions on integers compare.
#pragma once

#include <optional>

#include "clang/AST/Expr.h"

namespace sous::frontends::c {

// Of signed integers: `a < b`; and `i`, which is `i != 0`, and `!i`.
struct Compared {
  clang::BinaryOperatorKind op;
  const clang::Expr* left;
  const clang::Expr* right;  // null: 0
  bool is_equality() const { return clang::BinaryOperator::isEqualityOp(op); }
};
std::optional<Compared> compared(const clang::Expr* condition);

}  // namespace sous::frontends::c
