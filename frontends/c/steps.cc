// Variables that are followed: `*p++ = x[k++]`, `ix += incx`, `while (n--)`.
//
// A local pointer that the stretch changes, and a local integer that it changes inside an expression, or that says
// where memory is accessed or how long a loop runs, have no memory: their value is an expression over symbols, updated
// statement by statement. What a statement steps takes effect when the statement is done; it must be done always and
// once, and name the variable once, so that no order of evaluation matters. In a loop that only steps a variable, by
// the same amount each time, the value is that on entry plus the iterations so far times that amount (induction.cc).
// Anything else makes the value unknown, and a use of it ends the stretch; or, of an integer that may as well lie in
// memory, has the stretch tried again with it there.
#include <algorithm>

#include "frontends/c/builder.h"

namespace sous::frontends::c {

using sdfg::Expr;

namespace {

const clang::UnaryOperator* as_step(const clang::Stmt* s) {
  const auto* u = llvm::dyn_cast<clang::UnaryOperator>(s);
  return u && u->isIncrementDecrementOp() ? u : nullptr;
}

bool is_statement_of(const clang::Stmt* s, const clang::Stmt* child) {
  return llvm::isa<clang::CompoundStmt, clang::IfStmt, clang::ForStmt, clang::WhileStmt, clang::DoStmt,
                   clang::LabelStmt, clang::AttributedStmt, clang::SwitchStmt, clang::SwitchCase>(s) ||
         (llvm::isa<clang::BinaryOperator>(s) && llvm::cast<clang::BinaryOperator>(s)->isCommaOp() && child);
}

// Integers that say where memory is accessed, how long a loop runs, or what is computed from them to say so.
// `called`: the same of the functions that it has, as far as they are known; one that is being looked into has none
// yet.
using Directing = std::map<const clang::FunctionDecl*, std::optional<std::set<const clang::VarDecl*>>>;
const std::set<const clang::VarDecl*>& directing(const clang::FunctionDecl* f, Directing& called);
std::set<const clang::VarDecl*> directing(const std::vector<const clang::Stmt*>& stretch, Directing& called) {
  std::set<const clang::VarDecl*> found;
  std::vector<std::pair<const clang::VarDecl*, const clang::Expr*>> assigned;
  const auto add = [&](const clang::Stmt* s) { found.merge(named_variables(s)); };
  for (const clang::Stmt* part : stretch)
    for_each_statement(part, [&](const clang::Stmt* s) {
      if (const auto* x = llvm::dyn_cast<clang::ArraySubscriptExpr>(s)) add(x->getIdx());
      if (const auto* w = llvm::dyn_cast<clang::WhileStmt>(s)) add(w->getCond());
      if (const auto* d = llvm::dyn_cast<clang::DoStmt>(s)) add(d->getCond());
      if (const auto* f = llvm::dyn_cast<clang::ForStmt>(s)) add(f->getCond()), add(f->getInit());
      if (const auto* c = llvm::dyn_cast<clang::CallExpr>(s)) {
        const clang::FunctionDecl* f = nullptr;
        if (!c->getDirectCallee() || !c->getDirectCallee()->hasBody(f)) return;
        if (!called.contains(f)) return;
        const auto& inner = directing(f, called);
        for (unsigned k = 0; k < std::min(f->getNumParams(), c->getNumArgs()); ++k)
          if (inner.contains(f->getParamDecl(k))) add(c->getArg(k));
      }
      const auto* b = llvm::dyn_cast<clang::BinaryOperator>(s);
      if (!b) return;
      if (b->isAssignmentOp())
        if (const clang::VarDecl* v = named_variable(b->getLHS())) assigned.emplace_back(v, b->getRHS());
      if (b->getType()->isPointerType()) add(b);
    });
  for (bool more = true; more;) {
    more = false;
    for (const auto& [v, e] : assigned) {
      if (!found.contains(v)) continue;
      const std::size_t before = found.size();
      add(e);
      more = more || found.size() > before;
    }
  }
  return found;
}

const std::set<const clang::VarDecl*>& directing(const clang::FunctionDecl* f, Directing& called) {
  std::optional<std::set<const clang::VarDecl*>>& known = called.at(f);
  if (!known) {
    known.emplace();
    known = directing({f->getBody()}, called);
  }
  return *known;
}

// Variables that an expression steps while it is computed: all but `i++` as a statement of its own.
void increments_inside(const clang::Stmt* s, bool statement, std::set<const clang::VarDecl*>& found) {
  if (!s) return;
  if (const auto* u = as_step(s); u && !statement)
    if (const clang::VarDecl* v = named_variable(u->getSubExpr())) found.insert(v);
  for (const clang::Stmt* child : s->children()) increments_inside(child, is_statement_of(s, child), found);
}

}  // namespace

void Builder::find_tracked() {
  Directing called;
  for (const clang::FunctionDecl* f : called_) called[f];
  find_tracked(stretch_, directing(stretch_, called), facts_.address_taken);
  for (const clang::FunctionDecl* f : called_)
    find_tracked({f->getBody()}, directing(f, called), address_taken(f->getBody()));
}

// `inside`: integers that are worth it; `taken`: variables whose address is.
void Builder::find_tracked(const std::vector<const clang::Stmt*>& statements, std::set<const clang::VarDecl*> inside,
                           const std::set<const clang::VarDecl*>& taken) {
  for (const clang::Stmt* s : statements) increments_inside(s, true, inside);
  for (const clang::Stmt* s : statements)
    for_each_statement(s, [&](const clang::Stmt* x) {
      const clang::VarDecl* v = nullptr;
      if (const auto* b = llvm::dyn_cast<clang::BinaryOperator>(x); b && b->isAssignmentOp())
        v = named_variable(b->getLHS());
      if (const auto* u = as_step(x)) v = named_variable(u->getSubExpr());
      if (!v || tracked(v) || !v->hasLocalStorage() || taken.contains(v) || header_writes_.contains(v) ||
          in_memory_.contains(v) || v->getType().isVolatileQualified())
        return;
      const auto type = element_type(v->getType(), context_);
      // A narrower integer is converted back at each step.
      const bool integer = type && !sdfg::is_float(*type) && sdfg::info(*type).bytes >= 4;
      if (v->getType()->isPointerType() || (integer && inside.contains(v))) tracked_.push_back(v);
    });
}

bool Builder::tracked(const clang::VarDecl* v) const { return std::ranges::find(tracked_, v) != tracked_.end(); }

bool Builder::changes_tracked(const clang::Stmt* s) const {
  const std::set<const clang::VarDecl*> written = written_variables(s);
  return std::ranges::any_of(tracked_, [&](const clang::VarDecl* v) { return written.contains(v); });
}

void Builder::unfollowed(const clang::VarDecl* v) {
  if (tracked(v) && !v->getType()->isPointerType()) unfollowed_.insert(v);
}

// The value that a tracked variable has here, made on its first use.
Lift<Binding*> Builder::tracked_value(const clang::VarDecl* v, clang::SourceLocation where) {
  TRY(Binding * b, binding(v, where));
  if (b->kind != Binding::Kind::Unknown && b->kind != Binding::Kind::Wrapped) return b;
  unfollowed(v);
  return refuse("c.induction-variable", "the value of '" + v->getNameAsString() + "' is not known here", where);
}

std::optional<Expr> Builder::tracked_offset(const clang::VarDecl* v) const {
  const auto it = bindings_.find(v);
  if (it == bindings_.end()) return std::nullopt;
  if (it->second.kind == Binding::Kind::Pointer) return it->second.subscript.back();
  return it->second.index;
}

Lift<void> Builder::advance(const clang::VarDecl* v, const Expr& by, clang::SourceLocation where) {
  TRY(Binding * b, tracked_value(v, where));
  if (!by.reads().empty()) {
    unfollowed(v);
    return refuse("c.pointer.indirect", "how far '" + v->getNameAsString() + "' goes is read from memory", where);
  }
  if (b->kind == Binding::Kind::Pointer) {
    b->subscript.back() = b->subscript.back() + by;
    return {};
  }
  auto value = in_range(*b->index + by, v, where);
  if (!value) return unfollowed(v), std::unexpected(value.error());
  b->index = *value;
  return {};
}

// Signed overflow is undefined; an unsigned variable must be shown not to wrap.
Lift<Expr> Builder::in_range(const Expr& e, const clang::VarDecl* v, clang::SourceLocation where) {
  if (!v->getType()->isUnsignedIntegerType()) return e;
  if (unchecked_) {
    unchecked_->emplace_back(e, v);
    return e;
  }
  return in_type(e, v->getType(), where);
}

// i++ and no more, of a variable in memory.
bool Builder::is_own_statement(const clang::Expr* e) const {
  const clang::UnaryOperator* u = as_step(e);
  const clang::VarDecl* v = u ? named_variable(u->getSubExpr()) : nullptr;
  return v && !tracked(v);
}

// An integer in memory whose step may be a statement of its own.
bool Builder::steps_in_memory(const clang::VarDecl* v) const {
  const auto type = element_type(v->getType(), context_);
  return type && !sdfg::is_float(*type) && sdfg::info(*type).bytes >= 4 && v->hasLocalStorage() && written_here(v) &&
         !tracked(v) && !facts_.address_taken.contains(v) && !header_writes_.contains(v);
}

// All steps of variables in `e` that are to take effect behind it; those of integers in memory where `e` is a
// statement.
Lift<std::vector<Step>> Builder::steps_in(const clang::Expr* e, bool statement) {
  std::vector<Step> steps;
  if (!e || (statement && is_own_statement(e))) return steps;
  bool surely = true;
  std::map<const clang::VarDecl*, int> mentions;
  std::function<Lift<void>(const clang::Stmt*)> walk = [&](const clang::Stmt* s) -> Lift<void> {
    if (!s) return {};
    if (const auto* ref = llvm::dyn_cast<clang::DeclRefExpr>(s))
      if (const auto* v = llvm::dyn_cast<clang::VarDecl>(ref->getDecl())) ++mentions[v];
    if (const auto* u = as_step(s))
      if (const clang::VarDecl* v = named_variable(u->getSubExpr());
          v && (tracked(v) || (statement && steps_in_memory(v)))) {
        if (!surely) {
          unfollowed(v);
          return refuse("c.pointer.reassigned", "'" + v->getNameAsString() + "' is changed only sometimes",
                        u->getExprLoc());
        }
        steps.push_back({u, v, u->isIncrementOp() ? 1 : -1});
      }
    const auto* logical = llvm::dyn_cast<clang::BinaryOperator>(s);
    const bool sometimes =
        (logical && logical->isLogicalOp()) ||
        llvm::isa<clang::AbstractConditionalOperator, clang::UnaryExprOrTypeTraitExpr, clang::StmtExpr>(s);
    const bool before = surely;
    bool first = true;
    for (const clang::Stmt* child : s->children()) {
      if (sometimes && !(first && !llvm::isa<clang::UnaryExprOrTypeTraitExpr, clang::StmtExpr>(s))) surely = false;
      TRY_VOID(walk(child));
      first = false;
    }
    surely = before;
    return {};
  };
  TRY_VOID(walk(e));
  for (const Step& s : steps)
    if (mentions[s.variable] != 1) {
      unfollowed(s.variable);
      return refuse("c.pointer.reassigned", "'" + s.variable->getNameAsString() + "' is changed and used in one place",
                    e->getExprLoc());
    }
  for (const Step& s : steps) active_steps_[s.expression] = s.by;
  return steps;
}

Lift<void> Builder::take_effect(const std::vector<Step>& steps) {
  for (const Step& s : steps) {
    active_steps_.erase(s.expression);
    if (!tracked(s.variable))
      TRY_VOID(increment(s.expression));
    else
      TRY_VOID(advance(s.variable, Expr(s.by), s.expression->getExprLoc()));
  }
  return {};
}

// What `v++` or `--v` inside an expression adds to the variable's value before the statement; nullopt: it is no step
// that was announced.
std::optional<std::int64_t> Builder::announced(const clang::UnaryOperator* e) const {
  const auto it = active_steps_.find(e);
  if (it == active_steps_.end()) return std::nullopt;
  return e->isPrefix() ? it->second : 0;
}

// p = q + i, p += n, k = 0.
Lift<void> Builder::assign_tracked(const clang::BinaryOperator* e, const clang::VarDecl* v) {
  const clang::SourceLocation where = e->getExprLoc();
  const auto* compound = llvm::dyn_cast<clang::CompoundAssignOperator>(e);
  if (!compound) {
    TRY(bindings_[v], value_of(v, e->getRHS()));
    return {};
  }
  const auto moved = [&]() -> Lift<void> {
    if (e->getOpcode() != clang::BO_AddAssign && e->getOpcode() != clang::BO_SubAssign)
      return refuse("c.side-effect", "'" + v->getNameAsString() + "' is changed in an unusual way", where);
    TRY(const Expr by, index(e->getRHS()));
    TRY_VOID(advance(v, e->getOpcode() == clang::BO_AddAssign ? by : -by, where));
    // Computed in another type, and converted back.
    if (!v->getType()->isPointerType() &&
        !context_.hasSameUnqualifiedType(compound->getComputationResultType(), v->getType()))
      TRY_VOID(in_type(*bindings_[v].index, v->getType(), where));
    return {};
  };
  const auto done = moved();
  if (!done) unfollowed(v);
  return done;
}

// What `v` becomes by `v = e`.
Lift<Binding> Builder::value_of(const clang::VarDecl* v, const clang::Expr* e) {
  const auto evaluated = [&]() -> Lift<Binding> {
    Binding b;
    if (v->getType()->isPointerType()) {
      TRY(Access target, pointer(e));
      if (target.subscript.empty()) return refuse("c.pointer", "a pointer to a variable", e->getExprLoc());
      b = {Binding::Kind::Pointer, std::nullopt, std::nullopt, target.container, target.subscript};
    } else {
      b.kind = Binding::Kind::Expression;
      TRY(b.index, index(e));
    }
    for (const Expr& s : b.index ? std::vector<Expr>{*b.index} : b.subscript)
      if (!s.reads().empty())
        return refuse("c.pointer.indirect", "where '" + v->getNameAsString() + "' points is read from memory",
                      e->getExprLoc());
    return b;
  };
  auto b = evaluated();
  if (!b) unfollowed(v);
  return b;
}

Values Builder::tracked_values() const {
  Values values;
  for (const clang::VarDecl* v : tracked_)
    if (auto it = bindings_.find(v); it != bindings_.end()) values[v] = it->second;
  return values;
}

// As they were; what has been named for the first time since then had its value on entry.
void Builder::restore_tracked(const Values& before) {
  for (const clang::VarDecl* v : tracked_) {
    if (auto it = before.find(v); it != before.end())
      bindings_[v] = it->second;
    else if (auto entry = entry_.find(v); entry != entry_.end())
      bindings_[v] = entry->second;
    else
      bindings_.erase(v);
  }
}

// Where two ways meet: a value is known where both have the same, or where `test` >= 0, which chose between them, says
// which is larger.
void Builder::join_tracked(const Values& yes, const std::optional<Expr>& test) {
  const auto at_entry = [&](const clang::VarDecl* v) {
    const auto it = entry_.find(v);
    return it == entry_.end() ? Binding{} : it->second;
  };
  for (const clang::VarDecl* v : tracked_) {
    const auto here = bindings_.find(v);
    const auto there = yes.find(v);
    if (here == bindings_.end() && there == yes.end()) continue;
    const Binding a = there == yes.end() ? at_entry(v) : there->second;
    const Binding b = here == bindings_.end() ? at_entry(v) : here->second;
    bindings_[v] = joined(test, a, b).value_or(Binding{});
  }
}

// The same of tracked variables: appends C statements.
Lift<void> Builder::tracked_epilogue(std::string& declare, std::string& assign) {
  for (const clang::VarDecl* v : tracked_) {
    const auto it = bindings_.find(v);
    if (it == bindings_.end() || !left_behind(v)) continue;
    const std::string name = v->getNameAsString();
    const Binding& b = it->second;
    const auto unknown = [&] {
      unfollowed(v);
      return refuse("c.induction-variable", "the value of '" + name + "' after the nest is not known",
                    v->getLocation());
    };
    const std::optional<Expr> offset = tracked_offset(v);
    if (!offset || (b.kind == Binding::Kind::Pointer && b.subscript.size() != 1)) return unknown();
    for (const std::string& s : offset->symbols())
      if (!symbol_c_.contains(s)) return unknown();
    text_symbols_.merge(offset->symbols());
    // C's division rounds to zero, an Expr's down.
    for (const sdfg::Term& t : offset->terms())
      for (const sdfg::Atom& a : t.atoms)
        if ((a.kind == sdfg::AtomKind::FloorDiv || a.kind == sdfg::AtomKind::Mod) && !ranges_.nonneg(a.args[0], {}))
          return unknown();
    std::string base;
    if (b.kind == Binding::Kind::Pointer) {
      const auto memory = std::ranges::find(memories_, b.container, &Memory::container);
      if (memory == memories_.end()) return unknown();
      // (Of rows by a table, what is passed is where the first one begins.)
      const std::string& place = memory->table.empty() ? memory->c_expr : memory->table;
      // Where it points relative to another pointer that changes, too, would depend on the order of the assignments.
      for (const clang::VarDecl* w : tracked_)
        if (w != v && place == w->getNameAsString()) return unknown();
      if (place == name && *offset == Expr(0)) continue;
      base = "(" + place + ") + ";
    }
    const std::string held = "sous_final_" + name;
    declare += "long long " + held + " = " + c_text(*offset) + ";\n";
    assign += name + " = " + (base.empty() ? "(__typeof__(" + name + "))" : base) + held + ";\n";
  }
  return {};
}

}  // namespace sous::frontends::c
