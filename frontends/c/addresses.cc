#include "frontends/c/addresses.h"

#include <functional>
#include <map>

#include "frontends/c/ast.h"
#include "sdfg/planted_fault.h"

namespace sous::frontends::c {

const clang::VarDecl* object_of(const clang::Expr* lvalue) {
  while (lvalue) {
    lvalue = lvalue->IgnoreParens();
    const clang::Expr* pointer = nullptr;
    if (const auto* m = llvm::dyn_cast<clang::MemberExpr>(lvalue)) {
      if (!m->isArrow()) {
        lvalue = m->getBase();
        continue;
      }
      pointer = m->getBase();
    } else if (const auto* x = llvm::dyn_cast<clang::ArraySubscriptExpr>(lvalue)) {
      pointer = x->getBase();
    } else if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(lvalue)) {
      if (u->getOpcode() == clang::UO_Real || u->getOpcode() == clang::UO_Imag) {
        lvalue = u->getSubExpr();
        continue;
      }
      if (u->getOpcode() == clang::UO_Deref) pointer = u->getSubExpr();
    }
    if (!pointer) return named_variable(lvalue);
    pointer = pointer->IgnoreParenImpCasts();
    lvalue = pointer->getType()->isArrayType() ? pointer : nullptr;
  }
  return nullptr;
}

void escaping_addresses(const clang::Stmt* s, std::set<const clang::VarDecl*>& found) {
  if (!s) return;
  if (const auto* captured = llvm::dyn_cast<clang::CapturedStmt>(s))
    return escaping_addresses(captured->getCapturedStmt(), found);
  const clang::Expr* base = nullptr;
  if (const auto* subscript = llvm::dyn_cast<clang::ArraySubscriptExpr>(s)) base = subscript->getBase();
  if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(s); u && u->getOpcode() == clang::UO_Deref)
    base = u->getSubExpr();
  if (base) {
    // a[i], a[i][j]: the decay below is part of the access.
    const clang::Expr* inner = base->IgnoreParenImpCasts();
    for (const clang::Stmt* child : s->children())
      if (child != base) escaping_addresses(child, found);
    if (!llvm::isa<clang::DeclRefExpr>(inner)) escaping_addresses(inner, found);
    return;
  }
  const auto* cast = llvm::dyn_cast<clang::ImplicitCastExpr>(s);
  const auto* u = llvm::dyn_cast<clang::UnaryOperator>(s);
  const clang::Expr* addressed = cast && cast->getCastKind() == clang::CK_ArrayToPointerDecay ? cast->getSubExpr()
                                 : u && u->getOpcode() == clang::UO_AddrOf                    ? u->getSubExpr()
                                                                                              : nullptr;
  if (const clang::VarDecl* v = addressed ? object_of(addressed) : nullptr) found.insert(v);
  for (const clang::Stmt* child : s->children()) escaping_addresses(child, found);
}

std::set<const clang::VarDecl*> followed_parameters(const clang::FunctionDecl* function) {
  std::map<const clang::VarDecl*, int> mentions;  // less those that are followed
  // The variable that a pointer expression starts from, offsets aside.
  const std::function<const clang::VarDecl*(const clang::Expr*)> start =
      [&](const clang::Expr* e) -> const clang::VarDecl* {
    e = e->IgnoreParenImpCasts();
    if (const auto* b = llvm::dyn_cast<clang::BinaryOperator>(e); b && b->isAdditiveOp())
      return start(b->getLHS()->getType()->isPointerType() ? b->getLHS() : b->getRHS());
    return named_variable(e);
  };
  for_each_statement(function->getBody(), [&](const clang::Stmt* s) {
    if (const auto* ref = llvm::dyn_cast<clang::DeclRefExpr>(s))
      if (const auto* v = llvm::dyn_cast<clang::VarDecl>(ref->getDecl())) ++mentions[v];
    const clang::Expr* base = nullptr;
    if (const auto* x = llvm::dyn_cast<clang::ArraySubscriptExpr>(s)) base = x->getBase();
    if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(s); u && u->getOpcode() == clang::UO_Deref)
      base = u->getSubExpr();
    // An array that is pointed to decays again.
    if (!base || !llvm::cast<clang::Expr>(s)->getType()->isScalarType()) return;
    if (const clang::VarDecl* v = start(base)) --mentions[v];
  });
  // & of an element is the address again.
  for_each_statement(function->getBody(), [&](const clang::Stmt* s) {
    const auto* u = llvm::dyn_cast<clang::UnaryOperator>(s);
    if (!u || u->getOpcode() != clang::UO_AddrOf) return;
    for_each_statement(u->getSubExpr(), [&](const clang::Stmt* x) {
      if (const auto* ref = llvm::dyn_cast<clang::DeclRefExpr>(x))
        if (const auto* v = llvm::dyn_cast<clang::VarDecl>(ref->getDecl())) ++mentions[v];
    });
  });
  std::set<const clang::VarDecl*> result;
  for (const clang::ParmVarDecl* p : function->parameters())
    if (p->getType()->isPointerType() && (mentions[p] <= 0 || planted(Fault::based_pointer_ignored))) result.insert(p);
  return result;
}

}  // namespace sous::frontends::c
