// Variables that are followed: `*p++ = x[k++]`, `for (…; i++, p++)`.
//
// A local pointer that the stretch changes, and a local integer that it changes inside an expression, have no memory:
// their value is an expression over symbols, updated statement by statement. What a statement steps takes effect when
// the statement is done; it must be done always and once, and name the variable once, so that no order of evaluation
// matters. In a loop that only steps a variable, by the same amount each time, the value is that on entry plus the
// iterations so far times that amount: assumed at the top of the body, and verified at its end. Anything else makes the
// value unknown, and a use of it ends the stretch.
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

// Variables that an expression steps while it is computed: all but `i++` as a statement of its own.
void stepped_inside(const clang::Stmt* s, bool statement, std::set<const clang::VarDecl*>& found) {
  if (!s) return;
  if (const auto* u = as_step(s); u && !statement)
    if (const clang::VarDecl* v = named_variable(u->getSubExpr())) found.insert(v);
  for (const clang::Stmt* child : s->children()) stepped_inside(child, is_statement_of(s, child), found);
}

}  // namespace

void Builder::find_tracked() {
  std::set<const clang::VarDecl*> inside;
  for (const clang::Stmt* s : stretch_) stepped_inside(s, true, inside);
  for (const clang::Stmt* s : stretch_)
    for_each_statement(s, [&](const clang::Stmt* x) {
      const clang::VarDecl* v = nullptr;
      if (const auto* b = llvm::dyn_cast<clang::BinaryOperator>(x); b && b->isAssignmentOp())
        v = named_variable(b->getLHS());
      if (const auto* u = as_step(x)) v = named_variable(u->getSubExpr());
      if (!v || tracked(v) || !v->hasLocalStorage() || facts_.address_taken.contains(v) || header_writes_.contains(v) ||
          v->getType().isVolatileQualified())
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

// The value that a tracked variable has here, made on its first use.
Lift<Binding*> Builder::tracked_value(const clang::VarDecl* v, clang::SourceLocation where) {
  TRY(Binding * b, binding(v, where));
  if (b->kind == Binding::Kind::Unknown)
    return refuse("c.induction-variable", "the value of '" + v->getNameAsString() + "' is not known here", where);
  return b;
}

std::optional<Expr> Builder::tracked_offset(const clang::VarDecl* v) const {
  const auto it = bindings_.find(v);
  if (it == bindings_.end()) return std::nullopt;
  if (it->second.kind == Binding::Kind::Pointer) return it->second.subscript.back();
  if (it->second.kind == Binding::Kind::Expression) return it->second.index;
  return std::nullopt;
}

Lift<void> Builder::advance(const clang::VarDecl* v, const Expr& by, clang::SourceLocation where) {
  TRY(Binding * b, tracked_value(v, where));
  if (!by.reads().empty())
    return refuse("c.pointer.indirect", "how far '" + v->getNameAsString() + "' goes is read from memory", where);
  if (b->kind == Binding::Kind::Pointer) {
    b->subscript.back() = b->subscript.back() + by;
    return {};
  }
  TRY(b->index, in_range(*b->index + by, v, where));
  return {};
}

// Signed overflow is undefined; an unsigned variable must be shown not to wrap.
Lift<Expr> Builder::in_range(const Expr& e, const clang::VarDecl* v, clang::SourceLocation where) {
  if (!v->getType()->isUnsignedIntegerType()) return e;
  return in_type(e, v->getType(), where);
}

// All steps of tracked variables in `e`, which are to take effect behind it.
Lift<std::vector<Step>> Builder::steps_in(const clang::Expr* e) {
  std::vector<Step> steps;
  if (tracked_.empty() || !e) return steps;
  bool surely = true;
  std::map<const clang::VarDecl*, int> mentions;
  std::function<Lift<void>(const clang::Stmt*)> walk = [&](const clang::Stmt* s) -> Lift<void> {
    if (!s) return {};
    if (const auto* ref = llvm::dyn_cast<clang::DeclRefExpr>(s))
      if (const auto* v = llvm::dyn_cast<clang::VarDecl>(ref->getDecl())) ++mentions[v];
    if (const auto* u = as_step(s))
      if (const clang::VarDecl* v = named_variable(u->getSubExpr()); v && tracked(v)) {
        if (!surely)
          return refuse("c.pointer.reassigned", "'" + v->getNameAsString() + "' is changed only sometimes",
                        u->getExprLoc());
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
    if (mentions[s.variable] != 1)
      return refuse("c.pointer.reassigned", "'" + s.variable->getNameAsString() + "' is changed and used in one place",
                    e->getExprLoc());
  for (const Step& s : steps) active_steps_[s.expression] = s.by;
  return steps;
}

Lift<void> Builder::take_effect(const std::vector<Step>& steps) {
  for (const Step& s : steps) {
    active_steps_.erase(s.expression);
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
  if (e->isCompoundAssignmentOp()) {
    if (e->getOpcode() != clang::BO_AddAssign && e->getOpcode() != clang::BO_SubAssign)
      return refuse("c.side-effect", "'" + v->getNameAsString() + "' is changed in an unusual way", where);
    TRY(Expr by, index(e->getRHS()));
    return advance(v, e->getOpcode() == clang::BO_AddAssign ? by : -by, where);
  }
  TRY(bindings_[v], value_of(v, e->getRHS()));
  return {};
}

// What `v` becomes by `v = e`.
Lift<Binding> Builder::value_of(const clang::VarDecl* v, const clang::Expr* e) {
  Binding b;
  if (v->getType()->isPointerType()) {
    TRY(Access target, pointer(e));
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
}

Builder::Values Builder::tracked_values() const {
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

// Where two ways meet: a value is known where both have the same.
void Builder::join_tracked(const Values& other) {
  const auto at_entry = [&](const clang::VarDecl* v) {
    const auto it = entry_.find(v);
    return it == entry_.end() ? Binding{} : it->second;
  };
  for (const clang::VarDecl* v : tracked_) {
    const auto here = bindings_.find(v);
    const auto there = other.find(v);
    if (here == bindings_.end() && there == other.end()) continue;
    const Binding a = here == bindings_.end() ? at_entry(v) : here->second;
    const Binding b = there == other.end() ? at_entry(v) : there->second;
    const bool same =
        a.kind == b.kind && a.index == b.index && a.container == b.container && a.subscript == b.subscript;
    bindings_[v] = same ? a : Binding{};
  }
}

// By how much one run of `s` moves `v`; nullopt: that is not known before it is lifted. A proposal only: `leave_steps`
// verifies it.
std::optional<Expr> Builder::net_step(const clang::Stmt* s, const clang::VarDecl* v) {
  if (!s || !written_variables(s).contains(v)) return Expr(0);
  if (const auto* f = llvm::dyn_cast<clang::ForStmt>(s)) {
    auto header = for_header(f, context_);
    if (!header || header->variable == v || written_variables(f->getBody()).contains(header->variable))
      return std::nullopt;
    std::optional<Expr> each = net_step(f->getBody(), v), also = Expr(0);
    for (const clang::Expr* e : header->also) {
      const auto one = net_step(e, v);
      also = also && one ? std::optional(*also + *one) : std::nullopt;
    }
    for (const clang::Expr* e : header->before)
      if (written_variables(e).contains(v)) return std::nullopt;
    if (!each || !also || !header->begin) return std::nullopt;
    // The inner loop's bounds, read outside of it.
    const auto own = bindings_.find(header->variable);
    const std::optional<Binding> saved = own == bindings_.end() ? std::nullopt : std::optional(own->second);
    const std::vector<Expr> assumptions = ranges_.assumptions;
    const std::string symbol = "inner loop";  // no name of C: gone with this attempt
    std::optional<Expr> trips;
    if (auto begin = index(header->begin); begin && begin->reads().empty()) {
      bindings_[header->variable] = {Binding::Kind::Expression, Expr::symbol(symbol), std::nullopt, {}, {}};
      if (auto limits = bounds(*header, *begin, symbol); limits && limits->end.reads().empty())
        trips = trip_count(*limits, header->step);
    }
    bindings_.erase(header->variable);
    if (saved) bindings_[header->variable] = *saved;
    if (!trips) {
      ranges_.assumptions = assumptions;
      return std::nullopt;
    }
    return *trips * (*each + *also);
  }
  if (const auto* u = as_step(s); u && named_variable(u->getSubExpr()) == v) return Expr(u->isIncrementOp() ? 1 : -1);
  if (const auto* b = llvm::dyn_cast<clang::BinaryOperator>(s); b && named_variable(b->getLHS()) == v) {
    if (b->getOpcode() != clang::BO_AddAssign && b->getOpcode() != clang::BO_SubAssign) return std::nullopt;
    const std::vector<Expr> assumptions = ranges_.assumptions;
    auto by = index(b->getRHS());
    ranges_.assumptions = assumptions;
    if (!by || !by->reads().empty()) return std::nullopt;
    return b->getOpcode() == clang::BO_AddAssign ? *by : -*by;
  }
  if (llvm::isa<clang::WhileStmt, clang::DoStmt, clang::SwitchStmt>(s)) return std::nullopt;
  if (const auto* i = llvm::dyn_cast<clang::IfStmt>(s)) {
    const auto test = net_step(i->getCond(), v), yes = net_step(i->getThen(), v), no = net_step(i->getElse(), v);
    if (!test || !yes || !no || *yes != *no) return std::nullopt;
    return *test + *yes;
  }
  Expr sum(0);
  for (const clang::Stmt* child : s->children()) {
    const auto one = net_step(child, v);
    if (!one) return std::nullopt;
    sum = sum + *one;
  }
  return sum;
}

// Iterations of a loop that is shown, or assumed, to begin no farther than one step behind its bound.
std::optional<Expr> Builder::trip_count(const Bounds& limits, std::int64_t step) {
  const Expr distance = step > 0 ? limits.end - limits.begin : limits.begin - limits.end;
  if (!ranges_.require_nonneg(distance, box_)) return std::nullopt;
  const std::int64_t by = step > 0 ? step : -step;
  return Expr::floor_div(distance + Expr(by - 1), Expr(by));
}

Lift<std::vector<Builder::Stepping>> Builder::enter_steps(const clang::ForStmt* s, const ForHeader& header,
                                                          const Expr& begin, const std::string& symbol) {
  std::vector<Stepping> out;
  if (tracked_.empty()) return out;
  std::set<const clang::VarDecl*> written = written_variables(s->getBody());
  for (const clang::Expr* e : header.also) written.merge(written_variables(e));
  std::set<const clang::VarDecl*> inner;
  for_each_statement(s->getBody(), [&](const clang::Stmt* x) {
    if (const auto* d = llvm::dyn_cast<clang::DeclStmt>(x))
      for (const clang::Decl* decl : d->decls())
        if (const auto* v = llvm::dyn_cast<clang::VarDecl>(decl)) inner.insert(v);
  });
  const Expr from = header.step > 0 ? Expr::symbol(symbol) - begin : begin - Expr::symbol(symbol);
  const Expr iteration = Expr::floor_div(from, Expr(header.step > 0 ? header.step : -header.step));
  for (const clang::VarDecl* v : tracked_) {
    if (!written.contains(v) || inner.contains(v)) continue;
    Stepping stepping{v, {}, std::nullopt, iteration};
    std::optional<Expr> by = net_step(s->getBody(), v);
    for (const clang::Expr* e : header.also) {
      const auto one = net_step(e, v);
      by = by && one ? std::optional(*by + *one) : std::nullopt;
    }
    if (by && !by->uses(symbol) && begin.reads().empty()) {
      TRY(const Binding* b, binding(v, s->getBeginLoc()));
      stepping.before = *b;
      if (b->kind != Binding::Kind::Unknown) stepping.by = by;
    }
    if (stepping.by)
      TRY_VOID(advance(v, iteration * *by, s->getBeginLoc()));
    else
      bindings_[v] = {};
    out.push_back(std::move(stepping));
  }
  return out;
}

// At the end of the body: each has gone as far as was said.
Lift<void> Builder::verify_steps(const std::vector<Stepping>& steps, clang::SourceLocation where) {
  for (const Stepping& s : steps) {
    if (!s.by) continue;
    const std::optional<Expr> offset = tracked_offset(s.variable);
    Binding expected = s.before;
    Expr& at = expected.kind == Binding::Kind::Pointer ? expected.subscript.back() : *expected.index;
    at = at + (s.iteration + Expr(1)) * *s.by;
    const Binding& b = bindings_[s.variable];
    if (!offset || b.kind != expected.kind || b.container != expected.container || b.subscript != expected.subscript ||
        b.index != expected.index)
      return refuse("c.pointer.reassigned",
                    "'" + s.variable->getNameAsString() + "' is not changed by the same amount each time", where);
  }
  return {};
}

// Behind the loop.
Lift<void> Builder::leave_steps(const std::vector<Stepping>& steps, const Bounds& limits, std::int64_t step,
                                clang::SourceLocation where) {
  for (const Stepping& s : steps) {
    bindings_[s.variable] = {};
    if (!s.by || !limits.end.reads().empty()) continue;
    const auto trips = trip_count(limits, step);
    if (!trips) continue;
    bindings_[s.variable] = s.before;
    TRY_VOID(advance(s.variable, *trips * *s.by, where));
  }
  return {};
}

// C statements that give tracked variables their final values. All values are computed before anything is assigned;
// `others` (which read what the variables were on entry, too) run in between.
Lift<std::string> Builder::tracked_epilogue(const std::string& others) const {
  std::string compute, assign;
  int count = 0;
  for (const clang::VarDecl* v : tracked_) {
    const auto it = bindings_.find(v);
    if (declared_.contains(v) || it == bindings_.end() || !live_after_(v)) continue;
    const std::string name = v->getNameAsString();
    const Binding& b = it->second;
    const auto unknown = [&] {
      return refuse("c.induction-variable", "the value of '" + name + "' after the nest is not known",
                    v->getLocation());
    };
    const std::optional<Expr> offset = tracked_offset(v);
    if (!offset || (b.kind == Binding::Kind::Pointer && b.subscript.size() != 1)) return unknown();
    for (const std::string& s : offset->symbols())
      if (!symbol_c_.contains(s)) return unknown();
    // C's division rounds to zero, an Expr's down.
    for (const sdfg::Term& t : offset->terms())
      for (const sdfg::Atom& a : t.atoms)
        if ((a.kind == sdfg::AtomKind::FloorDiv || a.kind == sdfg::AtomKind::Mod) && !ranges_.nonneg(a.args[0], {}))
          return unknown();
    std::string base;
    if (b.kind == Binding::Kind::Pointer) {
      const auto memory = std::ranges::find(memories_, b.container, &Memory::container);
      if (memory == memories_.end()) return unknown();
      // Where it points relative to another pointer that changes, too, would depend on the order of the assignments.
      for (const clang::VarDecl* w : tracked_)
        if (w != v && memory->c_expr == w->getNameAsString()) return unknown();
      base = "(" + memory->c_expr + ") + ";
    }
    const std::string t = "sous_final_" + std::to_string(count++);
    compute += "long long " + t + " = " + c_text(*offset) + ";\n";
    assign += name + " = " + base + t + ";\n";
  }
  return compute.empty() ? others : compute + others + assign;
}

}  // namespace sous::frontends::c
