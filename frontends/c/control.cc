// Statements and loops.
#include <algorithm>
#include <utility>

#include "clang/AST/DeclCXX.h"
#include "frontends/c/builder.h"
#include "sdfg/planted_fault.h"

namespace sous::frontends::c {

using sdfg::ElementType;
using sdfg::Expr;
using sdfg::Memlet;
using sdfg::ScalarExpr;

namespace {

// A for loop that nothing ends before its bound.
bool contains_counting(const clang::Stmt* s) {
  if (!s) return false;
  const auto* loop = llvm::dyn_cast<clang::ForStmt>(s);
  if (loop && !interruption(loop->getBody())) return true;
  return std::ranges::any_of(s->children(), contains_counting);
}

}  // namespace

Lift<void> Builder::statement(const clang::Stmt* s) {
  if (llvm::isa<clang::NullStmt>(s)) return {};
  if (const auto* block = llvm::dyn_cast<clang::CompoundStmt>(s)) return body(block);
  if (const auto* d = llvm::dyn_cast<clang::DeclStmt>(s)) {
    for (const clang::Decl* decl : d->decls()) {
      if (const auto* v = llvm::dyn_cast<clang::VarDecl>(decl)) {
        TRY(const std::vector<Step> steps, steps_in(v->getInit()));
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
    return while_statement(w->getCond(), w->getBody(), nullptr, true, s->getBeginLoc());
  if (const auto* d = llvm::dyn_cast<clang::DoStmt>(s)) {
    // do { … } while (0), as macros are written, runs once.
    if (auto c = constant_value(d->getCond(), context_); c && *c == 0) return body(d->getBody());
    return while_statement(d->getCond(), d->getBody(), nullptr, false, s->getBeginLoc());
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
  TRY(const std::vector<Step> steps, steps_in(e));
  TRY_VOID(plain_statement(e));
  return take_effect(steps);
}

Lift<void> Builder::plain_statement(const clang::Expr* e) {
  pool_.clear();
  if (const auto* b = llvm::dyn_cast<clang::BinaryOperator>(e); b && b->isAssignmentOp()) return assign(b);
  if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(e); u && u->isIncrementDecrementOp()) return increment(u);
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(e)) {
    if (!e->HasSideEffects(context_)) return {};
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
  auto type = element_type(e->getLHS()->getType(), context_);
  if (!type) {
    const bool is_volatile = e->getLHS()->getType().isVolatileQualified() || e->getLHS()->getType()->isAtomicType();
    return refuse(is_volatile                              ? "c.volatile"
                  : e->getLHS()->getType()->isRecordType() ? "c.struct"
                                                           : "c.type",
                  "an assignment to an object of type " + e->getLHS()->getType().getAsString(), where);
  }
  const clang::Expr* right = e->getRHS();
  if (!e->isCompoundAssignmentOp()) {
    // a = b = c: the inner one first; its value is that of b after the assignment.
    const clang::Expr* inner = right;
    while (const auto* c = llvm::dyn_cast<clang::ImplicitCastExpr>(inner)) inner = c->getSubExpr();
    inner = inner->IgnoreParens();
    if (const auto* chained = llvm::dyn_cast<clang::BinaryOperator>(inner); chained && chained->isAssignmentOp()) {
      TRY_VOID(assign(chained));
      pool_.clear();
      TRY(ScalarExpr v, load(chained->getLHS()));
      TRY(Access target, lvalue(e->getLHS()));
      emit_assignment({target.container, sdfg::point(target.subscript), std::nullopt}, ScalarExpr::cast(v, *type));
      return {};
    }
  }
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
  emit_assignment({target.container, sdfg::point(target.subscript), std::nullopt},
                  ScalarExpr::cast(std::move(code), *type));
  return {};
}

Lift<void> Builder::increment(const clang::UnaryOperator* e) {
  if (announced(e)) return {};  // takes effect behind the statement
  if (e->getSubExpr()->getType()->isPointerType())
    return refuse("c.pointer.reassigned", "a pointer is changed", e->getExprLoc());
  TRY(ScalarExpr old, load(e->getSubExpr()));
  TRY(Access target, lvalue(e->getSubExpr()));
  const ElementType type = old.type;
  // Narrow types are promoted to int and converted back.
  const ElementType computed = sdfg::is_float(type) || sdfg::info(type).bytes >= 4 ? type : ElementType::i32;
  const ScalarExpr one = sdfg::is_float(type) ? ScalarExpr::real(1, type) : ScalarExpr::integer(1, computed);
  TRY(ScalarExpr code, arithmetic(e->isIncrementOp() ? clang::BO_Add : clang::BO_Sub,
                                  ScalarExpr::cast(std::move(old), computed), one, e->getExprLoc()));
  emit_assignment({target.container, sdfg::point(target.subscript), std::nullopt},
                  ScalarExpr::cast(std::move(code), type));
  return {};
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
  TRY(ScalarExpr test, condition(s->getCond()));
  TRY_VOID(take_effect(steps));
  const auto arm = [&](const clang::Stmt* a) { return a ? body(a) : Lift<void>(); };
  return branch(test, [&] { return arm(s->getThen()); }, [&] { return arm(s->getElse()); });
}

void Builder::forget_inner_finals(std::size_t from) {
  for (std::size_t k = from; k < finals_.size(); ++k) {
    finals_[k].nonneg.clear();
    finals_[k].value.reset();
    bindings_[finals_[k].variable] = {};
  }
}

Lift<void> Builder::for_statement(const clang::ForStmt* s) {
  auto header = for_header(s, context_);
  const clang::Stmt* jump = interruption(s->getBody());
  if (header && !jump && !written_variables(s->getBody()).contains(header->variable)) return for_loop(s, *header);
  if (jump && for_depth_ == 0)
    return refuse(reason_code(jump), "the outermost loop may end before its bound", jump->getBeginLoc());
  if (!header && s->getInc() && s->getCond() && s->getInc()->getType()->isPointerType())
    return refuse("c.pointer.reassigned", "a loop over pointers", s->getBeginLoc());
  if (for_depth_ == 0)
    return refuse("c.loop.form",
                  header ? "the loop's variable is changed in its body"
                         : "the loop does not count from one bound to another in constant steps",
                  s->getBeginLoc());
  if (header && jump && header->before.empty() && header->also.empty() &&
      !written_variables(s->getBody()).contains(header->variable))
    return search_loop(s, *header);
  if (s->getInit()) TRY_VOID(statement(s->getInit()));
  if (!s->getCond()) return refuse("c.loop.form", "a loop without a condition", s->getBeginLoc());
  return while_statement(s->getCond(), s->getBody(), s->getInc(), true, s->getBeginLoc());
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
    if (b->kind != Binding::Kind::Scalar)
      return refuse("c.induction-variable", "the value of the loop's variable after it is not known", where);
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
  TRY_VOID(while_statement(s->getCond(), s->getBody(), s->getInc(), true, where));
  if (header.declared) {
    bindings_.erase(v);
    return {};
  }
  bindings_[v] = outer;
  pool_.clear();
  emit_assignment({outer.container, {}, std::nullopt}, input({own.container, {}, std::nullopt}, type));
  return {};
}

Lift<void> Builder::while_statement(const clang::Expr* test, const clang::Stmt* loop_body, const clang::Expr* increment,
                                    bool test_first, clang::SourceLocation where) {
  const std::optional<Returning> returning = std::exchange(returning_, std::nullopt);
  if (for_depth_ == 0) return refuse("c.while", "a while loop outside of any for loop", where);
  if (contains_counting(loop_body)) return refuse("c.while.contains-for", "a while loop around for loops", where);
  if (changes_tracked(test) || changes_tracked(loop_body) || changes_tracked(increment))
    return refuse("c.pointer.reassigned", "a pointer is changed in a while loop", where);
  // A condition that needs statements of its own is computed into a temporary, before the loop and after each pass.
  std::string flag;
  pool_.clear();
  ScalarExpr code;
  std::vector<Memlet> inputs;
  TRY(sdfg::Region before, region([&]() -> Lift<void> {
        TRY(code, condition(test));
        inputs = compact(code);
        return {};
      }));
  const bool stops = interruption(loop_body) != nullptr;
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
                    .returned = returning ? returning->returned : ""};
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

// All conditions have to hold: the loop ends at the first bound that it meets.
Lift<Builder::Bounds> Builder::bounds(const ForHeader& header, const Expr& begin, const std::string& symbol) {
  std::optional<Expr> end;
  for (const clang::BinaryOperator* condition : header.conditions) {
    // The second condition is looked at where the first one holds.
    const auto look = [&] { return bound(header, condition, begin, symbol); };
    TRY(Expr next, end ? sometimes(look) : look());
    if (header.conditions.size() > 1)
      TRY_VOID(lower_half(next, condition->getLHS()->getType(), condition->getExprLoc()));
    end = !end ? next : header.step > 0 ? Expr::min(*end, next) : Expr::max(*end, next);
  }
  return Bounds{begin, *end};
}

// The end that one condition sets, from its linear form with `symbol` for the variable: c*v + rest OP 0.
Lift<Expr> Builder::bound(const ForHeader& header, const clang::BinaryOperator* condition, const Expr& begin,
                          const std::string& symbol) {
  const clang::SourceLocation where = condition->getExprLoc();
  const clang::QualType type = header.variable->getType();
  const bool up = header.step > 0;
  // While the condition is read, the variable is known on one side: it runs away from its beginning.
  box_.push_back(up ? Range{symbol, begin, std::nullopt} : Range{symbol, std::nullopt, begin});
  // A conversion of the variable itself to a wider or unsigned type keeps its value where it does not turn negative.
  auto left = index(condition->getLHS());
  auto right = left ? index(condition->getRHS()) : left;
  box_.pop_back();
  if (!left) return std::unexpected(left.error());
  if (!right) return std::unexpected(right.error());
  const Expr difference = *left - *right;
  auto coefficient = sdfg::coefficient_of(difference, symbol);
  if (!coefficient || !coefficient->constant() || *coefficient->constant() == 0)
    return refuse("c.loop.form", "the condition is not linear in the loop's variable", where);
  std::int64_t c = *coefficient->constant();
  Expr rest = difference - Expr(c) * Expr::symbol(symbol);  // c*v + rest OP 0
  clang::BinaryOperatorKind op = condition->getOpcode();
  if (c < 0) {
    c = -c;
    rest = -rest;
    op = op == clang::BO_LT   ? clang::BO_GT
         : op == clang::BO_LE ? clang::BO_GE
         : op == clang::BO_GT ? clang::BO_LT
         : op == clang::BO_GE ? clang::BO_LE
                              : op;
  }
  Expr end;
  const Expr limit = -rest;  // c*v OP limit
  const bool is_signed = type->isSignedIntegerOrEnumerationType();
  switch (op) {
    case clang::BO_LT:  // v < ceil(limit / c)
      if (!up) return refuse("c.loop.form", "the loop counts down to an upper bound", where);
      end = Expr::ceil_div(limit, c);
      break;
    case clang::BO_LE:  // v < floor(limit / c) + 1
      if (!up) return refuse("c.loop.form", "the loop counts down to an upper bound", where);
      end = Expr::floor_div(limit, Expr(c)) + Expr(planted(Fault::bound_inclusive_lost) ? 0 : 1);
      break;
    case clang::BO_GT:  // v > floor(limit / c)
      if (up) return refuse("c.loop.form", "the loop counts up to a lower bound", where);
      end = Expr::floor_div(limit, Expr(c));
      break;
    case clang::BO_GE:  // v > ceil(limit / c) - 1
      if (up) return refuse("c.loop.form", "the loop counts up to a lower bound", where);
      end = Expr::ceil_div(limit, c) - Expr(1);
      break;
    case clang::BO_NE: {
      if (c != 1) return refuse("c.loop.form", "a scaled variable compared with !=", where);
      const Expr distance = up ? limit - begin : begin - limit;
      const std::int64_t step = up ? header.step : -header.step;
      if (step != 1 && Expr::mod(distance, Expr(step)) != Expr(0))
        return refuse("c.loop.form", "the step may jump over the bound", where);
      TRY_VOID(nonneg(distance, where, "c.loop.form", "the loop may start behind its bound"));
      end = limit;
      break;
    }
    default:
      return refuse("c.loop.form", "this condition is not understood", where);
  }
  if (!end.is_valid()) return refuse("c.loop.form", "a bound leaves 64 bits", where);
  // The value with which the loop ends has to exist in the variable's type, or the loop would wrap and never end.
  const ElementType t = *element_type(type, context_);
  const int bits = 8 * sdfg::info(t).bytes;
  if (!is_signed) {
    if (!up)
      TRY_VOID(nonneg(end + Expr(header.step) + Expr(1), where, "c.unsigned-wrap", "the loop counts below zero"));
    if (up && bits == 64 && header.step > 1)
      TRY_VOID(nonneg(Expr(INT64_MAX - header.step) - end, where, "c.unsigned-wrap", "the loop may wrap"));
  }
  if (up && bits < 64 && (!is_signed || bits < 32)) {
    const std::int64_t top = (std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
    TRY_VOID(nonneg(Expr(top - header.step + 1) - end, where, is_signed ? "c.narrowing" : "c.unsigned-wrap",
                    "the loop's variable may be too small for its bound"));
  }
  if (!up && is_signed && bits < 32)
    TRY_VOID(nonneg(end + Expr(header.step) + Expr(std::int64_t{1} << (bits - 1)), where, "c.narrowing",
                    "the loop's variable may be too small for its bound"));
  return end;
}

// Whether the last iteration sets f's variable if any iteration does that under f's conditions: by an entry of `inside`
// with no more conditions than f, each of which turns no smaller from one iteration to the next.
bool Builder::set_last(const Final& f, const std::vector<Final>& inside, const std::string& symbol, bool up) {
  const auto lasting = [&](const Expr& e) {
    if (!e.symbols().contains(symbol)) return true;
    const auto coefficient = sdfg::coefficient_of(e, symbol);
    const auto constant = coefficient ? coefficient->constant() : std::nullopt;
    return constant && (up ? *constant >= 0 : *constant <= 0);
  };
  return std::ranges::any_of(inside, [&](const Final& g) {
    return g.variable == f.variable && g.value && std::ranges::all_of(g.nonneg, [&](const Expr& e) {
             return lasting(e) && std::ranges::find(f.nonneg, e) != f.nonneg.end();
           });
  });
}

Lift<void> Builder::for_loop(const clang::ForStmt* s, const ForHeader& header) {
  const clang::VarDecl* v = header.variable;
  const clang::SourceLocation where = s->getBeginLoc();
  // A variable that something else writes, too, keeps its memory; inside the loop it is the symbol all the same.
  const bool in_memory = written_here(v) || v->hasGlobalStorage() || facts_.address_taken.contains(v);
  for (const clang::Expr* e : header.before) TRY_VOID(expression_statement(e));
  Expr begin;
  if (header.begin) {
    TRY(begin, index(header.begin));
  } else {
    TRY(const Binding* b, binding(v, where));
    if (b->kind == Binding::Kind::Expression && b->index)
      begin = *b->index;
    else if (b->kind == Binding::Kind::Scalar)
      begin = Expr::read(b->container, {});
    else
      return refuse("c.induction-variable", "where the loop begins is not known", where);
  }
  // C skips a loop that begins in the upper half of an unsigned type; as an index, that begin is negative.
  std::optional<Memlet> guarded;
  if (header.step > 0 && element_type(v->getType(), context_) == ElementType::u64 && !ranges_.nonneg(begin, box_)) {
    const auto& terms = begin.terms();
    if (terms.size() != 1 || begin.constant_term() != 0 || terms[0].coefficient != 1 || terms[0].atoms.size() != 1 ||
        terms[0].atoms[0].kind != sdfg::AtomKind::Read)
      return refuse("c.unsigned-wrap", "where the loop begins may be larger than any index", where);
    const sdfg::Atom& read = terms[0].atoms[0];
    if (sdfg_.find(read.name)->type == ElementType::u64) {
      guarded = Memlet{read.name, {}, std::nullopt};
      for (const Expr& e : read.args) guarded->subset.push_back({e, std::nullopt});
    }
  }
  const std::string symbol = fresh(v->getNameAsString());
  note_line(symbol, where);
  Binding outer;
  if (in_memory) {
    if (header.declared) {
      outer.kind = Binding::Kind::Scalar;
      outer.container = temporary(v->getNameAsString(), *element_type(v->getType(), context_));
    } else {
      TRY(const Binding* b, binding(v, where));
      outer = *b;
    }
  }
  bindings_[v] = {Binding::Kind::Expression, Expr::symbol(symbol), std::nullopt, {}, {}};
  TRY(Bounds limits, bounds(header, begin, symbol));
  std::vector<Stepping> steps;
  const std::size_t finals = finals_.size();
  box_.push_back(loop_range(symbol, limits.begin, limits.end, header.step));
  const bool up = header.step > 0;
  const Expr nonempty = up ? limits.end - limits.begin - Expr(1) : limits.begin - limits.end - Expr(1);
  ++for_depth_;
  loops_.push_back({symbol, limits.begin, nonempty});
  auto inner = region([&]() -> Lift<void> {
    TRY(steps, enter_steps(s, header, limits.begin, symbol));
    const Exits exits{.loop = true};
    TRY_VOID(body(s->getBody(), &exits));
    for (const clang::Expr* e : header.also) TRY_VOID(expression_statement(e));
    return verify_steps(steps, where);
  });
  loops_.pop_back();
  --for_depth_;
  box_.pop_back();
  if (!inner) return std::unexpected(inner.error());

  const Expr step(up ? header.step : -header.step);
  const Expr trips = Expr::floor_div(nonempty, step) + Expr(1);
  const Expr after = limits.begin + Expr(header.step) * (planted(Fault::final_value_short) ? trips - 1 : trips);
  // C tests the condition each time; the Sdfg reads its bounds once.
  const sdfg::Touched touched = sdfg::touched(*inner);
  for (const std::string& container : limits.end.reads())
    if (touched.written.contains(container))
      return refuse("c.loop.bound-changes", "the bound of the loop is changed in its body", where);

  TRY_VOID(leave_steps(steps, limits, header.step, where));
  // What bounds read from memory may not be there to be read again after the nest.
  const bool readable = limits.begin.reads().empty() && limits.end.reads().empty();
  // Inner induction variables after the loop: as its last iteration left them, if there was one.
  const std::vector<Final> inside(finals_.begin() + static_cast<std::ptrdiff_t>(finals), finals_.end());
  for (std::size_t k = finals; k < finals_.size(); ++k) {
    Final& f = finals_[k];
    bindings_[f.variable] = {};
    if (!f.value) continue;
    if (!readable || !set_last(f, inside, symbol, up)) {
      f.value.reset();
      continue;
    }
    const std::map<std::string, Expr> last{{symbol, after - Expr(header.step)}};
    f.value = f.value->substitute(last);
    for (Expr& e : f.nonneg) e = e.substitute(last);
    f.nonneg.insert(f.nonneg.begin(), nonempty);
  }
  sdfg::Loop loop{.symbol = symbol,
                  .begin = limits.begin,
                  .end = limits.end,
                  .step = header.step,
                  .schedule = sdfg::Sequential{},
                  .privates = {},
                  .reductions = {},
                  .body = std::move(*inner)};
  if (guarded) {
    forget_inner_finals(finals);
    ScalarExpr test = ScalarExpr::binary(sdfg::ScalarOp::le, ScalarExpr::make_input(0, ElementType::u64),
                                         ScalarExpr::integer(INT64_MAX, ElementType::u64));
    sdfg::Region then_body;
    then_body.nodes.push_back(std::move(loop));
    emit(sdfg::If{.condition = {std::move(test), {*guarded}}, .then_body = std::move(then_body), .else_body = {}});
  } else {
    emit(std::move(loop));
  }
  if (header.declared) {
    bindings_.erase(v);
    return {};
  }
  if (in_memory) {
    if (!readable)
      return refuse("c.induction-variable", "the value of the loop's variable after it is not known", where);
    const ElementType type = *element_type(v->getType(), context_);
    const Expr value = step == Expr(1)
                           ? (up ? Expr::max(limits.begin, limits.end) : Expr::min(limits.begin, limits.end))
                           : limits.begin + Expr(header.step) * Expr::max(trips, Expr(0));
    pool_.clear();
    emit_assignment({outer.container, {}, std::nullopt}, ScalarExpr::make_symbolic(value, type));
    bindings_[v] = outer;
    return {};
  }
  bindings_[v] = {};
  if (readable) {
    if (ranges_.nonneg(nonempty + Expr(1), box_))  // begin <= end: then even zero iterations end at the bound
      bindings_[v] = {Binding::Kind::Expression, after, std::nullopt, {}, {}};
    finals_.push_back({v, {}, limits.begin});
    finals_.push_back({v, {nonempty}, after});
  } else {
    finals_.push_back({v, {}, std::nullopt});
  }
  return {};
}

}  // namespace sous::frontends::c
