// Expressions of C as trees of their own operations, promotions and conversions written out.
#include <algorithm>
#include <cmath>

#include "clang/AST/ExprCXX.h"
#include "frontends/c/builder.h"
#include "sdfg/contraction.h"
#include "sdfg/planted_fault.h"

namespace sous::frontends::c {

using sdfg::ElementType;
using sdfg::Expr;
using sdfg::Memlet;
using sdfg::ScalarExpr;
using sdfg::ScalarOp;

namespace {

bool is_symbolic(const ScalarExpr& e) {
  return sdfg::is_integer(e.type) && (e.op == ScalarOp::symbolic || e.op == ScalarOp::constant);
}
Expr symbolic(const ScalarExpr& e) { return e.op == ScalarOp::symbolic ? e.symbolic : Expr(e.integer_value()); }
// A constant as a constant again, whatever it was computed from.
ScalarExpr make_index(const Expr& e, ElementType type) {
  auto c = e.constant();
  return c ? ScalarExpr::integer(*c, type) : ScalarExpr::make_symbolic(e, type);
}

ScalarExpr convert(ScalarExpr e, ElementType type) {
  if (e.type == type) return e;
  // Of constants, so that 2 * x has the constant 2.0; and of indices where the wider type holds the same value.
  if (e.op == ScalarOp::constant && sdfg::is_integer(e.type) && sdfg::is_float(type)) {
    const auto v = sdfg::info(e.type).kind == sdfg::TypeKind::Unsigned
                       ? static_cast<double>(static_cast<std::uint64_t>(e.integer_value()))
                       : static_cast<double>(e.integer_value());
    // A double holds integers up to 2^53; a float up to 2^24.
    if (std::abs(v) <= (type == ElementType::f32 ? 16777216.0 : 9007199254740992.0)) return ScalarExpr::real(v, type);
  }
  if (e.op == ScalarOp::constant && is_float(e.type) && type == ElementType::f64)
    return ScalarExpr::real(e.real_value(), type);
  if (e.op == ScalarOp::constant && is_float(e.type) && type == ElementType::f32 &&
      static_cast<double>(static_cast<float>(e.real_value())) == e.real_value())
    return ScalarExpr::real(e.real_value(), type);
  if (is_symbolic(e) && sdfg::info(e.type).kind == sdfg::TypeKind::Signed &&
      sdfg::info(type).kind == sdfg::TypeKind::Signed && sdfg::info(type).bytes >= sdfg::info(e.type).bytes)
    return make_index(symbolic(e), type);
  return ScalarExpr::cast(std::move(e), type);
}

// The truth of a value, as C tests it.
ScalarExpr truth(ScalarExpr e) {
  if (e.type == ElementType::boolean) return e;
  if (e.op == ScalarOp::cast && e.args[0].type == ElementType::boolean) return e.args[0];
  if (e.op == ScalarOp::constant && sdfg::is_integer(e.type))
    return ScalarExpr::integer(e.integer_value() != 0, ElementType::boolean);
  const ElementType type = e.type;
  ScalarExpr zero = sdfg::is_float(type) ? ScalarExpr::real(0, type) : ScalarExpr::integer(0, type);
  return ScalarExpr::binary(ScalarOp::ne, std::move(e), std::move(zero));
}

std::optional<ScalarOp> arithmetic_op(clang::BinaryOperatorKind op) {
  switch (op) {
    case clang::BO_Add:
    case clang::BO_AddAssign:
      return ScalarOp::add;
    case clang::BO_Sub:
    case clang::BO_SubAssign:
      return ScalarOp::sub;
    case clang::BO_Mul:
    case clang::BO_MulAssign:
      return ScalarOp::mul;
    case clang::BO_Div:
    case clang::BO_DivAssign:
      return ScalarOp::div;
    case clang::BO_Rem:
    case clang::BO_RemAssign:
      return ScalarOp::rem;
    case clang::BO_Shl:
    case clang::BO_ShlAssign:
      return ScalarOp::shl;
    case clang::BO_Shr:
    case clang::BO_ShrAssign:
      return ScalarOp::shr;
    case clang::BO_And:
    case clang::BO_AndAssign:
      return ScalarOp::bit_and;
    case clang::BO_Or:
    case clang::BO_OrAssign:
      return ScalarOp::bit_or;
    case clang::BO_Xor:
    case clang::BO_XorAssign:
      return ScalarOp::bit_xor;
    case clang::BO_LT:
      return ScalarOp::lt;
    case clang::BO_LE:
      return ScalarOp::le;
    case clang::BO_GT:
      return ScalarOp::gt;
    case clang::BO_GE:
      return ScalarOp::ge;
    case clang::BO_EQ:
      return ScalarOp::eq;
    case clang::BO_NE:
      return ScalarOp::ne;
    default:
      return std::nullopt;
  }
}

bool is_comparison(ScalarOp op) {
  return op == ScalarOp::lt || op == ScalarOp::le || op == ScalarOp::gt || op == ScalarOp::ge || op == ScalarOp::eq ||
         op == ScalarOp::ne;
}

}  // namespace

ScalarExpr negate(ScalarExpr e) {
  if (e.op == sdfg::ScalarOp::logical_not) return e.args[0];
  return ScalarExpr::unary(sdfg::ScalarOp::logical_not, std::move(e));
}

std::optional<bool> decided(const ScalarExpr& test) {
  if (test.op != ScalarOp::constant || test.type != ElementType::boolean) return std::nullopt;
  return test.integer_value() != 0;
}

ScalarExpr Builder::input(const Memlet& memlet, ElementType type) {
  auto it = std::find(pool_.begin(), pool_.end(), memlet);
  const int at = static_cast<int>(it - pool_.begin());
  if (it == pool_.end()) pool_.push_back(memlet);
  return ScalarExpr::make_input(at, type);
}

std::vector<Memlet> Builder::compact(ScalarExpr& code) const {
  std::vector<int> used;
  code.visit([&](const ScalarExpr& e) {
    if (e.op == ScalarOp::input && std::find(used.begin(), used.end(), e.input) == used.end()) used.push_back(e.input);
  });
  code = code.map_inputs([&](const ScalarExpr& leaf) {
    const auto at = std::find(used.begin(), used.end(), leaf.input) - used.begin();
    return ScalarExpr::make_input(static_cast<int>(at), leaf.type);
  });
  std::vector<Memlet> inputs;
  for (int k : used) inputs.push_back(pool_[static_cast<std::size_t>(k)]);
  return inputs;
}

void Builder::emit_assignment(const Memlet& target, const ScalarExpr& code) {
  ScalarExpr own = code;
  std::vector<Memlet> inputs = compact(own);
  emit(sdfg::assignment("s" + std::to_string(statements_++), target, std::move(own), std::move(inputs)));
}

Lift<ScalarExpr> Builder::load(const clang::Expr* e) {
  e = e->IgnoreParens();
  const clang::SourceLocation where = e->getExprLoc();
  auto type = element_type(e->getType(), context_);
  if (!type)
    return refuse(e->getType().isVolatileQualified() || e->getType()->isAtomicType() ? "c.volatile" : "c.type",
                  "a value of type " + e->getType().getAsString(), where);
  TRY(const Binding* b, named_binding(e, where));
  if (b && b->kind == Binding::Kind::Expression) {
    if (b->value) return *b->value;
    if (*type == ElementType::boolean) return truth(make_index(*b->index, ElementType::i32));
    return make_index(*b->index, *type);
  }
  TRY(Access access, lvalue(e));
  const sdfg::Container* c = sdfg_.find(access.container);
  if (c->shape.size() != access.subscript.size())
    return refuse("c.lvalue", "a part of an array is used as a value", where);
  return input({access.container, access.subscript, std::nullopt}, c->type);
}

Lift<ScalarExpr> Builder::value(const clang::Expr* e) {
  e = e->IgnoreParens();
  const clang::SourceLocation where = e->getExprLoc();
  auto type = element_type(e->getType(), context_);
  if (!type && !e->getType()->isVoidType())
    return refuse(e->getType()->isPointerType() ? "c.pointer" : "c.type",
                  "a value of type " + e->getType().getAsString(), where);
  if (const auto* c = llvm::dyn_cast<clang::ConstantExpr>(e)) return value(c->getSubExpr());
  if (const auto* f = llvm::dyn_cast<clang::FloatingLiteral>(e))
    return ScalarExpr::real(f->getValueAsApproximateDouble(), *type);
  if (llvm::isa<clang::IntegerLiteral, clang::CharacterLiteral, clang::UnaryExprOrTypeTraitExpr,
                clang::CXXBoolLiteralExpr>(e)) {
    clang::Expr::EvalResult result;
    if (!e->EvaluateAsInt(result, context_)) return refuse("c.expression", "a size that varies", where);
    return ScalarExpr::integer(static_cast<std::int64_t>(result.Val.getInt().getExtValue()), *type);
  }
  if (const auto* ref = llvm::dyn_cast<clang::DeclRefExpr>(e))
    if (const auto* constant = llvm::dyn_cast<clang::EnumConstantDecl>(ref->getDecl()))
      return ScalarExpr::integer(constant->getInitVal().getExtValue(), *type);
  if (const auto* c = llvm::dyn_cast<clang::CastExpr>(e)) return cast(c);
  if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(e)) return unary(u);
  if (const auto* b = llvm::dyn_cast<clang::BinaryOperator>(e)) return binary(b);
  if (const auto* c = llvm::dyn_cast<clang::ConditionalOperator>(e)) return conditional(c);
  if (const auto* c = llvm::dyn_cast<clang::CallExpr>(e)) return call(c);
  if (llvm::isa<clang::MemberExpr>(e)) return load(e);  // of what a function returns
  return refuse("c.expression", std::string("this expression is not understood (") + e->getStmtClassName() + ")",
                where);
}

Lift<ScalarExpr> Builder::condition(const clang::Expr* e) {
  if (e->getType()->isPointerType()) return is_there(e);
  if (is_complex(e->getType(), context_)) return differs_from_zero(e);
  TRY(ScalarExpr v, value(e));
  const bool is_index = is_symbolic(v) && sdfg::info(v.type).kind == sdfg::TypeKind::Signed;
  if (const auto known = is_index ? known_order(clang::BO_NE, symbolic(v), Expr(0)) : std::nullopt)
    return ScalarExpr::integer(*known ? 1 : 0, ElementType::boolean);
  return truth(std::move(v));
}

Lift<ScalarExpr> Builder::cast(const clang::CastExpr* e) {
  const clang::SourceLocation where = e->getExprLoc();
  const clang::Expr* inner = e->getSubExpr();
  auto type = element_type(e->getType(), context_);
  if (!type) return refuse("c.type", "a conversion to " + e->getType().getAsString(), where);
  switch (e->getCastKind()) {
    case clang::CK_LValueToRValue:
      return load(inner);
    case clang::CK_NoOp:
      return value(inner);
    case clang::CK_IntegralToBoolean:
    case clang::CK_FloatingToBoolean:
    case clang::CK_FloatingComplexToBoolean:
      return condition(inner);
    case clang::CK_FloatingComplexToReal: {
      TRY(Complex z, complex_value(inner));
      return z.real;
    }
    case clang::CK_IntegralCast:
    case clang::CK_BooleanToSignedIntegral:
    case clang::CK_IntegralToFloating:
    case clang::CK_FloatingToIntegral:
    case clang::CK_FloatingCast: {
      TRY(ScalarExpr v, value(inner));
      // A narrowed index that keeps its value stays one.
      if (v.op == ScalarOp::symbolic && sdfg::info(*type).kind == sdfg::TypeKind::Signed &&
          sdfg::info(*type).bytes <= sdfg::info(v.type).bytes && ranges_.fits(v.symbolic, *type, box_))
        return make_index(v.symbolic, *type);
      return convert(std::move(v), *type);
    }
    default:
      return refuse("c.cast", std::string("a conversion (") + e->getCastKindName() + ")", where);
  }
}

Lift<ScalarExpr> Builder::unary(const clang::UnaryOperator* e) {
  const clang::SourceLocation where = e->getExprLoc();
  if (const auto by = announced(e)) {
    if (!tracked(named_variable(e->getSubExpr()))) {
      TRY(ScalarExpr old, load(e->getSubExpr()));
      if (*by == 0) return old;
      const ScalarExpr one = ScalarExpr::integer(1, old.type);
      return arithmetic(e->isIncrementOp() ? clang::BO_Add : clang::BO_Sub, std::move(old), one, where);
    }
    TRY(Expr stepped, index(e));
    return make_index(stepped, *element_type(e->getType(), context_));
  }
  switch (e->getOpcode()) {
    case clang::UO_Plus:
    case clang::UO_Extension:
      return value(e->getSubExpr());
    case clang::UO_Minus: {
      TRY(ScalarExpr v, value(e->getSubExpr()));
      if (is_symbolic(v) && sdfg::info(v.type).kind == sdfg::TypeKind::Signed) return make_index(-symbolic(v), v.type);
      if (v.op == ScalarOp::constant && is_float(v.type)) return ScalarExpr::real(-v.real_value(), v.type);
      return ScalarExpr::unary(ScalarOp::neg, std::move(v));
    }
    case clang::UO_Not: {
      TRY(ScalarExpr v, value(e->getSubExpr()));
      return ScalarExpr::unary(ScalarOp::bit_not, std::move(v));
    }
    case clang::UO_LNot: {
      TRY(ScalarExpr v, condition(e->getSubExpr()));
      return ScalarExpr::cast(ScalarExpr::unary(ScalarOp::logical_not, std::move(v)), ElementType::i32);
    }
    case clang::UO_Real:
    case clang::UO_Imag:
      return part_value(e->getSubExpr(), e->getOpcode() == clang::UO_Imag);
    default:
      break;
  }
  if (e->isIncrementDecrementOp()) return stepped_inside(e);
  return refuse("c.expression", "an unknown operator", where);
}

Lift<ScalarExpr> Builder::arithmetic(clang::BinaryOperatorKind kind, ScalarExpr a, ScalarExpr b,
                                     clang::SourceLocation where) {
  auto op = arithmetic_op(kind);
  if (!op) return refuse("c.expression", "this operator is not understood", where);
  // Index arithmetic stays one leaf, so that conditions and values over loop variables stay affine. Signed only: there
  // overflow is undefined.
  if (is_symbolic(a) && is_symbolic(b) && a.type == b.type && sdfg::info(a.type).kind == sdfg::TypeKind::Signed) {
    const Expr x = symbolic(a), y = symbolic(b);
    std::optional<Expr> folded;
    if (*op == ScalarOp::add) folded = x + y;
    if (*op == ScalarOp::sub) folded = x - y;
    if (*op == ScalarOp::mul) folded = x * y;
    if ((*op == ScalarOp::div || *op == ScalarOp::rem) && y.constant() && *y.constant() > 0 && ranges_.nonneg(x, box_))
      folded = *op == ScalarOp::div ? Expr::floor_div(x, y) : Expr::mod(x, y);
    if (folded && folded->is_valid() && folded->is_short()) return make_index(*folded, a.type);
    if (is_comparison(*op)) {
      if (const auto known = known_order(kind, x, y)) return ScalarExpr::integer(*known ? 1 : 0, ElementType::i32);
      // Exact, as loops count: what is cut to a narrower type first keeps compilers from making vectors.
      a = make_index(x, ElementType::i64);
      b = make_index(y, ElementType::i64);
    }
  }
  if (*op != ScalarOp::shl && *op != ScalarOp::shr && a.type != b.type)
    return refuse("c.expression", "operands of different types", where);
  ScalarExpr result = ScalarExpr::binary(*op, std::move(a), std::move(b));
  return is_comparison(*op) ? ScalarExpr::cast(std::move(result), ElementType::i32) : result;
}

Lift<ScalarExpr> Builder::binary(const clang::BinaryOperator* e) {
  const clang::SourceLocation where = e->getExprLoc();
  if (e->isLogicalOp()) return logical(e);
  if (e->isAssignmentOp()) return assigned_inside(e);
  if (e->isCommaOp()) return refuse("c.side-effect", "a comma inside an expression", where);
  if (e->isEqualityOp() && (is_null(e->getLHS()) || is_null(e->getRHS())) && e->getLHS()->getType()->isPointerType()) {
    TRY(ScalarExpr there, is_there(is_null(e->getRHS()) ? e->getLHS() : e->getRHS()));
    if (e->getOpcode() == clang::BO_EQ) there = negate(std::move(there));
    return ScalarExpr::cast(std::move(there), ElementType::i32);
  }
  if (e->getLHS()->getType()->isPointerType() || e->getRHS()->getType()->isPointerType())
    return refuse("c.pointer", "pointers are compared or subtracted", where);
  if (e->isEqualityOp() &&
      (is_complex(e->getLHS()->getType(), context_) || is_complex(e->getRHS()->getType(), context_)))
    return complex_equality(e);
  TRY(ScalarExpr a, value(e->getLHS()));
  TRY(ScalarExpr b, value(e->getRHS()));
  TRY(ScalarExpr result, arithmetic(e->getOpcode(), std::move(a), std::move(b), where));
  // #pragma STDC FP_CONTRACT OFF, which -ffp-contract=fast overrides.
  using clang::LangOptions;
  const LangOptions& language = context_.getLangOpts();
  const bool apart = e->hasStoredFPFeatures() && language.getDefaultFPContractMode() != LangOptions::FPM_Fast &&
                     e->getFPFeaturesInEffect(language).getFPContractMode() == LangOptions::FPM_Off;
  return apart && !planted(Fault::contract_pragma_ignored) ? sdfg::kept_apart(std::move(result)) : result;
}
}  // namespace sous::frontends::c
