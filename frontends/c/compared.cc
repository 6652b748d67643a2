#include "frontends/c/compared.h"

namespace sous::frontends::c {

std::optional<Compared> compared(const clang::Expr* condition) {
  const auto is_signed = [](const clang::Expr* e) { return e->getType()->isSignedIntegerOrEnumerationType(); };
  const clang::Expr* e = condition->IgnoreParens();
  bool holds = true;
  for (const clang::UnaryOperator* no = nullptr;
       (no = llvm::dyn_cast<clang::UnaryOperator>(e)) && no->getOpcode() == clang::UO_LNot; holds = !holds)
    e = no->getSubExpr()->IgnoreParens();
  const auto* test = llvm::dyn_cast<clang::BinaryOperator>(e);
  if (test && test->isComparisonOp()) {
    if (!is_signed(test->getLHS())) return std::nullopt;
    const auto op = holds ? test->getOpcode() : clang::BinaryOperator::negateComparisonOp(test->getOpcode());
    return Compared{op, test->getLHS(), test->getRHS()};
  }
  if (!is_signed(e) || (test && test->isLogicalOp())) return std::nullopt;
  return Compared{holds ? clang::BO_NE : clang::BO_EQ, e, nullptr};
}

}  // namespace sous::frontends::c
