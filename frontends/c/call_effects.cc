#include "frontends/c/call_effects.h"

#include <algorithm>
#include <map>

#include "frontends/c/ast.h"
#include "frontends/c/memory_functions.h"

namespace sous::frontends::c {

namespace {

constexpr int kDeepest = 8;

// Where what an lvalue names, or a pointer leads to, lies: in the function's own variables, behind a parameter, or
// elsewhere.
Writes place_of(const clang::Expr* e, const clang::FunctionDecl* f) {
  e = e->IgnoreParens();
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(e)) {
    if (cast->getCastKind() != clang::CK_LValueToRValue) return place_of(cast->getSubExpr(), f);
    const auto* v = llvm::dyn_cast_or_null<clang::ParmVarDecl>(named_variable(cast->getSubExpr()));
    return v && v->getDeclContext() == f ? Writes::ThroughParameters : Writes::Anything;
  }
  if (const auto* ref = llvm::dyn_cast<clang::DeclRefExpr>(e)) {
    const auto* v = llvm::dyn_cast<clang::VarDecl>(ref->getDecl());
    return v && v->hasLocalStorage() && v->getDeclContext() == f ? Writes::OwnVariables : Writes::Anything;
  }
  if (const auto* m = llvm::dyn_cast<clang::MemberExpr>(e)) return place_of(m->getBase(), f);
  if (const auto* s = llvm::dyn_cast<clang::ArraySubscriptExpr>(e)) return place_of(s->getBase(), f);
  if (const auto* b = llvm::dyn_cast<clang::BinaryOperator>(e); b && b->isAdditiveOp())
    return place_of(b->getLHS()->getType()->isPointerType() ? b->getLHS() : b->getRHS(), f);
  const auto* u = llvm::dyn_cast<clang::UnaryOperator>(e);
  const bool leads = u && (u->getOpcode() == clang::UO_Deref || u->getOpcode() == clang::UO_AddrOf);
  return leads ? place_of(u->getSubExpr(), f) : Writes::Anything;
}

// Of a function and what it calls, each looked into once: parsers call each other in circles.
class Called {
 public:
  Writes of(const clang::FunctionDecl* f, int depth) {
    // One that is being looked into, and may call itself, is worst.
    const auto [known, is_new] = known_.try_emplace(f, Writes::Anything);
    if (!is_new || depth >= kDeepest) return known->second;
    const Writes found = of(f->getBody(), f, depth);
    return known_[f] = found;
  }

 private:
  Writes of(const clang::CallExpr* call, const clang::FunctionDecl* f, int depth) {
    if (memory_function(call)) return place_of(call->getArg(0), f);
    const clang::FunctionDecl* callee = call->getDirectCallee();
    const clang::FunctionDecl* definition = nullptr;
    if (!callee || !callee->hasBody(definition)) return Writes::OwnVariables;  // of math.h; others are not built
    const Writes inner = of(definition, depth + 1);
    if (inner != Writes::ThroughParameters) return inner;
    Writes worst = Writes::OwnVariables;
    for (const clang::Expr* argument : call->arguments())
      if (argument->getType()->isPointerType()) worst = std::max(worst, place_of(argument, f));
    return worst;
  }

  Writes of(const clang::Stmt* s, const clang::FunctionDecl* f, int depth) {
    if (!s) return Writes::OwnVariables;
    const clang::Expr* target = nullptr;
    if (const auto* b = llvm::dyn_cast<clang::BinaryOperator>(s); b && b->isAssignmentOp()) target = b->getLHS();
    if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(s); u && u->isIncrementDecrementOp())
      target = u->getSubExpr();
    Writes worst = target ? place_of(target, f) : Writes::OwnVariables;
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(s)) worst = std::max(worst, of(call, f, depth));
    for (const clang::Stmt* child : s->children()) {
      if (worst == Writes::Anything) break;
      worst = std::max(worst, of(child, f, depth));
    }
    return worst;
  }

  std::map<const clang::FunctionDecl*, Writes> known_;
};

}  // namespace

Writes writes_of(const clang::FunctionDecl* f) { return Called().of(f, 0); }

}  // namespace sous::frontends::c
