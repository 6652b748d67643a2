// Which variables statements assign to, what values they have where a run of statements begins, and how it uses them.
#include <algorithm>
#include <functional>

#include "clang/AST/Attr.h"
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

std::set<const clang::VarDecl*> size_variables(clang::QualType type, const clang::ASTContext& context) {
  if (const auto* p = type->getAs<clang::PointerType>()) return size_variables(p->getPointeeType(), context);
  const clang::ArrayType* array = context.getAsArrayType(type);
  if (!array) return {};
  std::set<const clang::VarDecl*> found = size_variables(array->getElementType(), context);
  if (const auto* vla = llvm::dyn_cast<clang::VariableArrayType>(array))
    found.merge(named_variables(vla->getSizeExpr()));
  return found;
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

struct Jumps {
  bool breaks = false, continues = false;
};

// Whether `s` may be left by one of `jumps`, to what is around it.
bool leaves_by(const clang::Stmt* s, Jumps jumps) {
  if (!s) return false;
  if (llvm::isa<clang::BreakStmt>(s)) return jumps.breaks;
  if (llvm::isa<clang::ContinueStmt>(s)) return jumps.continues;
  if (llvm::isa<clang::ForStmt, clang::WhileStmt, clang::DoStmt>(s)) return false;
  if (llvm::isa<clang::SwitchStmt>(s)) jumps.breaks = false;
  return std::ranges::any_of(s->children(), [&](const clang::Stmt* child) { return leaves_by(child, jumps); });
}

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
  if (const auto* c = llvm::dyn_cast<clang::BinaryConditionalOperator>(s))  // a ?: b
    return then(of(c->getCommon()), [&] { return perhaps(of(c->getFalseExpr())); });
  const auto sizes = [&](clang::QualType type) {
    return size_variables(type, context).contains(v) ? Use::Exposed : Use::None;
  };
  if (const auto* d = llvm::dyn_cast<clang::DeclStmt>(s)) {
    Use use = Use::None;
    for (const clang::Decl* decl : d->decls()) {
      if (const auto* type = llvm::dyn_cast<clang::TypedefNameDecl>(decl))
        use = then(use, [&] { return sizes(type->getUnderlyingType()); });
      const auto* var = llvm::dyn_cast<clang::VarDecl>(decl);
      if (!var) continue;
      use = then(use, [&] { return sizes(var->getType()); });
      if (var->hasInit()) use = then(use, [&] { return of(var->getInit()); });
      // A declaration makes a new object: what it was before cannot be read.
      if (var == v) use = then(use, [] { return Use::Written; });
    }
    return use;
  }
  if (const auto* c = llvm::dyn_cast<clang::ExplicitCastExpr>(s))
    return then(sizes(c->getTypeAsWritten()), [&] { return of(c->getSubExpr()); });
  if (const auto* g = llvm::dyn_cast<clang::GenericSelectionExpr>(s)) return of(g->getResultExpr());
  if (const auto* c = llvm::dyn_cast<clang::ChooseExpr>(s)) return of(c->getChosenSubExpr());
  if (const auto* i = llvm::dyn_cast<clang::IfStmt>(s))
    return then(of(i->getCond()), [&] { return either(of(i->getThen()), of(i->getElse())); });
  if (const auto* f = llvm::dyn_cast<clang::ForStmt>(s))
    return then(of(f->getInit()), [&] {
      return then(of(f->getCond()), [&] { return perhaps(then(of(f->getBody()), [&] { return of(f->getInc()); })); });
    });
  if (const auto* w = llvm::dyn_cast<clang::WhileStmt>(s))
    return then(of(w->getCond()), [&] { return perhaps(of(w->getBody())); });
  if (const auto* d = llvm::dyn_cast<clang::DoStmt>(s)) {
    // A continue or break may leave the body before a write in it, and a break passes the condition by.
    const bool always = !leaves_by(d->getBody(), {.breaks = true, .continues = false});
    return then(perhaps(of(d->getBody())), [&] { return always ? of(d->getCond()) : perhaps(of(d->getCond())); });
  }
  if (llvm::isa<clang::SwitchStmt, clang::LabelStmt, clang::GotoStmt, clang::IndirectGotoStmt, clang::AsmStmt,
                clang::OMPExecutableDirective, clang::StmtExpr>(s))
    return named_variables(s).contains(v) ? Use::Exposed : Use::None;
  // sizeof evaluates nothing unless its operand is a variable-length array; of a builtin's arguments some are for the
  // compiler only (__builtin_constant_p, __builtin_assume).
  const auto* call = llvm::dyn_cast<clang::CallExpr>(s);
  const bool evaluated = !llvm::isa<clang::UnaryExprOrTypeTraitExpr>(s) && !(call && call->getBuiltinCallee() != 0);
  // Behind a jump, a write covers the reads that follow it; but the sequence as a whole may have been left before it.
  Use use = Use::None;
  bool jumped = false;
  for (const clang::Stmt* child : s->children()) {
    use = of(child);
    if (use == Use::Exposed || (use == Use::Written && evaluated)) return jumped ? perhaps(use) : use;
    for_each_statement(child, [&](const clang::Stmt* x) {
      jumped = jumped || llvm::isa<clang::ContinueStmt, clang::BreakStmt, clang::ReturnStmt>(x);
    });
  }
  return Use::None;
}

bool live_after(const std::vector<Frame>& frames, std::size_t next, const clang::VarDecl* v,
                const clang::ASTContext& context) {
  // Its cleanup reads it where its life ends.
  if (v->hasAttr<clang::CleanupAttr>()) return true;
  Jumps pending;  // on some way the statements that follow are not reached, up to where these jumps go
  for (std::size_t depth = frames.size(); depth-- > 0;) {
    const Frame& frame = frames[depth];
    Use use = Use::None;
    for (std::size_t k = depth + 1 == frames.size() ? next : frame.next; k < frame.list.size(); ++k) {
      use = use_of(frame.list[k], v, context);
      if (use != Use::None) break;
      pending.breaks = pending.breaks || leaves_by(frame.list[k], {.breaks = true, .continues = false});
      pending.continues = pending.continues || leaves_by(frame.list[k], {.breaks = false, .continues = true});
    }
    if (use == Use::Exposed) return true;
    if (use == Use::Written && !pending.breaks && !pending.continues) return false;
    // Round again: the rest of the loop's header, then its body from the start.
    if (const auto* loop = llvm::dyn_cast<clang::ForStmt>(frame.parent)) {
      for (const clang::Stmt* s : {static_cast<const clang::Stmt*>(loop->getInc()),
                                   static_cast<const clang::Stmt*>(loop->getCond()), loop->getBody()})
        if (use_of(s, v, context) == Use::Exposed) return true;
      pending = {};
    } else if (llvm::isa<clang::WhileStmt, clang::DoStmt, clang::SwitchStmt>(frame.parent)) {
      if (named_variables(frame.parent).contains(v)) return true;
      pending.breaks = false;
      if (!llvm::isa<clang::SwitchStmt>(frame.parent)) pending.continues = false;
    }
  }
  return false;
}

}  // namespace sous::frontends::c
