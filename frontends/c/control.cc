// Statements, and loops that may end before their bound.
#include <algorithm>
#include <utility>

#include "clang/AST/DeclCXX.h"
#include "frontends/c/builder.h"
#include "llvm/Support/SaveAndRestore.h"
#include "sdfg/planted_fault.h"

namespace sous::frontends::c {

using sdfg::ElementType;
using sdfg::Expr;
using sdfg::Memlet;
using sdfg::ScalarExpr;

namespace {

// A for loop that nothing ends before its bound.
bool contains_bounded_for(const clang::Stmt* s) {
  if (!s) return false;
  const auto* loop = llvm::dyn_cast<clang::ForStmt>(s);
  if (loop && !interruption(loop->getBody())) return true;
  return std::ranges::any_of(s->children(), contains_bounded_for);
}

}  // namespace

Lift<void> Builder::statement(const clang::Stmt* s) {
  if (llvm::isa<clang::NullStmt>(s)) return {};
  if (const auto* block = llvm::dyn_cast<clang::CompoundStmt>(s)) return body(block);
  if (const auto* d = llvm::dyn_cast<clang::DeclStmt>(s)) {
    for (const clang::Decl* decl : d->decls()) {
      if (const auto* v = llvm::dyn_cast<clang::VarDecl>(decl)) {
        TRY(const std::vector<Step> steps, steps_in(v->getInit(), true));
        TRY_VOID(declare(v));
        TRY_VOID(take_effect(steps));
      } else if (!llvm::isa<clang::TypedefNameDecl, clang::TagDecl, clang::EmptyDecl, clang::StaticAssertDecl>(decl))
        return refuse("c.statement", "a declaration that is no variable", s->getBeginLoc());
    }
    return {};
  }
  if (const auto* i = llvm::dyn_cast<clang::IfStmt>(s)) return if_statement(i);
  if (const auto* f = llvm::dyn_cast<clang::ForStmt>(s)) return for_statement(f);
  if (const auto* w = llvm::dyn_cast<clang::WhileStmt>(s))
    return any_loop({w->getCond(), w->getBody(), nullptr, true, s->getBeginLoc()});
  if (const auto* d = llvm::dyn_cast<clang::DoStmt>(s)) {
    // do { … } while (0), as macros are written, runs once.
    if (auto c = constant_value(d->getCond(), context_); c && *c == 0) return body(d->getBody());
    return any_loop({d->getCond(), d->getBody(), nullptr, false, s->getBeginLoc()});
  }
  if (const auto* sw = llvm::dyn_cast<clang::SwitchStmt>(s)) return switch_statement(sw, {}, nullptr);
  if (const auto* a = llvm::dyn_cast<clang::AttributedStmt>(s)) return statement(a->getSubStmt());
  if (const auto* e = llvm::dyn_cast<clang::Expr>(s)) return expression_statement(e);
  return refuse(reason_code(s), std::string("a statement that is not understood (") + s->getStmtClassName() + ")",
                s->getBeginLoc());
}

Lift<void> Builder::expression_statement(const clang::Expr* e) {
  e = e->IgnoreParens();
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(e); cast && cast->getCastKind() == clang::CK_ToVoid) {
    // (void)x; has no effect unless x has one.
    if (!cast->getSubExpr()->HasSideEffects(context_)) return {};
    return expression_statement(cast->getSubExpr());
  }
  if (const auto* b = llvm::dyn_cast<clang::BinaryOperator>(e); b && b->isCommaOp()) {
    TRY_VOID(expression_statement(b->getLHS()));
    return expression_statement(b->getRHS());
  }
  TRY(const std::vector<Step> steps, steps_in(e, true));
  TRY_VOID(plain_statement(e));
  return take_effect(steps);
}

Lift<void> Builder::plain_statement(const clang::Expr* e) {
  pool_.clear();
  if (const auto* b = llvm::dyn_cast<clang::BinaryOperator>(e); b && b->isAssignmentOp()) return assign(b);
  if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(e); u && u->isIncrementDecrementOp()) return increment(u);
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(e)) {
    if (!e->HasSideEffects(context_)) return {};
    if (const auto function = memory_function(call)) return memory_call(call, *function);
    return call_statement(call);
  }
  if (!e->HasSideEffects(context_)) return {};
  return refuse("c.expression", std::string("this expression is not understood (") + e->getStmtClassName() + ")",
                e->getExprLoc());
}

Lift<void> Builder::assign(const clang::BinaryOperator* e) {
  const clang::SourceLocation where = e->getExprLoc();
  if (const clang::VarDecl* v = named_variable(e->getLHS()); v && tracked(v)) return assign_tracked(e, v);
  if (e->getLHS()->getType()->isPointerType()) return refuse("c.pointer.reassigned", "a pointer is changed", where);
  TRY_VOID(assignable(e->getLHS()));
  if (e->isCompoundAssignmentOp() && has_effect(e->getLHS()) && !planted(Fault::effect_done_twice))
    return refuse("c.side-effect", "an increment in what is read and written", where);
  const llvm::SaveAndRestore<bool> effects(effects_, !contains_call(e));
  if (const clang::QualType record = e->getLHS()->getType(); is_complex(record, context_)) {
    return assign_complex(e);
  } else if (record->isRecordType()) {
    TRY(const Place to, place(e->getLHS()));
    return assign_record(to, e->getRHS(), record, where);
  }
  auto type = element_type(e->getLHS()->getType(), context_);
  if (!type) {
    const bool is_volatile = e->getLHS()->getType().isVolatileQualified() || e->getLHS()->getType()->isAtomicType();
    return refuse(is_volatile ? "c.volatile" : "c.type",
                  "an assignment to an object of type " + e->getLHS()->getType().getAsString(), where);
  }
  const clang::Expr* right = e->getRHS();
  if (!e->isCompoundAssignmentOp()) {
    // a = b = c: the inner one first; its value is that of b after the assignment.
    const clang::Expr* inner = right;
    while (const auto* c = llvm::dyn_cast<clang::ImplicitCastExpr>(inner)) inner = c->getSubExpr();
    inner = inner->IgnoreParens();
    if (const auto* chained = llvm::dyn_cast<clang::BinaryOperator>(inner); chained && chained->isAssignmentOp()) {
      if (has_effect(chained->getLHS()))
        return refuse("c.side-effect", "an increment in what is read and written", where);
      pool_.clear();
      TRY_VOID(stays(chained->getLHS()));
      pool_.clear();
      TRY_VOID(assign(chained));
      pool_.clear();
      TRY(ScalarExpr v, load(chained->getLHS()));
      TRY(Access target, lvalue(e->getLHS()));
      emit_assignment({target.container, target.subscript, std::nullopt}, ScalarExpr::cast(v, *type));
      return {};
    }
  }
  // The object is found, and read, after the call: C leaves it open, and clang does so.
  const llvm::SaveAndRestore<const clang::CallExpr*> lone(lone_call_, lone_call(right));
  TRY(ScalarExpr code, value(right));
  if (const auto* compound = llvm::dyn_cast<clang::CompoundAssignOperator>(e)) {
    // C computes in the common type and converts back.
    TRY(ScalarExpr old, load(e->getLHS()));
    auto computed = element_type(compound->getComputationLHSType(), context_);
    auto result = element_type(compound->getComputationResultType(), context_);
    if (planted(Fault::compound_in_own_type)) code = ScalarExpr::cast(std::move(code), old.type), computed = old.type;
    if (!computed || !result)
      return refuse("c.type", "computed in " + compound->getComputationLHSType().getAsString(), where);
    TRY(code, arithmetic(compound->getOpcode(), ScalarExpr::cast(std::move(old), *computed), std::move(code), where));
  }
  TRY(Access target, lvalue(e->getLHS()));
  const sdfg::Container* c = sdfg_.find(target.container);
  if (c->shape.size() != target.subscript.size())
    return refuse("c.lvalue", "an assignment to a part of an array", where);
  emit_assignment({target.container, target.subscript, std::nullopt}, ScalarExpr::cast(std::move(code), *type));
  return {};
}

Lift<void> Builder::increment(const clang::UnaryOperator* e) {
  if (announced(e)) return {};  // takes effect behind the statement
  if (e->getSubExpr()->getType()->isPointerType())
    return refuse("c.pointer.reassigned", "a pointer is changed", e->getExprLoc());
  TRY_VOID(assignable(e->getSubExpr()));
  if (has_effect(e->getSubExpr())) return refuse("c.side-effect", "an increment inside of another", e->getExprLoc());
  pool_.clear();
  TRY(ScalarExpr old, load(e->getSubExpr()));
  TRY(Access target, lvalue(e->getSubExpr()));
  TRY(const ScalarExpr code, one_more(std::move(old), e->isIncrementOp(), e->getExprLoc()));
  emit_assignment({target.container, target.subscript, std::nullopt}, code);
  return {};
}

// The condition of an if: what changes in it, changes before either arm.
Lift<ScalarExpr> Builder::tested_once(const clang::Expr* e) {
  const llvm::SaveAndRestore<bool> effects(effects_, !contains_call(e));
  const llvm::SaveAndRestore<const clang::CallExpr*> lone(lone_call_, lone_call(e));
  return condition(e);
}

Lift<void> Builder::if_statement(const clang::IfStmt* s) {
  if (s->getInit() || s->getConditionVariable())
    return refuse("c.statement", "a declaration in an if", s->getBeginLoc());
  if (auto c = constant_value(s->getCond(), context_)) {
    if (*c != 0) return statement(s->getThen());
    return s->getElse() ? statement(s->getElse()) : Lift<void>();
  }
  pool_.clear();
  TRY(const std::vector<Step> steps, steps_in(s->getCond()));
  if (const auto all = asked_in(s->getCond(), clang::BO_LAnd, context_); !all.empty() && !s->getElse() && steps.empty())
    return one_by_one(all, true, [&] { return body(s->getThen()); });
  TRY(ScalarExpr test, tested_once(s->getCond()));
  TRY_VOID(take_effect(steps));
  const auto arm = [&](const clang::Stmt* a) { return a ? body(a) : Lift<void>(); };
  if (const auto known = decided(test)) return arm(*known ? s->getThen() : s->getElse());
  return branch(test, [&] { return arm(s->getThen()); }, [&] { return arm(s->getElse()); });
}

Lift<void> Builder::for_statement(const clang::ForStmt* s) {
  auto header = for_header(s, context_);
  const clang::Stmt* jump = interruption(s->getBody());
  const bool own_step = header && !written_variables(s->getBody()).contains(header->variable);
  const bool fixed = header && keeps_bound(s, *header);
  if (own_step && fixed && !jump) return for_loop(s, *header);
  const LoopParts parts{s->getCond(), s->getBody(), s->getInc(), true, s->getBeginLoc()};
  if (counts(parts)) {
    if (s->getInit()) TRY_VOID(statement(s->getInit()));
    return stepped_loop(parts);
  }
  if (jump && for_depth_ == 0)
    return refuse(reason_code(jump), "the outermost loop may end before its bound", jump->getBeginLoc());
  if (!header && s->getInc() && s->getCond() && s->getInc()->getType()->isPointerType())
    return refuse("c.pointer.reassigned", "a loop over pointers", s->getBeginLoc());
  if (for_depth_ == 0 && own_step && !fixed)
    return refuse("c.loop.bound-changes", "the bound of the loop is changed in its body", s->getBeginLoc());
  if (for_depth_ == 0)
    return refuse("c.loop.form",
                  header ? "the loop's variable is changed in its body"
                         : "the loop does not count from one bound to another in constant steps",
                  s->getBeginLoc());
  if (header && jump && header->before.empty() && header->also.empty() && own_step) return search_loop(s, *header);
  if (s->getInit()) TRY_VOID(statement(s->getInit()));
  if (!s->getCond()) return refuse("c.loop.form", "a loop without a condition", s->getBeginLoc());
  return while_statement(parts);
}

Lift<void> Builder::any_loop(const LoopParts& loop) {
  return counts(loop) ? stepped_loop(loop) : while_statement(loop);
}

// A loop that counts, with a break in it. Its variable gets memory of its own: in the body it lies in the loop's range,
// so that how far the loop may reach is known on entry.
Lift<void> Builder::search_loop(const clang::ForStmt* s, const ForHeader& header) {
  const clang::VarDecl* v = header.variable;
  const clang::SourceLocation where = s->getBeginLoc();
  const ElementType type = *element_type(v->getType(), context_);
  Binding outer;
  if (!header.declared) {
    TRY(const Binding* b, binding(v, where));
    if (b->kind != Binding::Kind::Scalar) {
      unfollowed(v);
      return refuse("c.induction-variable", "the value of the loop's variable after it is not known", where);
    }
    outer = *b;
  }
  pool_.clear();
  ScalarExpr first;
  if (header.begin) {
    TRY(first, value(header.begin));
  } else {
    first = input({outer.container, {}, std::nullopt}, type);
  }
  const Binding own{Binding::Kind::Scalar, {}, {}, temporary(v->getNameAsString(), type), {}};
  emit_assignment({own.container, {}, std::nullopt}, ScalarExpr::cast(std::move(first), type));
  const std::vector<Expr> assumptions = ranges_.assumptions;
  const std::string symbol = fresh(v->getNameAsString());
  std::optional<Range> range;
  const auto reach = [&]() -> Lift<void> {
    TRY(const Expr begin, index(header.begin));  // which may name what the variable was before
    bindings_[v] = {Binding::Kind::Expression, Expr::symbol(symbol), std::nullopt, {}, {}};
    TRY(const Bounds limits, bounds(header, begin, symbol));
    if (begin.reads().empty() && limits.end.reads().empty())
      range = loop_range(symbol, limits.begin, limits.end, header.step);
    return {};
  };
  // Statements that a bound needs first would run here, where C may not look at it.
  if (header.begin)
    if (auto needed = region(reach); !needed || !needed->nodes.empty()) range.reset();
  if (range)
    own_ranges_[own.container] = *range;
  else
    ranges_.assumptions = assumptions;
  bindings_[v] = own;
  TRY_VOID(while_statement({s->getCond(), s->getBody(), s->getInc(), true, where}));
  if (header.declared) {
    bindings_.erase(v);
    return {};
  }
  bindings_[v] = outer;
  pool_.clear();
  emit_assignment({outer.container, {}, std::nullopt}, input({own.container, {}, std::nullopt}, type));
  return {};
}

Lift<void> Builder::while_statement(const LoopParts& loop) {
  const auto& [test, loop_body, increment, test_first, where] = loop;
  const std::optional<Returning> returning = std::exchange(returning_, std::nullopt);
  if (for_depth_ == 0) return refuse("c.while", "a loop that does not count, outside of any that does", where);
  if (contains_bounded_for(loop_body)) return refuse("c.while.contains-for", "a while loop around for loops", where);
  if (changes_tracked(test) || changes_tracked(loop_body) || changes_tracked(increment)) {
    for (const clang::Stmt* s :
         {static_cast<const clang::Stmt*>(test), loop_body, static_cast<const clang::Stmt*>(increment)})
      for (const clang::VarDecl* v : written_variables(s)) unfollowed(v);
    return refuse("c.pointer.reassigned", "a pointer is changed in a while loop", where);
  }
  // A condition that needs statements of its own is computed into a temporary, before the loop and after each pass.
  std::string flag;
  pool_.clear();
  ScalarExpr code;
  std::vector<Memlet> inputs;
  const bool stops = interruption(loop_body) != nullptr;
  const auto look = [&] {
    return region([&]() -> Lift<void> {
      TRY(code, condition(test));
      inputs = compact(code);
      return {};
    });
  };
  // A break may pass the condition of a `do` by.
  TRY(sdfg::Region before, test_first || !stops ? look() : sometimes(look));
  const bool simple = before.nodes.empty() && !stops;
  auto compute_flag = [&]() -> Lift<void> {
    pool_.clear();
    TRY(ScalarExpr v, condition(test));
    emit_assignment({flag, {}, std::nullopt}, v);
    return {};
  };
  if (!simple) {
    flag = temporary("t", ElementType::boolean);
    if (test_first)
      TRY_VOID(compute_flag());
    else if (stops)
      emit_assignment({flag, {}, std::nullopt}, ScalarExpr::integer(1, ElementType::boolean));
    code = ScalarExpr::make_input(0, ElementType::boolean);
    inputs = {{flag, {}, std::nullopt}};
  }
  // A break makes the flag false and leaves the rest of the pass out: what follows is done where it is still true.
  const Exits exits{.loop = true,
                    .flag = stops ? flag : "",
                    .function = returning.has_value(),
                    .result = returning ? returning->result : "",
                    .returned = returning ? returning->returned : "",
                    .record = returning ? returning->record : std::nullopt};
  auto next = [&]() -> Lift<void> {
    if (increment) TRY_VOID(expression_statement(increment));
    return simple ? Lift<void>() : compute_flag();
  };
  auto pass = [&]() -> Lift<void> {
    TRY_VOID(body(loop_body, &exits));
    if (!stops || planted(Fault::break_goes_on)) return next();
    TRY(sdfg::Region going_on, sometimes([&] { return region(next); }));
    emit(sdfg::If{.condition = {ScalarExpr::make_input(0, ElementType::boolean), {{flag, {}, std::nullopt}}},
                  .then_body = std::move(going_on),
                  .else_body = {}});
    return {};
  };
  TRY(sdfg::Region inner, sometimes([&] { return region(pass); }));
  emit(sdfg::While{
      .condition = {std::move(code), std::move(inputs)}, .test_first = test_first || stops, .body = std::move(inner)});
  return {};
}
}  // namespace sous::frontends::c
