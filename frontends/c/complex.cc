// Complex numbers: `z = a * b + conj(c)`, `x[i] *= w`, `cabs(z) > 2`.
//
// A variable is taken for a structure of two members, an element of an array for an array of two. The arithmetic is
// written out part by part as compilers do it (complex_arithmetic.cc).
#include "frontends/c/builder.h"

namespace sous::frontends::c {

using sdfg::ElementType;
using sdfg::Expr;
using sdfg::Memlet;
using sdfg::ScalarExpr;
using sdfg::ScalarOp;

namespace {

ScalarExpr negative(ScalarExpr e) {
  if (e.op == ScalarOp::constant) return ScalarExpr::real(-e.real_value(), e.type);
  return ScalarExpr::unary(ScalarOp::neg, std::move(e));
}

// Each operand of a product is named several times: what is larger than this is computed before.
bool is_small(const ScalarExpr& code) {
  constexpr int most_operations = 4;
  int operations = 0;
  code.visit([&](const ScalarExpr&) { ++operations; });
  return operations <= most_operations;
}

Memlet memlet(const Access& access) { return {access.container, access.subscript, std::nullopt}; }

}  // namespace

clang::QualType part_type(clang::QualType complex) { return complex->castAs<clang::ComplexType>()->getElementType(); }

bool is_complex(clang::QualType type, const clang::ASTContext& context) {
  if (type.isVolatileQualified() || !type->isAnyComplexType()) return false;
  const auto part = element_type(part_type(type), context);
  return part && sdfg::is_float(*part);
}

bool is_record(clang::QualType type, const clang::ASTContext& context) {
  return type->isRecordType() || is_complex(type, context);
}

Place Builder::part_of(Place number, clang::QualType type, bool imaginary) const {
  if (imaginary) number.offset += context_.getTypeSizeInChars(part_type(type)).getQuantity();
  number.path += imaginary ? ".imaginary" : ".real";
  return number;
}

Lift<ComplexAccess> Builder::complex_access(const Place& place, clang::QualType type, clang::SourceLocation where) {
  TRY(Access real, access(part_of(place, type, false), part_type(type), where));
  TRY(Access imaginary, access(part_of(place, type, true), part_type(type), where));
  return ComplexAccess{std::move(real), std::move(imaginary)};
}

Lift<ComplexAccess> Builder::complex_access(const clang::Expr* e) {
  e = e->IgnoreParens();
  const clang::SourceLocation where = e->getExprLoc();
  if (!is_complex(e->getType(), context_))
    return refuse("c.type", "a value of type " + e->getType().getAsString(), where);
  if (is_place(e) || named_variable(e)) {
    TRY(const Place number, place(e));
    return complex_access(number, e->getType(), where);
  }
  TRY(Access number, lvalue(e));
  const sdfg::Container* c = sdfg_.find(number.container);
  if (c->shape.size() != number.subscript.size() + 1 || c->shape.back() != Expr(2))
    return refuse("c.lvalue", "this way to name a complex number is not understood", where);
  Access imaginary = number;
  number.subscript.push_back(Expr(0));
  imaginary.subscript.push_back(Expr(1));
  return ComplexAccess{std::move(number), std::move(imaginary)};
}

Complex Builder::read_complex(const ComplexAccess& from) {
  const ElementType type = sdfg_.find(from.real.container)->type;
  return {input(memlet(from.real), type), input(memlet(from.imaginary), type)};
}

// Computed now, in temporaries.
Complex Builder::kept(Complex value, ElementType type) {
  const auto part = [&](const ScalarExpr& code) {
    if (is_small(code)) return code;
    const Memlet t{temporary("part", type), {}, std::nullopt};
    emit_assignment(t, code);
    return input(t, type);
  };
  if (value.imaginary) value.imaginary = part(*value.imaginary);
  value.real = part(value.real);
  return value;
}

Lift<Complex> Builder::complex_cast(const clang::CastExpr* e) {
  const clang::Expr* inner = e->getSubExpr();
  const auto type = element_type(part_type(e->getType()), context_);
  if (!type) return refuse("c.type", "a conversion to " + e->getType().getAsString(), e->getExprLoc());
  switch (e->getCastKind()) {
    case clang::CK_LValueToRValue: {
      TRY(const ComplexAccess from, complex_access(inner));
      return read_complex(from);
    }
    case clang::CK_NoOp:
      return complex_value(inner);
    case clang::CK_FloatingRealToComplex: {
      TRY(ScalarExpr real, value(inner));
      return Complex{ScalarExpr::cast(std::move(real), *type), ScalarExpr::real(0, *type)};
    }
    case clang::CK_FloatingComplexCast: {
      TRY(Complex number, complex_value(inner));
      number.real = ScalarExpr::cast(std::move(number.real), *type);
      if (number.imaginary) number.imaginary = ScalarExpr::cast(std::move(*number.imaginary), *type);
      return number;
    }
    default:
      return refuse("c.cast", std::string("a conversion (") + e->getCastKindName() + ")", e->getExprLoc());
  }
}

Lift<Complex> Builder::complex_choice(const clang::ConditionalOperator* e) {
  TRY(ScalarExpr test, condition(e->getCond()));
  if (const auto known = decided(test)) return complex_value(*known ? e->getTrueExpr() : e->getFalseExpr());
  const ElementType type = *element_type(part_type(e->getType()), context_);
  const ComplexAccess t{{temporary("t", type), {}}, {temporary("t", type), {}}};
  TRY_VOID(emit_choice(e, test, [&](const clang::Expr* side) -> Lift<void> {
    TRY(Complex number, complex_value(side));
    set_complex(t, std::move(number));
    return {};
  }));
  return read_complex(t);
}

Lift<Complex> Builder::complex_call(const clang::CallExpr* e) {
  const clang::FunctionDecl* callee = e->getDirectCallee();
  std::string name = callee && callee->getBuiltinID() != 0 ? callee->getNameAsString() : "";
  if (name.starts_with("__builtin_")) name = name.substr(10);
  if (name == "complex" && e->getNumArgs() == 2) {  // CMPLX
    TRY(ScalarExpr real, value(e->getArg(0)));
    TRY(ScalarExpr imaginary, value(e->getArg(1)));
    return Complex{std::move(real), std::move(imaginary)};
  }
  if ((name == "conj" || name == "conjf") && e->getNumArgs() == 1) {
    TRY(Complex number, complex_value(e->getArg(0)));
    if (number.imaginary) number.imaginary = negative(std::move(*number.imaginary));
    return number;
  }
  TRY(const Place result, record_call(e));
  TRY(const ComplexAccess parts, complex_access(result, e->getType(), e->getExprLoc()));
  return read_complex(parts);
}

Lift<Complex> Builder::complex_value(const clang::Expr* e) {
  e = e->IgnoreParens();
  const clang::SourceLocation where = e->getExprLoc();
  if (e->getType()->isRealFloatingType()) {
    TRY(ScalarExpr real, value(e));
    return Complex{std::move(real), std::nullopt};
  }
  if (!is_complex(e->getType(), context_))
    return refuse("c.type", "a value of type " + e->getType().getAsString(), where);
  if (const auto* i = llvm::dyn_cast<clang::ImaginaryLiteral>(e)) {
    TRY(ScalarExpr imaginary, value(i->getSubExpr()));
    ScalarExpr zero = ScalarExpr::real(0, imaginary.type);
    return Complex{std::move(zero), std::move(imaginary)};
  }
  if (const auto* c = llvm::dyn_cast<clang::CastExpr>(e)) return complex_cast(c);
  if (const auto* c = llvm::dyn_cast<clang::ConditionalOperator>(e)) return complex_choice(c);
  if (const auto* c = llvm::dyn_cast<clang::CallExpr>(e)) return complex_call(c);
  if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(e)) {
    if (u->getOpcode() == clang::UO_Plus || u->getOpcode() == clang::UO_Extension)
      return complex_value(u->getSubExpr());
    if (u->getOpcode() == clang::UO_Minus || u->getOpcode() == clang::UO_Not) {  // ~z is conj(z)
      TRY(Complex number, complex_value(u->getSubExpr()));
      if (u->getOpcode() == clang::UO_Minus) number.real = negative(std::move(number.real));
      if (number.imaginary) number.imaginary = negative(std::move(*number.imaginary));
      return number;
    }
  }
  const auto* b = llvm::dyn_cast<clang::BinaryOperator>(e);
  if (!b || b->isAssignmentOp() || b->isCommaOp())
    return refuse("c.expression", std::string("this expression is not understood (") + e->getStmtClassName() + ")",
                  where);
  TRY(Complex left, complex_value(b->getLHS()));
  TRY(Complex right, complex_value(b->getRHS()));
  return complex_arithmetic(b->getOpcode(), std::move(left), std::move(right),
                            b->getFPFeaturesInEffect(context_.getLangOpts()), where);
}

// Both parts are computed before the first is stored, where the second reads what that might be.
void Builder::set_complex(const ComplexAccess& to, Complex value) {
  const ElementType type = sdfg_.find(to.real.container)->type;
  if (!value.imaginary) value.imaginary = ScalarExpr::real(0, type);
  const bool own = sdfg_.find(to.real.container)->transient;
  bool apart = true;
  value.imaginary->visit([&](const ScalarExpr& e) {
    if (e.op != ScalarOp::input) return;
    const std::string& read = pool_[static_cast<std::size_t>(e.input)].container;
    apart = apart && read != to.real.container && (own || sdfg_.find(read)->transient);
  });
  if (!apart) {
    const Memlet t{temporary("part", type), {}, std::nullopt};
    emit_assignment(t, *value.imaginary);
    value.imaginary = input(t, type);
  }
  emit_assignment(memlet(to.real), value.real);
  emit_assignment(memlet(to.imaginary), *value.imaginary);
}

Lift<void> Builder::assign_complex(const clang::BinaryOperator* e) {
  const clang::SourceLocation where = e->getExprLoc();
  const auto type = element_type(part_type(e->getLHS()->getType()), context_);
  TRY(Complex number, complex_value(e->getRHS()));
  if (const auto* compound = llvm::dyn_cast<clang::CompoundAssignOperator>(e)) {
    if (!context_.hasSameUnqualifiedType(compound->getComputationLHSType(), e->getLHS()->getType()) ||
        number.real.type != *type)
      return refuse("c.type", "computed in " + compound->getComputationLHSType().getAsString(), where);
    TRY(const ComplexAccess from, complex_access(e->getLHS()));
    TRY(number, complex_arithmetic(compound->getOpcode(), read_complex(from), std::move(number),
                                   e->getFPFeaturesInEffect(context_.getLangOpts()), where));
  }
  TRY(const ComplexAccess to, complex_access(e->getLHS()));
  set_complex(to, std::move(number));
  return {};
}

// __real__ and __imag__, of real numbers, too.
Lift<ScalarExpr> Builder::part_value(const clang::Expr* e, bool imaginary) {
  e = e->IgnoreParens();
  if (e->isLValue() && is_complex(e->getType(), context_)) {
    TRY(const ComplexAccess number, complex_access(e));
    const Complex parts = read_complex(number);
    return imaginary ? *parts.imaginary : parts.real;
  }
  TRY(Complex number, complex_value(e));
  if (!imaginary) return number.real;
  return number.imaginary ? *number.imaginary : ScalarExpr::real(0, number.real.type);
}

Lift<ScalarExpr> Builder::differs_from_zero(const clang::Expr* e) {
  TRY(const Complex z, complex_value(e));
  const auto differs = [](const ScalarExpr& part) {
    return ScalarExpr::binary(ScalarOp::ne, part, ScalarExpr::real(0, part.type));
  };
  if (!z.imaginary) return differs(z.real);
  return ScalarExpr::binary(ScalarOp::logical_or, differs(z.real), differs(*z.imaginary));
}

Lift<ScalarExpr> Builder::complex_equality(const clang::BinaryOperator* e) {
  TRY(const Complex a, complex_value(e->getLHS()));
  TRY(const Complex b, complex_value(e->getRHS()));
  if (a.real.type != b.real.type) return refuse("c.expression", "operands of different types", e->getExprLoc());
  const ScalarExpr zero = ScalarExpr::real(0, a.real.type);
  const bool equal = e->getOpcode() == clang::BO_EQ;
  const ScalarOp each = equal ? ScalarOp::eq : ScalarOp::ne;
  return ScalarExpr::cast(
      ScalarExpr::binary(equal ? ScalarOp::logical_and : ScalarOp::logical_or, ScalarExpr::binary(each, a.real, b.real),
                         ScalarExpr::binary(each, a.imaginary.value_or(zero), b.imaginary.value_or(zero))),
      ElementType::i32);
}

// Functions of complex.h whose value is real; nullopt: it is none of them.
Lift<std::optional<ScalarExpr>> Builder::function_of_complex(const clang::CallExpr* e, std::string name) {
  if (name.starts_with("__builtin_")) name = name.substr(10);
  if (name.ends_with('f')) name.pop_back();
  const bool length = name == "cabs", angle = name == "carg", imaginary = name == "cimag";
  if ((!length && !angle && !imaginary && name != "creal") || e->getNumArgs() != 1) return std::optional<ScalarExpr>();
  TRY(Complex z, complex_value(e->getArg(0)));
  if (!z.imaginary) z.imaginary = ScalarExpr::real(0, z.real.type);
  if (z.real.type != *element_type(e->getType(), context_))
    return refuse("c.call.unknown-effects", "'" + name + "' of another type", e->getExprLoc());
  if (length) return ScalarExpr::binary(ScalarOp::hypot, std::move(z.real), std::move(*z.imaginary));
  if (angle) return ScalarExpr::binary(ScalarOp::atan2, std::move(*z.imaginary), std::move(z.real));
  return imaginary ? std::move(*z.imaginary) : std::move(z.real);
}

}  // namespace sous::frontends::c
