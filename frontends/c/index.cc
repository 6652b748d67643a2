// Integer expressions of C read as mathematical integers: bounds and subscripts.
//
// Signed arithmetic may be taken as exact, for overflow is undefined. Unsigned arithmetic and narrowing conversions
// wrap: each needs a proof from the loop ranges, or an assumption that the generated entry checks.
#include <algorithm>

#include "frontends/c/builder.h"
#include "frontends/c/compared.h"
#include "frontends/c/intervals.h"
#include "sdfg/planted_fault.h"

namespace sous::frontends::c {

using sdfg::ElementType;
using sdfg::Expr;

namespace {

bool has_product(const Expr& e) {
  for (const sdfg::Term& t : e.terms())
    if (t.atoms.size() > 1) return true;
  return false;
}

}  // namespace

Lift<void> Builder::nonneg(const Expr& e, clang::SourceLocation where, const char* code, const char* why) {
  ranges_.trust_elements = true;
  const bool proven = ranges_.nonneg(e, box_);
  ranges_.trust_elements = false;
  if (proven || ranges_.require_nonneg(e, box_)) return {};
  return refuse(code, std::string(why) + " (" + e.to_string() + ")", where);
}

// Where order or rounding matters: a value of an unsigned 64-bit type that is no negative index.
Lift<void> Builder::lower_half(const Expr& e, clang::QualType type, clang::SourceLocation where) {
  if (element_type(type, context_) != ElementType::u64) return {};
  return nonneg(e, where, "c.unsigned-wrap", "an unsigned value may be larger than any index");
}

// `e`, which C computes modulo the range of an unsigned type or converts to a narrower one, shown to lie in the range.
Lift<Expr> Builder::in_type(Expr e, clang::QualType type, clang::SourceLocation where) {
  auto t = element_type(type, context_);
  if (!t || sdfg::is_float(*t)) return refuse("c.subscript", "an index of type " + type.getAsString(), where);
  const int bits = 8 * sdfg::info(*t).bytes;
  const bool is_unsigned = sdfg::info(*t).kind != sdfg::TypeKind::Signed;
  if (auto c = e.constant(); c && *t == ElementType::boolean) return Expr(*c != 0 ? 1 : 0);
  if (*t == ElementType::boolean) return refuse("c.subscript", "an index is converted to _Bool", where);
  if (is_unsigned && !planted(Fault::unsigned_wrap_assumed_away) && !ranges_.require_64_bits(e, box_))
    return refuse("c.unsigned-wrap", "an unsigned product may wrap (" + e.to_string() + ")", where);
  if (is_unsigned && bits == 64 && has_product(e) && !ranges_.require_no_wrap(e, box_))
    return refuse("c.unsigned-wrap", "an unsigned product may wrap (" + e.to_string() + ")", where);
  if (is_unsigned && !planted(Fault::unsigned_wrap_assumed_away))
    TRY_VOID(nonneg(e, where, "c.unsigned-wrap", "an index may be negative before its conversion to an unsigned type"));
  if (bits < 64) {
    const std::int64_t top = is_unsigned ? (std::int64_t{1} << bits) - 1 : (std::int64_t{1} << (bits - 1)) - 1;
    TRY_VOID(nonneg(Expr(top) - e, where, is_unsigned ? "c.unsigned-wrap" : "c.narrowing",
                    "an index may be too large for its type"));
    if (!is_unsigned)
      TRY_VOID(nonneg(e + Expr(top) + Expr(1), where, "c.narrowing", "an index may be too small for its type"));
  }
  return e;
}

Lift<Expr> Builder::index(const clang::Expr* e) {
  e = e->IgnoreParens();
  const clang::SourceLocation where = e->getExprLoc();
  if (!e->getType()->isIntegralOrEnumerationType())
    return refuse("c.subscript", "an index of type " + e->getType().getAsString(), where);
  if (const auto* c = llvm::dyn_cast<clang::ConstantExpr>(e)) return index(c->getSubExpr());
  if (llvm::isa<clang::IntegerLiteral, clang::CharacterLiteral, clang::UnaryExprOrTypeTraitExpr>(e)) {
    if (auto c = constant_value(e, context_)) return Expr(*c);
    return refuse("c.subscript", "an index that is not a constant of 64 bits", where);
  }
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(e)) return index_cast(cast);
  if (const auto* ref = llvm::dyn_cast<clang::DeclRefExpr>(e))
    if (const auto* constant = llvm::dyn_cast<clang::EnumConstantDecl>(ref->getDecl()))
      return Expr(constant->getInitVal().getExtValue());
  if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(e)) return index_unary(u);
  const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(e);
  const auto* conditional = llvm::dyn_cast<clang::ConditionalOperator>(e);
  if (binary || conditional) {
    TRY(Expr result, binary ? index_binary(binary) : index_conditional(conditional));
    if (!result.is_short()) return refuse("c.subscript", "an index of hundreds of terms", where);
    return result;
  }
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(e)) return index_call(call);
  return refuse("c.subscript", "this form of index is not understood", where);
}

Lift<Expr> Builder::index_cast(const clang::CastExpr* e) {
  const clang::SourceLocation where = e->getExprLoc();
  const clang::Expr* inner = e->getSubExpr();
  switch (e->getCastKind()) {
    case clang::CK_LValueToRValue:
      return index_load(inner->IgnoreParens(), where);
    case clang::CK_NoOp:
      return index(inner);
    case clang::CK_IntegralCast: {
      TRY(Expr value, index(inner));
      auto from = element_type(inner->getType(), context_), to = element_type(e->getType(), context_);
      if (!from || !to) return refuse("c.subscript", "an index of type " + e->getType().getAsString(), where);
      const bool from_signed = sdfg::info(*from).kind == sdfg::TypeKind::Signed;
      const bool to_signed = sdfg::info(*to).kind == sdfg::TypeKind::Signed;
      const int grow = sdfg::info(*to).bytes - sdfg::info(*from).bytes;
      const bool keeps =
          (from_signed == to_signed && grow >= 0) || (!from_signed && grow > 0) || *from == ElementType::boolean;
      if (keeps) return value;
      return in_type(value, e->getType(), where);
    }
    default:
      return refuse("c.subscript", "a conversion in an index", where);
  }
}

Lift<const Binding*> Builder::named_binding(const clang::Expr* e, clang::SourceLocation where) {
  const Binding* b = nullptr;
  if (const clang::VarDecl* v = named_variable(e)) {
    TRY(b, binding(v, where));
    if (b->kind == Binding::Kind::Unknown || b->kind == Binding::Kind::Wrapped) {
      unfollowed(v);
      return refuse("c.induction-variable", "the value of '" + v->getNameAsString() + "' after its loop is not known",
                    where);
    }
  } else if (const auto* m = llvm::dyn_cast<clang::MemberExpr>(e); m && !is_place(m)) {
    TRY(b, member(m));
  } else if (const clang::VarDecl* p = fixed_pointee(e)) {
    TRY(b, pointee_value(p, where));
  }
  return b;
}

// The value of a variable, a member or an element.
Lift<Expr> Builder::index_load(const clang::Expr* e, clang::SourceLocation where) {
  if (e->getType().isVolatileQualified() || e->getType()->isAtomicType())
    return refuse("c.volatile", "an access to a volatile or atomic object", where);
  TRY(const Binding* b, named_binding(e, where));
  if (b && b->kind == Binding::Kind::Expression) {
    if (!b->index) return refuse("c.subscript", "an argument that is no simple index", where);
    return *b->index;
  }
  TRY(Access access, lvalue(e));
  return Expr::read(access.container, access.subscript);
}

Lift<Expr> Builder::index_unary(const clang::UnaryOperator* e) {
  const clang::SourceLocation where = e->getExprLoc();
  if (announced(e)) {
    TRY(const Binding* b, tracked_value(named_variable(e->getSubExpr()), where));
    if (b->kind == Binding::Kind::Scalar)
      return in_range(Expr::read(b->container, {}) + Expr(*announced(e)), named_variable(e->getSubExpr()), where);
    return in_range(*b->index + Expr(*announced(e)), named_variable(e->getSubExpr()), where);
  }
  if (e->isIncrementDecrementOp()) return refuse("c.side-effect", "an index with a side effect", where);
  if (e->getOpcode() == clang::UO_Plus || e->getOpcode() == clang::UO_Extension) return index(e->getSubExpr());
  if (e->getOpcode() == clang::UO_Minus || e->getOpcode() == clang::UO_Not) {
    TRY(Expr value, index(e->getSubExpr()));
    value = e->getOpcode() == clang::UO_Minus ? -value : -value - Expr(1);
    if (e->getType()->isUnsignedIntegerType()) return in_type(value, e->getType(), where);
    return value;
  }
  return refuse("c.subscript", "this form of index is not understood", where);
}

// Of a function that is nothing but what it returns.
Lift<Expr> Builder::index_call(const clang::CallExpr* e) {
  if (e->getDirectCallee() && e->getDirectCallee()->getBuiltinID() != 0)
    return refuse("c.subscript", "a call in an index", e->getExprLoc());
  TRY(const clang::FunctionDecl* f, inlinable(e));
  const clang::Expr* result = returned_value(f->getBody(), context_);
  if (!result) return refuse("c.subscript", "a call in an index", e->getExprLoc());
  const Caller before = caller();
  TRY_VOID(bind_parameters(f, e, true));
  inline_stack_.push_back(f);
  auto value = index(result);
  inline_stack_.pop_back();
  leave_call(f, before);
  return value;
}

Lift<Expr> Builder::index_binary(const clang::BinaryOperator* e) {
  const clang::SourceLocation where = e->getExprLoc();
  if (e->isAssignmentOp() || e->isCommaOp()) return refuse("c.side-effect", "an index with a side effect", where);
  if (e->isComparisonOp() || e->isLogicalOp()) return refuse("c.subscript", "a truth value as an index", where);
  TRY(Expr a, index(e->getLHS()));
  TRY(Expr b, index(e->getRHS()));
  Expr result;
  switch (e->getOpcode()) {
    case clang::BO_Add:
      result = a + b;
      break;
    case clang::BO_Sub:
      result = a - b;
      break;
    case clang::BO_Mul:
      result = a * b;
      break;
    case clang::BO_Div:
    case clang::BO_Rem:
      TRY_VOID(nonneg(b - Expr(1), where, "c.division", "an index is divided by what may not be positive"));
      TRY_VOID(nonneg(a, where, "c.division", "an index that may be negative is divided"));
      if (const auto known = e->getOpcode() == clang::BO_Rem ? known_remainder(a, b) : std::nullopt) return *known;
      return e->getOpcode() == clang::BO_Div ? Expr::floor_div(a, b) : Expr::mod(a, b);
    case clang::BO_Shl:
    case clang::BO_Shr: {
      auto by = b.constant();
      constexpr std::int64_t kMaxShift = 30;
      if (!by || *by < 0 || *by > kMaxShift)
        return refuse("c.shift", "an index is shifted by a variable amount", where);
      const Expr factor(std::int64_t{1} << *by);
      if (e->getOpcode() == clang::BO_Shr) {
        TRY_VOID(lower_half(a, e->getType(), where));
        return Expr::floor_div(a, factor);  // arithmetic: rounds down in any case
      }
      TRY_VOID(nonneg(a, where, "c.shift", "an index that may be negative is shifted"));
      result = a * factor;
      break;
    }
    case clang::BO_And: {
      auto mask = b.constant();
      if (!mask || *mask < 0 || ((*mask + 1) & *mask) != 0 || *mask > INT32_MAX)
        return refuse("c.subscript", "an index is masked with what is not 2^k - 1", where);
      return Expr::mod(a, Expr(*mask + 1));  // two's complement: right for negative values, too
    }
    default:
      return refuse("c.subscript", "this operator is not understood in an index", where);
  }
  if (!result.is_valid()) return refuse("c.subscript", "a constant of an index leaves 64 bits", where);
  if (e->getType()->isUnsignedIntegerType()) return in_type(result, e->getType(), where);
  return result;
}

// a < b ? a : b and its relatives.
Lift<Expr> Builder::index_conditional(const clang::ConditionalOperator* e) {
  const clang::SourceLocation where = e->getExprLoc();
  const auto* test = llvm::dyn_cast<clang::BinaryOperator>(e->getCond()->IgnoreParenImpCasts());
  if (const auto asked = seams_ > 0 ? compared(e->getCond()) : std::nullopt) {
    TRY(const Expr a, index(asked->left));
    TRY(const Expr b, asked->right ? index(asked->right) : Lift<Expr>(Expr(0)));
    if (const auto known = known_order(asked->op, a, b)) return index(*known ? e->getTrueExpr() : e->getFalseExpr());
  }
  if (test && test->isRelationalOp()) {
    TRY(Expr a, index(test->getLHS()));
    TRY(Expr b, index(test->getRHS()));
    TRY_VOID(lower_half(a, test->getLHS()->getType(), where));
    TRY_VOID(lower_half(b, test->getLHS()->getType(), where));
    TRY(Expr yes, sometimes([&] { return index(e->getTrueExpr()); }));
    TRY(Expr no, sometimes([&] { return index(e->getFalseExpr()); }));
    const bool less = test->getOpcode() == clang::BO_LT || test->getOpcode() == clang::BO_LE;
    const bool strict = test->getOpcode() == clang::BO_LT || test->getOpcode() == clang::BO_GT;
    if (const auto result = chosen((less ? b - a : a - b) - Expr(strict ? 1 : 0), yes, no)) return *result;
  }
  return refuse("c.subscript", "a conditional index that is no minimum or maximum", where);
}

}  // namespace sous::frontends::c
