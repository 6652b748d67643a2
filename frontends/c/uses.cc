// Which variables statements assign to, what values they have where a run of statements begins, and how it uses them.
#include <algorithm>
#include <functional>

#include "clang/AST/StmtOpenMP.h"
#include "frontends/c/ast.h"

namespace sous::frontends::c {

std::set<const clang::VarDecl*> assigned_variables(const clang::Stmt* s) {
  std::set<const clang::VarDecl*> result;
  for_each_statement(s, [&](const clang::Stmt* x) {
    const clang::VarDecl* target = nullptr;
    if (const auto* b = llvm::dyn_cast<clang::BinaryOperator>(x); b && b->isAssignmentOp())
      target = named_variable(b->getLHS());
    if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(x); u && u->isIncrementDecrementOp())
      target = named_variable(u->getSubExpr());
    if (target) result.insert(target);
    if (const auto* assembly = llvm::dyn_cast<clang::AsmStmt>(x))
      for (unsigned k = 0; k < assembly->getNumOutputs(); ++k)
        if (const clang::VarDecl* v = named_variable(assembly->getOutputExpr(k))) result.insert(v);
  });
  return result;
}

bool keeps_bound(const clang::ForStmt* loop, const ForHeader& header) {
  std::set<const clang::VarDecl*> assigned = assigned_variables(loop->getBody());
  for (const clang::Expr* e : header.also) assigned.merge(assigned_variables(e));
  return std::ranges::none_of(named_variables(loop->getCond()),
                              [&](const clang::VarDecl* v) { return assigned.contains(v); });
}

std::map<const clang::VarDecl*, std::int64_t> constants_before(const std::vector<const clang::Stmt*>& list,
                                                               std::size_t at, const clang::ASTContext& context) {
  std::map<const clang::VarDecl*, std::int64_t> constants;
  std::set<const clang::VarDecl*> changed;  // later, to what is not known
  const auto set = [&](const clang::VarDecl* v, const clang::Expr* value) {
    const auto constant = constant_value(value, context);
    if (constant && v->hasLocalStorage() && !changed.contains(v)) constants.emplace(v, *constant);
  };
  for (std::size_t k = at; k-- > 0;) {
    bool labelled = false;
    for_each_statement(list[k], [&](const clang::Stmt* s) { labelled = labelled || llvm::isa<clang::SwitchCase>(s); });
    if (labelled) break;
    std::set<const clang::VarDecl*> here = written_variables(list[k]);
    if (const auto* d = llvm::dyn_cast<clang::DeclStmt>(list[k])) {
      for (const clang::Decl* decl : d->decls())
        if (const auto* v = llvm::dyn_cast<clang::VarDecl>(decl)) {
          if (v->hasInit() && !here.contains(v)) set(v, v->getInit());
          here.insert(v);
        }
    } else if (const auto* e = llvm::dyn_cast<clang::Expr>(list[k])) {
      const auto* assign = llvm::dyn_cast<clang::BinaryOperator>(e->IgnoreParens());
      if (assign && assign->getOpcode() == clang::BO_Assign)
        if (const clang::VarDecl* v = named_variable(assign->getLHS())) set(v, assign->getRHS());
    }
    changed.merge(here);
  }
  return constants;
}

namespace {

Use then(Use first, const std::function<Use()>& second) { return first == Use::None ? second() : first; }
Use either(Use a, Use b) {
  if (a == Use::Exposed || b == Use::Exposed) return Use::Exposed;
  return a == Use::Written && b == Use::Written ? Use::Written : Use::None;
}
// What is run perhaps: a write there does not count, a read does.
Use perhaps(Use u) { return u == Use::Exposed ? u : Use::None; }

}  // namespace

Use use_of(const clang::Stmt* s, const clang::VarDecl* v, const clang::ASTContext& context) {
  if (!s) return Use::None;
  auto of = [&](const clang::Stmt* x) { return use_of(x, v, context); };
  if (const auto* e = llvm::dyn_cast<clang::DeclRefExpr>(s)) return e->getDecl() == v ? Use::Exposed : Use::None;
  if (const auto* b = llvm::dyn_cast<clang::BinaryOperator>(s)) {
    if (b->getOpcode() == clang::BO_Assign && named_variable(b->getLHS()) == v)
      return then(of(b->getRHS()), [] { return Use::Written; });
    if (b->isLogicalOp()) return then(of(b->getLHS()), [&] { return perhaps(of(b->getRHS())); });
    if (b->isAssignmentOp()) return then(of(b->getRHS()), [&] { return of(b->getLHS()); });
  }
  if (const auto* c = llvm::dyn_cast<clang::ConditionalOperator>(s))
    return then(of(c->getCond()), [&] { return either(of(c->getTrueExpr()), of(c->getFalseExpr())); });
  if (const auto* d = llvm::dyn_cast<clang::DeclStmt>(s)) {
    Use use = Use::None;
    for (const clang::Decl* decl : d->decls())
      if (const auto* var = llvm::dyn_cast<clang::VarDecl>(decl)) {
        if (var->hasInit()) use = then(use, [&] { return of(var->getInit()); });
        if (const auto* vla = context.getAsVariableArrayType(var->getType()))
          use = then(use, [&] { return of(vla->getSizeExpr()); });
        // A declaration makes a new object: what it was before cannot be read.
        if (var == v) use = then(use, [] { return Use::Written; });
      }
    return use;
  }
  if (const auto* i = llvm::dyn_cast<clang::IfStmt>(s))
    return then(of(i->getCond()), [&] { return either(of(i->getThen()), of(i->getElse())); });
  if (const auto* f = llvm::dyn_cast<clang::ForStmt>(s))
    return then(of(f->getInit()), [&] {
      return then(of(f->getCond()), [&] { return perhaps(then(of(f->getBody()), [&] { return of(f->getInc()); })); });
    });
  if (const auto* w = llvm::dyn_cast<clang::WhileStmt>(s))
    return then(of(w->getCond()), [&] { return perhaps(of(w->getBody())); });
  if (const auto* d = llvm::dyn_cast<clang::DoStmt>(s)) {
    // A continue or break may leave the body before a write in it.
    return then(perhaps(of(d->getBody())), [&] { return of(d->getCond()); });
  }
  if (llvm::isa<clang::SwitchStmt, clang::LabelStmt, clang::GotoStmt, clang::IndirectGotoStmt, clang::AsmStmt,
                clang::OMPExecutableDirective, clang::StmtExpr>(s))
    return named_variables(s).contains(v) ? Use::Exposed : Use::None;
  // Behind a jump, a write covers the reads that follow it; but the sequence as a whole may have been left before it.
  Use use = Use::None;
  bool jumped = false;
  for (const clang::Stmt* child : s->children()) {
    use = of(child);
    if (use != Use::None) return jumped ? perhaps(use) : use;
    for_each_statement(child, [&](const clang::Stmt* x) {
      jumped = jumped || llvm::isa<clang::ContinueStmt, clang::BreakStmt, clang::ReturnStmt>(x);
    });
  }
  return use;
}

}  // namespace sous::frontends::c
