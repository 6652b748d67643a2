#include "frontends/c/read_before.h"

#include <algorithm>

#include "clang/AST/Attr.h"
#include "clang/AST/ExprCXX.h"
#include "frontends/c/ast.h"
#include "sdfg/planted_fault.h"

namespace sous::frontends::c {

const clang::VarDecl* pointer_to(const clang::Expr* e) {
  e = e->IgnoreParens();
  const clang::Expr* pointer = nullptr;
  if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(e); u && u->getOpcode() == clang::UO_Deref)
    pointer = u->getSubExpr()->IgnoreParens();
  if (const auto* s = llvm::dyn_cast<clang::ArraySubscriptExpr>(e))
    if (const auto* at = llvm::dyn_cast<clang::IntegerLiteral>(s->getIdx()->IgnoreParenImpCasts());
        at && at->getValue().isZero())
      pointer = s->getBase()->IgnoreParens();
  const auto* load = llvm::dyn_cast_or_null<clang::CastExpr>(pointer);
  return load && load->getCastKind() == clang::CK_LValueToRValue ? named_variable(load->getSubExpr()) : nullptr;
}

namespace {

using clang::BinaryOperator;
using clang::Expr;
using clang::Stmt;

// p of `*p`, `p->m` and `p->m.k`.
const clang::VarDecl* pointer_of(const Expr* object) {
  object = object->IgnoreParens();
  if (const clang::VarDecl* v = pointer_to(object)) return v;
  const auto* m = llvm::dyn_cast<clang::MemberExpr>(object);
  if (m == nullptr || !llvm::isa<clang::FieldDecl>(m->getMemberDecl())) return nullptr;
  if (!m->isArrow()) return pointer_of(m->getBase());
  const auto* load = llvm::dyn_cast<clang::CastExpr>(m->getBase()->IgnoreParens());
  return load && load->getCastKind() == clang::CK_LValueToRValue ? named_variable(load->getSubExpr()) : nullptr;
}

bool any_of(const Stmt* s, bool (*is)(const Stmt*)) {
  return s != nullptr &&
         (is(s) || std::ranges::any_of(s->children(), [&](const Stmt* child) { return any_of(child, is); }));
}

// May give memory back.
bool calls(const Stmt* s) {
  if (planted(Fault::calls_give_nothing_back)) return false;
  return any_of(s, [](const Stmt* x) {
    const auto* call = llvm::dyn_cast<clang::CallExpr>(x);
    if (call == nullptr) return llvm::isa<clang::AsmStmt>(x);
    const clang::FunctionDecl* f = call->getDirectCallee();
    return f == nullptr || (!f->hasAttr<clang::ConstAttr>() && !f->hasAttr<clang::PureAttr>());
  });
}

// Control may come from elsewhere.
bool has_label(const Stmt* s) {
  return any_of(s, [](const Stmt* x) { return llvm::isa<clang::LabelStmt, clang::SwitchCase>(x); });
}

bool never_ends(const Stmt* s) {
  if (const auto* block = llvm::dyn_cast_or_null<clang::CompoundStmt>(s))
    return !block->body_empty() && never_ends(block->body_back());
  return llvm::isa_and_nonnull<clang::ReturnStmt, clang::GotoStmt, clang::BreakStmt, clang::ContinueStmt>(s);
}

class Reads {
 public:
  explicit Reads(const std::set<const clang::VarDecl*>& written) : written_(written) {}

  // All that is evaluated whenever `s` is.
  void of(const Stmt* s) {
    if (llvm::isa_and_nonnull<clang::UnaryExprOrTypeTraitExpr, clang::StmtExpr, clang::GenericSelectionExpr,
                              clang::ChooseExpr>(s) ||
        s == nullptr)
      return;  // not evaluated, or not all of it
    if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(s); cast && cast->getCastKind() == clang::CK_LValueToRValue)
      add(cast->getSubExpr());
    const auto* b = llvm::dyn_cast<BinaryOperator>(s);
    if (b != nullptr && b->isAssignmentOp()) add(b->getLHS());
    if (b != nullptr && b->isLogicalOp()) return of(b->getLHS());
    if (const auto* choice = llvm::dyn_cast<clang::AbstractConditionalOperator>(s)) return of(choice->getCond());
    for (const Stmt* child : s->children()) of(child);
  }

  // All that is evaluated where it is known what the condition gave.
  void of_condition(const Expr* whole, bool holds) {
    const Expr* e = whole->IgnoreParenImpCasts();
    const auto* u = llvm::dyn_cast<clang::UnaryOperator>(e);
    if (u != nullptr && u->getOpcode() == clang::UO_LNot) return of_condition(u->getSubExpr(), !holds);
    const auto* b = llvm::dyn_cast<BinaryOperator>(e);
    if (b == nullptr || b->getOpcode() != (holds ? clang::BO_LAnd : clang::BO_LOr)) return of(whole);
    of_condition(b->getLHS(), holds);
    of_condition(b->getRHS(), holds);
  }

  // What has surely been evaluated behind a statement that was run to its end.
  void behind(const Stmt* s) {
    if (const auto* test = llvm::dyn_cast<clang::IfStmt>(s)) {
      if (never_ends(test->getThen())) return of_condition(test->getCond(), false);
      return of(test->getCond());
    }
    if (llvm::isa<Expr, clang::DeclStmt>(s)) return of(s);
    if (const auto* block = llvm::dyn_cast<clang::CompoundStmt>(s))
      for (const Stmt* child : block->body()) behind(child);
  }

  std::set<const clang::VarDecl*> found;

 private:
  void add(const Expr* object) {
    const clang::VarDecl* v = pointer_of(object);
    if (v != nullptr && v->hasLocalStorage() && !written_.contains(v)) found.insert(v);
  }

  const std::set<const clang::VarDecl*>& written_;
};

// Whether what was read before `s` may still be read behind it. Of an `if` whose branch goes elsewhere, only what
// stays counts.
bool leaves_alone(const Stmt* s) {
  if (has_label(s)) return false;
  const auto* test = llvm::dyn_cast<clang::IfStmt>(s);
  if (test == nullptr || !never_ends(test->getThen())) return !calls(s);
  return !calls(test->getCond()) && !calls(test->getElse());
}

}  // namespace

std::set<const clang::VarDecl*> read_before(const Stmt* s, const MentionedBody& body,
                                            const std::set<const clang::VarDecl*>& written) {
  Reads reads(written);
  for (const Stmt* up = body.above(s); up != nullptr; s = up, up = body.above(up)) {
    if (const auto* block = llvm::dyn_cast<clang::CompoundStmt>(up)) {
      for (auto before = std::find(block->body_begin(), block->body_end(), s); before != block->body_begin();) {
        if (!leaves_alone(*--before)) return reads.found;
        reads.behind(*before);
      }
    } else if (const auto* test = llvm::dyn_cast<clang::IfStmt>(up)) {
      if (test->getInit() || test->getConditionVariable() || calls(test->getCond())) return reads.found;
      reads.of_condition(test->getCond(), s == test->getThen());
    } else if (has_label(up) || calls(up)) {
      return reads.found;  // a loop, whose other iterations come before this one; a switch
    }
  }
  return reads.found;
}

}  // namespace sous::frontends::c
