// Which element of which container an lvalue names.
#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "frontends/c/builder.h"

namespace sous::frontends::c {

using sdfg::Expr;

namespace {

bool is_dereference(const clang::Expr* e) {
  const auto* u = llvm::dyn_cast<clang::UnaryOperator>(e);
  return u && u->getOpcode() == clang::UO_Deref;
}

// A parameter `void *`.
const clang::VarDecl* untyped_pointer(const clang::Expr* e) {
  const auto* load = llvm::dyn_cast<clang::CastExpr>(e->IgnoreParens());
  if (!load || load->getCastKind() != clang::CK_LValueToRValue || !load->getType()->isVoidPointerType()) return nullptr;
  const clang::VarDecl* v = named_variable(load->getSubExpr());
  return v && llvm::isa<clang::ParmVarDecl>(v) ? v : nullptr;
}

Lift<Access> first_element(Lift<Access> array) {
  if (array) array->subscript.push_back(Expr(0));
  return array;
}

}  // namespace

Lift<Access> Builder::lvalue(const clang::Expr* e) {
  e = e->IgnoreParens();
  const clang::SourceLocation where = e->getExprLoc();
  if (e->getType().isVolatileQualified() || e->getType()->isAtomicType())
    return refuse("c.volatile", "an access to a volatile or atomic object", where);
  if (e->getType().hasAddressSpace())
    return refuse("c.type", "an object in another address space than the program's data", where);
  if (is_place(e)) {
    TRY(Place found, place(e));
    return access(found, e->getType(), where);
  }
  if (const auto* subscript = llvm::dyn_cast<clang::ArraySubscriptExpr>(e)) {
    TRY(Access access, pointer(subscript->getBase()));
    TRY(Expr at, this->subscript(subscript->getIdx()));
    if (access.subscript.empty()) {  // of a variable whose address is passed
      if (at == Expr(0)) return access;
      return refuse("c.pointer", "a variable is taken for an array", where);
    }
    access.subscript.back() = access.subscript.back() + at;
    return access;
  }
  if (const auto* deref = llvm::dyn_cast<clang::UnaryOperator>(e); deref && deref->getOpcode() == clang::UO_Deref)
    return pointer(deref->getSubExpr());
  const Binding* b = nullptr;
  if (const clang::VarDecl* v = named_variable(e)) {
    TRY(b, binding(v, where));
  } else if (const auto* m = llvm::dyn_cast<clang::MemberExpr>(e)) {
    TRY(b, member(m));
  } else {
    return refuse("c.lvalue", "this way to name an object is not understood", where);
  }
  if (b->kind != Binding::Kind::Scalar && b->kind != Binding::Kind::Array)
    return refuse("c.lvalue", "this way to name an object is not understood", where);
  return Access{b->container, {}};
}

// A subscript that is no index expression (a remainder of something negative, a clamp, a hash) is computed as C
// computes it, into a temporary that the subscript then reads.
Lift<Expr> Builder::subscript(const clang::Expr* e) {
  const std::vector<Expr> assumptions = ranges_.assumptions;
  // With an effect in it, it is built once.
  auto direct = has_effect(e) ? refuse("c.subscript", "an index with a side effect", e->getExprLoc()) : index(e);
  if (direct) return direct;
  static constexpr std::array kComputable{"c.subscript", "c.division", "c.shift", "c.unsigned-wrap", "c.narrowing"};
  if (std::ranges::find(kComputable, direct.error().code) == kComputable.end()) return direct;
  ranges_.assumptions = assumptions;
  auto computed = value(e);
  if (!computed) return has_effect(e) ? std::unexpected(computed.error()) : direct;
  if (!sdfg::is_integer(computed->type)) return direct;
  const std::string t = temporary("at", sdfg::ElementType::i64);
  emit_assignment({t, {}, std::nullopt}, sdfg::ScalarExpr::cast(*computed, sdfg::ElementType::i64));
  return Expr::read(t, {});
}

// What a pointer's place is read from may change before the pointer is used: it is kept.
void Builder::settle(std::vector<Expr>& subscript) {
  const std::function<Expr(const Expr&)> kept = [&](const Expr& e) {
    return e.map_reads([&](const std::string& container, const std::vector<Expr>& at) {
      std::vector<Expr> inner;
      for (const Expr& s : at) inner.push_back(kept(s));
      // The variable of a loop that may end early keeps its value in the loop's body.
      if (own_ranges_.contains(container)) return Expr::read(container, inner);
      const sdfg::ElementType type = sdfg_.find(container)->type;
      const std::string t = temporary("at", type);
      if (const auto values = ranges_.elements.find(container); values != ranges_.elements.end())
        ranges_.elements[t] = values->second;
      const std::vector<sdfg::Memlet> pool = std::exchange(pool_, {});
      emit_assignment({t, {}, std::nullopt}, input({container, inner, std::nullopt}, type));
      pool_ = pool;
      return Expr::read(t, {});
    });
  };
  for (Expr& s : subscript) s = kept(s);
}

// Where a pointer leads whose value is this.
static Lift<Access> led_to(const Binding& value, clang::SourceLocation where) {
  if (value.kind == Binding::Kind::Pointer) return Access{value.container, value.subscript};
  if (value.kind == Binding::Kind::Array) return Access{value.container, {Expr(0)}};
  if (value.kind == Binding::Kind::Null) return refuse("c.pointer", "an access behind a null pointer", where);
  if (value.kind == Binding::Kind::Unknown)
    return refuse("c.induction-variable", "where the pointer points is not known here", where);
  return refuse("c.pointer", "this pointer is not understood", where);
}

// One type; or arrays of one, of as many elements by variables that nothing changes.
bool Builder::are_same_rows(clang::QualType a, clang::QualType b) {
  if (context_.hasSameUnqualifiedType(a, b)) return true;
  const auto *first = context_.getAsVariableArrayType(a), *second = context_.getAsVariableArrayType(b);
  if (!first || !second || !first->getSizeExpr() || !second->getSizeExpr()) return false;
  for (const clang::VarDecl* v : size_variables(a, context_))
    if (facts_.written.contains(v) || facts_.address_taken.contains(v) || v->hasGlobalStorage()) return false;
  const auto extent = index(first->getSizeExpr()), other = index(second->getSizeExpr());
  return extent && other && *extent == *other && extent->reads().empty() &&
         are_same_rows(first->getElementType(), second->getElementType());
}

// What a cast to a pointer leads to, conversions that the compiler makes by itself included.
Lift<Access> Builder::cast_pointer(const clang::CastExpr* cast) {
  const clang::SourceLocation where = cast->getExprLoc();
  const clang::Expr* inner = cast->getSubExpr();
  switch (cast->getCastKind()) {
    case clang::CK_ArrayToPointerDecay:
      return first_element(lvalue(inner));
    case clang::CK_NoOp:
      return pointer(inner);
    case clang::CK_BitCast: {
      const clang::QualType to = cast->getType()->getPointeeType();
      if (inner->getType()->isPointerType() && are_same_rows(inner->getType()->getPointeeType(), to))
        return pointer(inner);
      // What a pointer to void leads to is an array of each type that it is cast to.
      const clang::VarDecl* v = untyped_pointer(inner);
      if (!v || !inline_stack_.empty() || facts_.written.contains(v) || facts_.address_taken.contains(v) ||
          !element_type(to, context_))
        return refuse("c.pointer.cast", "a pointer is cast to another type", where);
      const clang::QualType element = to.getCanonicalType().getUnqualifiedType();
      const std::string view = "(" + element.getAsString() + " *)" + v->getNameAsString();
      if (!members_.contains(view)) {
        TRY(members_[view],
            outer_memory(context_.getPointerType(element), v->getNameAsString(), of_variable(v), true, where));
      }
      return Access{members_.at(view).container, {Expr(0)}};
    }
    case clang::CK_LValueToRValue: {
      const Binding* b = nullptr;
      inner = inner->IgnoreParens();
      if (const clang::VarDecl* v = named_variable(inner)) {
        TRY(b, binding(v, where));
      } else if (const auto* m = llvm::dyn_cast<clang::MemberExpr>(inner); m && !is_place(m)) {
        TRY(b, member(m));
      } else if (llvm::isa<clang::ArraySubscriptExpr>(inner) || is_dereference(inner)) {
        return first_element(lvalue(inner));  // a row, by its pointer in a table
      } else {
        return refuse("c.pointer.to-pointer", "a pointer is read from a structure in an array", where);
      }
      return led_to(*b, where);
    }
    default:
      return refuse("c.pointer.cast", "a pointer is cast to another type", where);
  }
}

// Of a function that is nothing but the address that it returns.
Lift<Access> Builder::returned_address(const clang::CallExpr* call) {
  const clang::SourceLocation where = call->getExprLoc();
  TRY(const clang::FunctionDecl* f, inlinable(call));
  const clang::Expr* result = returned_value(f->getBody(), context_);
  if (!result || result->HasSideEffects(context_))
    return refuse("c.pointer", "'" + f->getNameAsString() + "' is not simple enough for the address that it returns",
                  where);
  const Caller before = caller();
  TRY_VOID(bind_parameters(f, call, true));
  inline_stack_.push_back(f);
  auto returned = pointer(result);
  inline_stack_.pop_back();
  leave_call(f, before);
  return returned;
}

Lift<Access> Builder::pointer(const clang::Expr* e) {
  e = e->IgnoreParens();
  const clang::SourceLocation where = e->getExprLoc();
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(e)) return cast_pointer(cast);
  if (const auto* b = llvm::dyn_cast<clang::BinaryOperator>(e); b && b->isAdditiveOp()) {
    const bool left = b->getLHS()->getType()->isPointerType();
    if (!left && b->getOpcode() == clang::BO_Sub) return refuse("c.pointer", "this pointer is not understood", where);
    TRY(Access access, pointer(left ? b->getLHS() : b->getRHS()));
    if (access.subscript.empty()) return refuse("c.pointer", "a variable is taken for an array", where);
    TRY(Expr by, subscript(left ? b->getRHS() : b->getLHS()));
    access.subscript.back() =
        b->getOpcode() == clang::BO_Add ? access.subscript.back() + by : access.subscript.back() - by;
    return access;
  }
  if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(e); u && u->getOpcode() == clang::UO_AddrOf) {
    const clang::Expr* object = u->getSubExpr()->IgnoreParens();
    if (llvm::isa<clang::ArraySubscriptExpr, clang::UnaryOperator>(object)) return lvalue(object);
    if (const clang::VarDecl* v = named_variable(object); v && declared_.contains(v)) {
      const auto known = bindings_.find(v);
      if (known != bindings_.end() && known->second.kind == Binding::Kind::Scalar)
        return Access{known->second.container, {}};
    }
    if (object->getType()->isArrayType()) {
      // &a, a pointer to the whole array: its elements are a[0], a[1] … of an array around it, which there is not.
      return refuse("c.pointer", "the address of a whole array", where);
    }
  }
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(e)) return returned_address(call);
  if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(e); u && announced(u)) {
    TRY(const Binding* b, tracked_value(named_variable(u->getSubExpr()), where));
    Access access{b->container, b->subscript};
    access.subscript.back() = access.subscript.back() + Expr(*announced(u));
    return access;
  }
  if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(e); u && u->isIncrementDecrementOp())
    return refuse("c.pointer.reassigned", "a pointer is changed", where);
  return refuse("c.pointer", "this pointer is not understood", where);
}

}  // namespace sous::frontends::c
