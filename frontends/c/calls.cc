// Calls: functions of math.h become operators; simple functions of the same file are inlined.
#include <algorithm>
#include <array>
#include <functional>

#include "clang/AST/Attr.h"
#include "clang/Basic/Builtins.h"
#include "frontends/c/builder.h"
#include "frontends/c/call_effects.h"
#include "frontends/c/function_attributes.h"
#include "frontends/c/repeated_calls.h"
#include "llvm/Support/SaveAndRestore.h"
#include "sdfg/contraction.h"

namespace sous::frontends::c {

using sdfg::ElementType;
using sdfg::Expr;
using sdfg::Memlet;
using sdfg::ScalarExpr;
using sdfg::ScalarOp;

namespace {

struct MathFunction {
  ScalarOp op;
  ElementType type;
};

std::optional<MathFunction> math_function(std::string name) {
  if (name.starts_with("__builtin_")) name = name.substr(10);
  for (const ElementType type : {ElementType::f64, ElementType::f32}) {
    if (type == ElementType::f32) {
      if (!name.ends_with('f')) return std::nullopt;
      name.pop_back();
    }
#define X(op, text, ...) \
  if (name == text) return MathFunction{ScalarOp::op, type};
    SOUS_MATH_OPS(X)
#undef X
  }
  return std::nullopt;
}

// INFINITY and HUGE_VAL are calls of functions without arguments.
std::optional<double> real_constant(const clang::CallExpr* e, const clang::ASTContext& context) {
  llvm::APFloat value(0.0);
  if (e->getNumArgs() != 0 || !e->getType()->isRealFloatingType() || !e->EvaluateAsFloat(value, context))
    return std::nullopt;
  bool exact = false;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &exact);
  return value.isNaN() ? std::nullopt : std::optional(value.convertToDouble());
}

// An argument stands wherever its parameter is named; a larger one gets a temporary, or calls within calls would grow
// without bound.
bool is_small(const ScalarExpr& code) {
  constexpr int most_operations = 24;
  int operations = 0;
  code.visit([&](const ScalarExpr&) { ++operations; });
  return operations <= most_operations;
}

// Calls within calls, of the arguments.
int call_depth(const clang::Stmt* s) {
  int depth = 0;
  if (s == nullptr) return depth;
  for (const clang::Stmt* child : s->children()) depth = std::max(depth, call_depth(child));
  return depth + (llvm::isa<clang::CallExpr>(s) ? 1 : 0);
}

// A function of the file as its body says what a call of it is worth.
struct Body {
  const clang::CompoundStmt* block = nullptr;
  const clang::Expr* value = nullptr;  // of the only return, at its end; null: what its returns leave in a temporary
  bool returns = false;
  bool single = false;  // there is nothing but the value
};

Body body_of(const clang::FunctionDecl* f, const clang::ASTContext& context) {
  Body result;
  result.block = llvm::dyn_cast<clang::CompoundStmt>(f->getBody());
  result.value = returned_value(result.block, context);
  result.returns = result.single = result.value != nullptr;
  if (result.single) return result;
  int returns = 0;
  for_each_statement(result.block, [&](const clang::Stmt* s) { returns += llvm::isa<clang::ReturnStmt>(s); });
  result.returns = returns > 0;
  const auto* last = result.block && !result.block->body_empty()
                         ? llvm::dyn_cast<clang::ReturnStmt>(result.block->body_back())
                         : nullptr;
  if (last && returns == 1) result.value = last->getRetValue();
  return result;
}

}  // namespace

bool Builder::addressed(const clang::VarDecl* v) const {
  if (facts_.address_taken.contains(v)) return true;
  const auto* f = in_called_function(v) ? llvm::dyn_cast<clang::FunctionDecl>(v->getDeclContext()) : nullptr;
  return f && address_taken(f->getBody()).contains(v);
}

// The only call in an expression of which all else is made of numbers and local variables, which no call can change:
// whether it comes first or last makes no difference, and so it may write what it likes.
const clang::CallExpr* Builder::lone_call(const clang::Expr* e) const {
  if (!contains_call(e)) return nullptr;
  const std::function<bool(const clang::Stmt*)> steady = [&](const clang::Stmt* s) {
    if (const auto* ref = llvm::dyn_cast<clang::DeclRefExpr>(s)) {
      const auto* v = llvm::dyn_cast<clang::VarDecl>(ref->getDecl());
      return !v || (v->hasLocalStorage() && v->getType()->isArithmeticType() && !addressed(v));
    }
    if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(s); u && u->isIncrementDecrementOp()) return false;
    if (const auto* b = llvm::dyn_cast<clang::BinaryOperator>(s); b && b->isAssignmentOp()) return false;
    if (llvm::isa<clang::MemberExpr, clang::ArraySubscriptExpr>(s) || contains_call(s)) return false;
    return std::ranges::all_of(s->children(), steady);
  };
  e = e->IgnoreParenCasts();
  if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(e))
    return u->isArithmeticOp() ? lone_call(u->getSubExpr()) : nullptr;
  if (const auto* b = llvm::dyn_cast<clang::BinaryOperator>(e)) {
    if (b->isAssignmentOp() || b->isLogicalOp() || b->isCommaOp()) return nullptr;
    return steady(b->getRHS()) ? lone_call(b->getLHS()) : steady(b->getLHS()) ? lone_call(b->getRHS()) : nullptr;
  }
  const auto* call = llvm::dyn_cast<clang::CallExpr>(e);
  if (!call || !call->getDirectCallee()) return nullptr;
  if (call->getDirectCallee()->getBuiltinID() != 0)
    return call->getNumArgs() == 1 ? lone_call(call->getArg(0)) : nullptr;
  return std::ranges::any_of(call->arguments(), contains_call) ? nullptr : call;
}

Lift<const clang::FunctionDecl*> Builder::inlinable(const clang::CallExpr* e) {
  const clang::SourceLocation where = e->getExprLoc();
  const clang::FunctionDecl* callee = e->getDirectCallee();
  if (!callee) return refuse("c.call.pointer", "a call through a pointer", where);
  const std::string name = callee->getNameAsString();
  const clang::FunctionDecl* definition = nullptr;
  if (!callee->hasBody(definition))
    return refuse("c.call.unknown-effects",
                  "a call of '" + name + "', which is defined elsewhere: its effects are not known", where);
  if (definition->isVariadic() || definition->getNumParams() != e->getNumArgs())
    return refuse("c.call.varargs", "'" + name + "' takes a variable number of arguments", where);
  if (definition->hasAttr<clang::WeakAttr>())
    return refuse("c.call.unknown-effects", "'" + name + "' is weak: another definition may replace it", where);
  constexpr std::size_t kMaxDepth = 6;
  if (inline_stack_.size() >= kMaxDepth || std::ranges::find(inline_stack_, definition) != inline_stack_.end())
    return refuse("c.call.recursive", "'" + name + "' calls itself, or calls nest too deeply", where);
  if (is_repeated(e,
                  inline_stack_.empty() ? stretch_ : std::vector<const clang::Stmt*>{inline_stack_.back()->getBody()}))
    return refuse("c.call.repeated",
                  "'" + name + "' computes the same in each iteration: a compiler calls it once, as it is", where);
  if (std::ranges::find(called_, definition) == called_.end())
    return refuse("c.budget", "'" + name + "' is called beside too many other functions", where);
  if (nests_too_deeply(definition->getBody())) return refuse("c.budget", "'" + name + "' nests too deeply", where);
  if (has_own_options(definition)) return refuse("c.call.not-inlinable", "'" + name + "' has its own options", where);
  for (const clang::VarDecl* v : address_taken(definition->getBody()))
    if (v->getDeclContext() == definition && (llvm::isa<clang::ParmVarDecl>(v) || !only_passed(v)))
      return refuse("c.call.not-inlinable", "'" + name + "' takes the address of its variables", where);
  return definition;
}

// What stands for a parameter that is a number.
Lift<Binding> Builder::scalar_argument(const clang::ParmVarDecl* p, const clang::Expr* argument, bool by_value,
                                       clang::SourceLocation where) {
  Binding b;
  auto type = element_type(p->getType(), context_);
  if (!type) return refuse("c.type", "a parameter of type " + p->getType().getAsString(), where);
  if (tracked(p)) return value_of(p, argument);
  // A definition without a prototype converts what it is passed itself (C17 6.9.1p10).
  const bool converts = !context_.hasSameUnqualifiedType(argument->getType(), p->getType());
  if (converts && *type == ElementType::boolean)
    return refuse("c.type", "a parameter of type _Bool without a prototype", where);
  // Tried as a subscript first, which is lost work for most: not where each level would double it.
  if (!written_here(p) && !sdfg::is_float(*type) && call_depth(argument) < 2) {
    const std::size_t assumptions = ranges_.assumptions.size();
    auto i = index(argument);
    if (i && converts) i = in_type(*i, p->getType(), where);
    if (i && (by_value || i->reads().empty()) && ranges_.assumed_little(assumptions))
      b.index = *i;
    else
      ranges_.assumptions.resize(assumptions);
  }
  const bool as_value = by_value && !written_here(p);
  if (b.index && b.index->reads().empty()) {
    b.kind = Binding::Kind::Expression;
  } else {
    TRY(ScalarExpr v, value(argument));
    if (converts) v = ScalarExpr::cast(std::move(v), *type);
    if (as_value && is_small(v)) {
      b.kind = Binding::Kind::Expression;
      b.value = sdfg::kept_apart(std::move(v));
      return b;
    }
    // A scalar that nothing here writes can be read under its own name.
    const auto* same = v.op == ScalarOp::input ? &pool_[static_cast<std::size_t>(v.input)] : nullptr;
    // It is known to belong to variables, or to a member, that the nest does not write; the nest's own not through a
    // pointer either, which is not looked at when all is built.
    const auto keeps_value = [&](const std::string& container) {
      bool named = std::ranges::any_of(members_, [&](const auto& m) { return m.second.container == container; });
      for (const auto& [v, bound] : bindings_) {
        if (bound.kind != Binding::Kind::Scalar || bound.container != container) continue;
        if (written_here(v) || (declared_.contains(v) && addressed(v))) return false;
        named = true;
      }
      return named;
    };
    b.kind = Binding::Kind::Scalar;
    if (same && same->subset.empty() && keeps_value(same->container) && !written_here(p)) {
      b.container = same->container;
    } else {
      b.container = temporary(p->getNameAsString(), *type);
      emit_assignment({b.container, {}, std::nullopt}, v);
    }
  }
  return b;
}

Lift<void> Builder::bind_parameters(const clang::FunctionDecl* f, const clang::CallExpr* e, bool by_value) {
  std::vector<std::pair<const clang::VarDecl*, Binding>> bound;
  std::vector<std::pair<const clang::VarDecl*, RecordArgument>> records;
  std::vector<std::pair<const clang::VarDecl*, Place>> places;
  std::vector<std::pair<const clang::VarDecl*, std::string>> copies;
  for (unsigned k = 0; k < f->getNumParams(); ++k) {
    const clang::ParmVarDecl* p = f->getParamDecl(k);
    const clang::Expr* argument = e->getArg(k);
    Binding b;
    if (p->getType()->isPointerType()) {
      const bool record = p->getType()->getPointeeType()->isRecordType();
      if (written_here(p) && (record || is_null(argument) || !tracked(p)))
        return refuse("c.pointer.reassigned", "a pointer parameter is changed", e->getExprLoc());
      if (is_null(argument)) {
        b.kind = Binding::Kind::Null;
        bound.emplace_back(p, std::move(b));
        continue;
      }
      if (record) {
        if (auto named = record_argument(argument)) {
          records.emplace_back(p, std::move(*named));
        } else {
          TRY(Place target, pointee(argument));
          settle(target.subscript);
          places.emplace_back(p, std::move(target));
        }
        continue;
      }
      TRY(Access target, pointer(argument));
      settle(target.subscript);
      b = {Binding::Kind::Pointer, std::nullopt, std::nullopt, target.container, target.subscript};
    } else if (is_record(p->getType(), context_)) {
      if (auto record = record_alias(p, argument)) {
        records.emplace_back(p, std::move(*record));
      } else {
        const llvm::SaveAndRestore<std::vector<Memlet>> pool(pool_);  // of the arguments before
        const Place copy = own_record(p->getType(), p->getNameAsString());
        TRY_VOID(fill(copy, argument, p->getType(), e->getExprLoc()));
        copies.emplace_back(p, copy.root);
      }
      continue;
    } else {
      TRY(b, scalar_argument(p, argument, by_value, e->getExprLoc()));
    }
    bound.emplace_back(p, std::move(b));
  }
  // Bound only now: an argument may name the parameters of the caller, which may be the same function's.
  for (auto& [p, b] : bound) bindings_[p] = std::move(b);
  for (auto& [p, record] : records) record_arguments_[p] = std::move(record);
  for (auto& [p, place] : places) places_[p] = std::move(place);
  for (auto& [p, root] : copies) own_records_[p] = std::move(root);
  return {};
}

// Parameters as the caller had them (an argument may call the same function again).
void Builder::leave_call(const clang::FunctionDecl* f, const Caller& caller) {
  const auto restore = [](auto& now, const auto& before, const clang::VarDecl* p) {
    now.erase(p);
    if (auto it = before.find(p); it != before.end()) now.emplace(p, it->second);
  };
  for (const clang::ParmVarDecl* p : f->parameters()) {
    restore(bindings_, caller.bindings, p);
    restore(record_arguments_, caller.records, p);
    restore(places_, caller.places, p);
    restore(own_records_, caller.own_records, p);
  }
}

Lift<ScalarExpr> Builder::call(const clang::CallExpr* e) {
  const clang::SourceLocation where = e->getExprLoc();
  auto type = element_type(e->getType(), context_);
  const clang::FunctionDecl* callee = e->getDirectCallee();
  if (callee && type && callee->getBuiltinID() != 0) {
    const std::string name = callee->getNameAsString();
    if (const auto constant = real_constant(e, context_)) return ScalarExpr::real(*constant, *type);
    if (name == "__builtin_expect" && e->getNumArgs() >= 1) return value(e->getArg(0));
    if (auto m = math_function(name);
        m && m->type == *type && static_cast<int>(e->getNumArgs()) == sdfg::info(m->op).arity) {
      ScalarExpr result;
      result.op = m->op;
      result.type = m->type;
      for (const clang::Expr* argument : e->arguments()) {
        TRY(ScalarExpr v, value(argument));
        if (v.type != m->type) return refuse("c.call.unknown-effects", "'" + name + "' of another type", where);
        result.args.push_back(std::move(v));
      }
      return result;
    }
    TRY(auto of_complex, function_of_complex(e, name));
    if (of_complex) return *std::move(of_complex);
    constexpr std::array kAbs{"abs", "labs", "llabs", "__builtin_abs", "__builtin_labs", "__builtin_llabs"};
    if (std::ranges::find(kAbs, name) != kAbs.end() && e->getNumArgs() == 1) {
      TRY(ScalarExpr v, value(e->getArg(0)));
      ScalarExpr negative = ScalarExpr::binary(ScalarOp::lt, v, ScalarExpr::integer(0, v.type));
      return ScalarExpr::select(std::move(negative), ScalarExpr::unary(ScalarOp::neg, v), v);
    }
  }
  if (!type) return refuse("c.type", "a call that returns " + e->getType().getAsString(), where);
  TRY(const clang::FunctionDecl* f, inlinable(e));
  const auto [block, last, returns, single] = body_of(f, context_);
  if (!block || !returns || (e != lone_call_ && writes_of(f) != Writes::OwnVariables))
    return refuse("c.call.not-inlinable", "'" + f->getNameAsString() + "' is not simple enough to inline", where);
  const Caller before = caller();
  const std::vector<sdfg::Memlet> pool = pool_;
  // What a call may change, its arguments are read before.
  TRY_VOID(bind_parameters(f, e, single && e != lone_call_));
  inline_stack_.push_back(f);
  auto work = [&]() -> Lift<ScalarExpr> {
    const llvm::SaveAndRestore<const clang::CallExpr*> lone(lone_call_,
                                                            last && e == lone_call_ ? lone_call(last) : nullptr);
    // return x = …; as a statement and the value of x then.
    const auto* assigned = last ? llvm::dyn_cast<clang::BinaryOperator>(last->IgnoreParens()) : nullptr;
    if (assigned && (!assigned->isAssignmentOp() || assigned->getLHS()->HasSideEffects(context_))) assigned = nullptr;
    if (single && !assigned) return value(last);
    std::vector<Item> list = items_of(block);
    if (last) list.pop_back();
    const Memlet returned{last ? "" : temporary(f->getNameAsString(), *type), {}, std::nullopt};
    const Exits exits{.function = true, .result = returned.container};
    TRY_VOID(sequence(list, last ? nullptr : &exits));
    if (assigned) {
      pool_.clear();
      TRY_VOID(stays(assigned->getLHS()));
      TRY_VOID(assign(assigned));
    }
    pool_ = pool;  // statements number their inputs anew; those of the expression around come back
    if (assigned) return load(assigned->getLHS());
    return last ? value(last) : Lift<ScalarExpr>(input(returned, *type));
  };
  auto v = work();
  if (v) v = sdfg::kept_apart(std::move(*v));
  inline_stack_.pop_back();
  leave_call(f, before);
  return v;
}

// The structure that it returns, in a temporary.
Lift<Place> Builder::record_call(const clang::CallExpr* e) {
  const clang::SourceLocation where = e->getExprLoc();
  const llvm::SaveAndRestore<std::vector<Memlet>> pool(pool_);  // of the expression around
  TRY(const clang::FunctionDecl* f, inlinable(e));
  const auto [block, last, returns, single] = body_of(f, context_);
  if (!block || !returns || writes_of(f) != Writes::OwnVariables)
    return refuse("c.call.not-inlinable", "'" + f->getNameAsString() + "' is not simple enough to inline", where);
  const OwnRecord result{own_record(e->getType(), f->getNameAsString()), e->getType()};
  const Caller before = caller();
  TRY_VOID(bind_parameters(f, e, false));
  inline_stack_.push_back(f);
  auto work = [&]() -> Lift<void> {
    std::vector<Item> list = items_of(block);
    if (last) list.pop_back();
    const Exits exits{.function = true, .record = result};
    TRY_VOID(sequence(list, last ? nullptr : &exits));
    return last ? fill(result.place, last, result.type, where) : Lift<void>();
  };
  auto done = work();
  inline_stack_.pop_back();
  leave_call(f, before);
  TRY_VOID(done);
  return result.place;
}

Lift<void> Builder::call_statement(const clang::CallExpr* e) {
  const clang::SourceLocation where = e->getExprLoc();
  TRY(const clang::FunctionDecl* f, inlinable(e));
  const auto* block = llvm::dyn_cast<clang::CompoundStmt>(f->getBody());
  if (!block)
    return refuse("c.call.not-inlinable", "'" + f->getNameAsString() + "' is not simple enough to inline", where);
  // What it returns is not asked for.
  std::string result;
  if (!f->getReturnType()->isVoidType()) {
    const auto type = element_type(f->getReturnType(), context_);
    if (!type) return refuse("c.type", "a call that returns " + f->getReturnType().getAsString(), where);
    result = temporary(f->getNameAsString(), *type);
  }
  pool_.clear();
  const Caller before = caller();
  TRY_VOID(bind_parameters(f, e, false));
  inline_stack_.push_back(f);
  const Exits exits{.function = true, .result = result};
  auto done = body(block, &exits);
  inline_stack_.pop_back();
  leave_call(f, before);
  return done;
}

}  // namespace sous::frontends::c
