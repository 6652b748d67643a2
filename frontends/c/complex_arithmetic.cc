// Sums, products and quotients of complex numbers, part by part, as compilers compute them: a real operand has no
// imaginary part; of a product of which neither part is a number, infinities are recovered as annex G says, unless the
// options ask for the plain formulas. No product in it is contracted with a sum.
#include <limits>

#include "clang/Basic/TargetInfo.h"
#include "frontends/c/advice.h"
#include "frontends/c/builder.h"
#include "sdfg/contraction.h"
#include "sdfg/planted_fault.h"

namespace sous::frontends::c {

using sdfg::ElementType;
using sdfg::Memlet;
using sdfg::ScalarExpr;
using sdfg::ScalarOp;

namespace {

ScalarExpr sum(ScalarOp op, const ScalarExpr& a, const ScalarExpr& b) {
  return ScalarExpr::binary(op, sdfg::kept_apart(a), sdfg::kept_apart(b));
}
ScalarExpr product(const ScalarExpr& a, const ScalarExpr& b) { return ScalarExpr::binary(ScalarOp::mul, a, b); }
ScalarExpr quotient(const ScalarExpr& a, const ScalarExpr& b) { return ScalarExpr::binary(ScalarOp::div, a, b); }

ScalarExpr is_nan(const ScalarExpr& x) { return ScalarExpr::binary(ScalarOp::ne, x, x); }
ScalarExpr is_infinite(const ScalarExpr& x) {
  return ScalarExpr::binary(ScalarOp::eq, ScalarExpr::unary(ScalarOp::fabs, x),
                            ScalarExpr::real(std::numeric_limits<double>::infinity(), x.type));
}

Complex complex_sum(ScalarOp op, const Complex& a, const Complex& b) {
  Complex result{sum(op, a.real, b.real), a.imaginary};
  if (b.imaginary)
    result.imaginary = a.imaginary           ? sum(op, *a.imaginary, *b.imaginary)
                       : op == ScalarOp::add ? *b.imaginary
                                             : ScalarExpr::unary(ScalarOp::neg, *b.imaginary);
  return result;
}

}  // namespace

Complex Builder::complex_product(Complex a, Complex b, bool annex_g) {
  if (!a.imaginary) std::swap(a, b);
  if (!b.imaginary) return {product(a.real, b.real), product(*a.imaginary, b.real)};
  const ElementType type = a.real.type;
  a = kept(std::move(a), type);
  b = kept(std::move(b), type);
  Complex plain{sum(ScalarOp::sub, product(a.real, b.real), product(*a.imaginary, *b.imaginary)),
                sum(ScalarOp::add, product(a.real, *b.imaginary), product(*a.imaginary, b.real))};
  if (!annex_g) return plain;
  const Memlet real{temporary("real", type), {}, std::nullopt},
      imaginary{temporary("imaginary", type), {}, std::nullopt};
  emit_assignment(real, plain.real);
  emit_assignment(imaginary, *plain.imaginary);
  Complex result{input(real, type), input(imaginary, type)};
  ScalarExpr lost = ScalarExpr::binary(ScalarOp::logical_and, is_nan(result.real), is_nan(*result.imaginary));
  const std::size_t pooled = pool_.size();
  sdfg::Region recovery;
  std::swap(*out_, recovery);
  recover_infinities(a, b, real, imaginary);
  std::swap(*out_, recovery);
  pool_.resize(pooled);
  std::vector<Memlet> inputs = compact(lost);
  emit(sdfg::If{.condition = {std::move(lost), std::move(inputs)}, .then_body = std::move(recovery), .else_body = {}});
  return result;
}

// The example of C17 G.5.1: infinities become 1, what is no number beside them 0, each with its sign.
void Builder::recover_infinities(const Complex& a, const Complex& b, const Memlet& real, const Memlet& imaginary) {
  const ElementType type = a.real.type;
  const auto set = [&](const char* name, ElementType of, const ScalarExpr& code) {
    const Memlet t{temporary(name, of), {}, std::nullopt};
    emit_assignment(t, code);
    return input(t, of);
  };
  const auto either = [](ScalarExpr x, ScalarExpr y) {
    return ScalarExpr::binary(ScalarOp::logical_or, std::move(x), std::move(y));
  };
  const auto both = [](ScalarExpr x, ScalarExpr y) {
    return ScalarExpr::binary(ScalarOp::logical_and, std::move(x), std::move(y));
  };
  const auto infinite = [&](const Complex& z) { return either(is_infinite(z.real), is_infinite(*z.imaginary)); };
  const ScalarExpr left = set("left", ElementType::boolean, infinite(a));
  const ScalarExpr right = set("right", ElementType::boolean, infinite(b));
  const ScalarExpr overflow =
      either(either(is_infinite(product(a.real, b.real)), is_infinite(product(*a.imaginary, *b.imaginary))),
             either(is_infinite(product(a.real, *b.imaginary)), is_infinite(product(*a.imaginary, b.real))));
  const ScalarExpr any = set("any", ElementType::boolean, either(either(left, right), overflow));
  const auto boxed = [&](const char* name, const ScalarExpr& x, const ScalarExpr& own) {
    const auto signed_as_x = [&](ScalarExpr magnitude) {
      return ScalarExpr::binary(ScalarOp::copysign, std::move(magnitude), x);
    };
    const ScalarExpr zero = ScalarExpr::real(0, type);
    const ScalarExpr unit = ScalarExpr::select(is_infinite(x), ScalarExpr::real(1, type), zero);
    return set(
        name, type,
        ScalarExpr::select(own, signed_as_x(unit), ScalarExpr::select(both(any, is_nan(x)), signed_as_x(zero), x)));
  };
  const ScalarExpr ar = boxed("a", a.real, left), ai = boxed("b", *a.imaginary, left);
  const ScalarExpr br = boxed("c", b.real, right), bi = boxed("d", *b.imaginary, right);
  const ScalarExpr infinity = ScalarExpr::real(std::numeric_limits<double>::infinity(), type);
  const auto recovered = [&](const Memlet& part, const ScalarExpr& plain) {
    emit_assignment(part, ScalarExpr::select(any, product(infinity, plain), input(part, type)));
  };
  recovered(real, sum(ScalarOp::sub, product(ar, br), product(ai, bi)));
  recovered(imaginary, sum(ScalarOp::add, product(ar, bi), product(ai, br)));
}

// a op b, of which one at least is complex.
Lift<Complex> Builder::complex_arithmetic(clang::BinaryOperatorKind kind, Complex a, Complex b, clang::FPOptions rules,
                                          clang::SourceLocation where) {
  using clang::LangOptions;
  const auto range = rules.getComplexRange();
  const bool annex_g = range == LangOptions::CX_Full || range == LangOptions::CX_None;
  const ElementType type = a.real.type;
  if (b.real.type != type) return refuse("c.expression", "operands of different types", where);
  const bool is_sum =
      clang::BinaryOperator::isAdditiveOp(kind) || kind == clang::BO_AddAssign || kind == clang::BO_SubAssign;
  const auto holds_product = [](const Complex& z) {
    return sdfg::is_product(z.real) || (z.imaginary && sdfg::is_product(*z.imaginary));
  };
  const auto contraction = rules.getFPContractMode();
  const bool across = contraction == LangOptions::FPM_Fast || contraction == LangOptions::FPM_FastHonorPragmas;
  if (across && !rules.getAllowFPReassociate() && context_.getTargetInfo().hasFeature("fma") &&
      (!is_sum || (holds_product(a) && holds_product(b))))
    return refuse("c.floating-point", std::string(contracts_complex_products), where);
  if (is_sum)
    return complex_sum(kind == clang::BO_Add || kind == clang::BO_AddAssign ? ScalarOp::add : ScalarOp::sub, a, b);
  // #pragma STDC FP_CONTRACT OFF
  const bool apart = contraction == LangOptions::FPM_Off &&
                     context_.getLangOpts().getDefaultFPContractMode() != LangOptions::FPM_Off &&
                     !planted(Fault::contract_pragma_ignored);
  if (kind == clang::BO_Mul || kind == clang::BO_MulAssign) {
    // What recovers an infinity is twenty operations, with a condition and a dozen variables: more takes seconds.
    constexpr int most_recoveries = 8;
    const bool recovers = annex_g && a.imaginary && b.imaginary;
    if (recovers && ++recoveries_ > most_recoveries)
      return refuse("c.floating-point", "too many products of complex numbers of which infinities count", where);
    Complex result = complex_product(std::move(a), std::move(b), annex_g);
    return apart ? Complex{sdfg::kept_apart(result.real), sdfg::kept_apart(*result.imaginary)} : result;
  }
  if (kind != clang::BO_Div && kind != clang::BO_DivAssign)
    return refuse("c.expression", "this operator is not understood", where);
  if (!b.imaginary) return Complex{quotient(a.real, b.real), quotient(*a.imaginary, b.real)};
  return refuse("c.type", "a quotient of complex numbers", where);
}

}  // namespace sous::frontends::c
