#include "frontends/c/mentions.h"

#include <algorithm>
#include <optional>
#include <set>

#include "clang/AST/Attr.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/AST/StmtOpenMP.h"
#include "clang/Basic/Builtins.h"
#include "frontends/c/ast.h"
#include "sdfg/planted_fault.h"

namespace sous::frontends::c {

namespace {

using Kind = Mention::Kind;
using Body = MentionedBody;

constexpr int deepest = 500;

// The definition that a call surely runs: of an exported function another one may be what is linked or loaded.
const clang::FunctionDecl* definition_of(const clang::CallExpr* call) {
  const clang::FunctionDecl* callee = call->getDirectCallee();
  const clang::FunctionDecl* f = callee ? callee->getDefinition() : nullptr;
  if (!f || f->isExternallyVisible() || f->isMultiVersion() || f->hasAttr<clang::NakedAttr>()) return nullptr;
  return f->isVariadic() || f->getNumParams() != call->getNumArgs() ? nullptr : f;
}

bool is_null(const clang::Expr* e, clang::ASTContext& context) {
  return e->isNullPointerConstant(context, clang::Expr::NPC_ValueDependentIsNotNull) != clang::Expr::NPCK_NotNull;
}

bool is_zero(const clang::Expr* e, const clang::ASTContext& context) {
  const auto value = constant_value(e, context);
  return value && *value == 0;
}

class Classifier {
 public:
  // `trusts_definitions`: no assembly or alias in the file says otherwise what a call runs.
  Classifier(const Body& body, clang::ASTContext& context, bool trusts_definitions)
      : body_(body), context_(context), trusts_definitions_(trusts_definitions) {}

  Mention mention(const clang::DeclRefExpr* place) const {
    Mention m{.place = place};
    if (!body_.has_a_place(place)) return m;
    const auto* v = llvm::cast<clang::VarDecl>(place->getDecl());
    if (unevaluated(place)) {
      m.kind = Kind::Nothing;
    } else if (v->getType()->isArrayType()) {
      array(place, m);
    } else if (v->getType()->isPointerType()) {
      const auto* load = llvm::dyn_cast_or_null<clang::ImplicitCastExpr>(body_.above_parentheses(place));
      if (load && load->getCastKind() == clang::CK_LValueToRValue) pointer(load, true, m);
    }
    return m;
  }

 private:
  // Inside of sizeof, but for the sizes of variable-length arrays, which are computed.
  bool unevaluated(const clang::Stmt* s) const {
    const clang::Stmt* direct = body_.above_parentheses(s);
    for (const clang::Stmt* up = direct; up; up = body_.above(up)) {
      const auto* trait = llvm::dyn_cast<clang::UnaryExprOrTypeTraitExpr>(up);
      if (!trait) continue;
      if (trait == direct || !trait->getTypeOfArgument()->isVariablyModifiedType()) return true;
    }
    return false;
  }

  // `e` is an array, or a row of one.
  void array(const clang::Expr* e, Mention& m) const {
    const auto* decay = llvm::dyn_cast_or_null<clang::ImplicitCastExpr>(body_.above_parentheses(e));
    if (decay && decay->getCastKind() == clang::CK_ArrayToPointerDecay) pointer(decay, true, m);
  }

  // `e` is the address of an element; `start`: of the first one.
  void pointer(const clang::Expr* e, bool start, Mention& m) const {
    const clang::Stmt* up = body_.above_parentheses(e);
    if (!up) return;
    const auto is = [&](const clang::Stmt* s) { return strip(s) == e; };
    if (const auto* cast = llvm::dyn_cast<clang::ImplicitCastExpr>(up)) {
      if (cast->getCastKind() == clang::CK_NoOp || cast->getCastKind() == clang::CK_BitCast)
        return pointer(cast, start, m);
      if (cast->getCastKind() == clang::CK_PointerToBoolean) m.kind = Kind::Nothing;
    } else if (const auto* cast = llvm::dyn_cast<clang::CStyleCastExpr>(up)) {
      if (cast->getCastKind() == clang::CK_ToVoid) m.kind = Kind::Nothing;
    } else if (const auto* subscript = llvm::dyn_cast<clang::ArraySubscriptExpr>(up)) {
      element(subscript, start && is_zero(subscript->getIdx(), context_), m);
    } else if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(up)) {
      if (u->getOpcode() == clang::UO_Deref) element(u, start, m);
      if (u->getOpcode() == clang::UO_LNot) m.kind = Kind::Nothing;
    } else if (const auto* b = llvm::dyn_cast<clang::BinaryOperator>(up)) {
      if (b->isAdditiveOp() && b->getType()->isPointerType()) pointer(b, false, m);
      const clang::Expr* other = is(b->getLHS()) ? b->getRHS() : b->getLHS();
      if (b->isLogicalOp() || (b->isEqualityOp() && is_null(other, context_))) m.kind = Kind::Nothing;
    } else if (const auto* i = llvm::dyn_cast<clang::IfStmt>(up)) {
      if (is(i->getCond())) m.kind = Kind::Nothing;
    } else if (const auto* c = llvm::dyn_cast<clang::ConditionalOperator>(up)) {
      if (is(c->getCond())) m.kind = Kind::Nothing;
    } else if (const auto* call = llvm::dyn_cast<clang::CallExpr>(up)) {
      argument(call, e, start, m);
    }
  }

  static const clang::Stmt* strip(const clang::Stmt* s) {
    const auto* e = llvm::dyn_cast_or_null<clang::Expr>(s);
    return e ? e->IgnoreParens() : s;
  }

  void argument(const clang::CallExpr* call, const clang::Expr* e, bool start, Mention& m) const {
    std::optional<unsigned> at;
    for (unsigned k = 0; k < call->getNumArgs(); ++k)
      if (strip(call->getArg(k)) == e) at = k;
    if (!at) return;
    const clang::FunctionDecl* f = trusts_definitions_ ? definition_of(call) : nullptr;
    if (planted(Fault::escape_through_call_ignored) && !f) m.kind = Kind::Nothing;
    if (f) {
      const clang::ParmVarDecl* p = f->getParamDecl(*at);
      if (!start || !p->getType()->isPointerType()) return;
      m = {.place = m.place, .kind = Kind::Passed, .call = call, .parameter = p};
      return;
    }
    const clang::FunctionDecl* callee = call->getDirectCallee();
    if (!callee || callee->getDefinition() || call->getNumArgs() == 0) return;
    const unsigned id = callee->getBuiltinID();
    if (id == clang::Builtin::BIfree) m.kind = Kind::Nothing;
    // What these return is the address once more: it must not be used, nor be the value of a block (`({ … })`).
    const clang::Stmt* user = body_.above_parentheses(call);
    if (!llvm::isa_and_nonnull<clang::CompoundStmt, clang::ForStmt, clang::IfStmt>(user)) return;
    if (llvm::isa_and_nonnull<clang::StmtExpr>(body_.above(user))) return;
    const bool copies = id == clang::Builtin::BImemcpy || id == clang::Builtin::BI__builtin_memcpy ||
                        id == clang::Builtin::BImemmove || id == clang::Builtin::BI__builtin_memmove;
    if (copies) m.kind = *at == 0 ? Kind::Write : Kind::Read;
    if (id == clang::Builtin::BImemset || id == clang::Builtin::BI__builtin_memset) m.kind = Kind::Write;
    m.writes = m.kind == Kind::Write;
  }

  // `e` is an element, or a row of them.
  void element(const clang::Expr* e, bool start, Mention& m) const {
    const clang::Stmt* up = body_.above_parentheses(e);
    if (!up) return;
    const auto* u = llvm::dyn_cast<clang::UnaryOperator>(up);
    if (u && u->getOpcode() == clang::UO_AddrOf) {
      if (start && !e->getType()->isArrayType()) pointer(u, true, m);
      return;
    }
    if (e->getType()->isArrayType()) {
      const auto* decay = llvm::dyn_cast<clang::ImplicitCastExpr>(up);
      if (decay && decay->getCastKind() == clang::CK_ArrayToPointerDecay) pointer(decay, start, m);
      return;
    }
    if (e->getType().isVolatileQualified()) return;
    if (const auto* load = llvm::dyn_cast<clang::ImplicitCastExpr>(up)) {
      if (load->getCastKind() == clang::CK_LValueToRValue) m.kind = Kind::Read;
    } else if (u && u->isIncrementDecrementOp()) {
      m.kind = Kind::Read;
      m.writes = true;
    } else if (const auto* b = llvm::dyn_cast<clang::BinaryOperator>(up); b && b->isAssignmentOp()) {
      if (strip(b->getLHS()) != e) return;
      m.kind = b->getOpcode() == clang::BO_Assign ? Kind::Write : Kind::Read;
      m.writes = true;
    }
  }

  const Body& body_;
  clang::ASTContext& context_;
  bool trusts_definitions_;
};

// Every mention of a variable below a declaration, also those that are no children of a statement: in types, in
// clauses.
class Mentioned : public clang::RecursiveASTVisitor<Mentioned> {
 public:
  bool VisitDeclRefExpr(clang::DeclRefExpr* e) {
    if (llvm::isa<clang::VarDecl>(e->getDecl())) places.push_back(e);
    return true;
  }
  std::vector<const clang::DeclRefExpr*> places;
};

void walk(Body& b, const clang::Stmt* s, const clang::Stmt* parent, int depth) {
  if (!s) return;
  b.deepest = std::max(b.deepest, depth);
  if (!b.parent.emplace(s, parent).second) {
    b.shared.insert(s);
    return;
  }
  b.jumps = b.jumps || llvm::isa<clang::LabelStmt, clang::IndirectGotoStmt>(s);
  if (const auto* d = llvm::dyn_cast<clang::DeclStmt>(s))
    for (const clang::Decl* decl : d->decls())
      if (const auto* v = llvm::dyn_cast<clang::VarDecl>(decl)) b.declared[v] = s;
  if (const auto* captured = llvm::dyn_cast<clang::CapturedStmt>(s))
    return walk(b, captured->getCapturedStmt(), s, depth + 1);
  for (const clang::Stmt* child : s->children()) walk(b, child, s, depth + 1);
}

}  // namespace

const clang::VarDecl* canonical(const clang::VarDecl* v) { return v->hasGlobalStorage() ? v->getCanonicalDecl() : v; }

MentionedBody mentions_in(const clang::FunctionDecl* f, clang::ASTContext& context, bool trusts_definitions) {
  Body b;
  walk(b, f->getBody(), nullptr, 0);
  Mentioned all;
  all.TraverseDecl(const_cast<clang::FunctionDecl*>(f));  // NOLINT: the visitor changes nothing
  const Classifier classifier(b, context, trusts_definitions);
  std::set<const clang::DeclRefExpr*> seen;
  for (const clang::DeclRefExpr* place : all.places) {
    const auto* v = llvm::cast<clang::VarDecl>(place->getDecl());
    if ((!v->getType()->isArrayType() && !v->getType()->isPointerType()) || !seen.insert(place).second) continue;
    // Each question walks up from a mention.
    b.mentions[canonical(v)].push_back(b.deepest > deepest ? Mention{.place = place} : classifier.mention(place));
  }
  return b;
}
}  // namespace sous::frontends::c
