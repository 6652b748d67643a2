// Scalar expressions: what a tasklet computes and what a condition tests.
//
// Meaning. A tree, evaluated on the values of its inputs, all of which are read (eagerly) before it is evaluated;
// whoever builds it makes sure that reading them is safe (a guarded access in C becomes an If, unless it is provably in
// bounds). Every node has a type; there are no implicit conversions: a front end writes C's promotions as `cast`.
//  - Integer add, sub, mul, neg and shl wrap (two's complement): more than C promises, so that no reordering can create
//    undefined behaviour. div and rem truncate toward zero, as in C; by zero (and the minimum by -1) they are an error.
//    A shift by a negative amount or by the width or more is an error. shr of a signed value is arithmetic.
//  - Floating point is IEEE 754 in the type's own precision, round to nearest; no node is fused with another unless the
//    target's options allow contraction. The tree is the order of evaluation.
//  - logical_and and logical_or evaluate the right side only if the left one does not decide; select evaluates one arm.
//  - min and max are the integer ones (for floats: C's own a < b ? a : b is written with select; fmin and fmax are
//  C's).
//  - cast follows C; float to integer out of range is an error in the interpreter (undefined in C).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sdfg/expr.h"
#include "sdfg/types.h"

namespace sous::sdfg {

// uncontracted(a*b): its operand, which no sum around it takes into a fused multiply-add (sdfg/contraction.h).
// enumerator, text, arity, form (how it is written: a leaf, a prefix op, an infix op, a call name(args)), the types of
// its arguments (OpTypes), what it costs (OpKind), whether it may set errno (C17 7.12.1; -fmath-errno).
#define SOUS_BASIC_OPS(X)                             \
  X(input, "input", 0, Leaf, Any, Free, No)           \
  X(constant, "constant", 0, Leaf, Any, Constant, No) \
  X(symbolic, "symbolic", 0, Leaf, Any, Free, No)     \
  X(neg, "-", 1, Prefix, Number, Add, No)             \
  X(bit_not, "~", 1, Prefix, Integer, Bitwise, No)    \
  X(logical_not, "!", 1, Prefix, Bool, Compare, No)   \
  X(add, "+", 2, Infix, Number, Add, No)              \
  X(sub, "-", 2, Infix, Number, Add, No)              \
  X(mul, "*", 2, Infix, Number, Mul, No)              \
  X(div, "/", 2, Infix, Number, Div, No)              \
  X(rem, "%", 2, Infix, Integer, Div, No)             \
  X(bit_and, "&", 2, Infix, Bits, Bitwise, No)        \
  X(bit_or, "|", 2, Infix, Bits, Bitwise, No)         \
  X(bit_xor, "^", 2, Infix, Bits, Bitwise, No)        \
  X(shl, "<<", 2, Infix, Integer, Bitwise, No)        \
  X(shr, ">>", 2, Infix, Integer, Bitwise, No)        \
  X(lt, "<", 2, Infix, Any, Compare, No)              \
  X(le, "<=", 2, Infix, Any, Compare, No)             \
  X(gt, ">", 2, Infix, Any, Compare, No)              \
  X(ge, ">=", 2, Infix, Any, Compare, No)             \
  X(eq, "==", 2, Infix, Any, Compare, No)             \
  X(ne, "!=", 2, Infix, Any, Compare, No)             \
  X(logical_and, "&&", 2, Infix, Bool, Compare, No)   \
  X(logical_or, "||", 2, Infix, Bool, Compare, No)    \
  X(min, "min", 2, Call, Integer, MinMax, No)         \
  X(max, "max", 2, Call, Integer, MinMax, No)         \
  X(select, "select", 3, Call, Any, Compare, No)      \
  X(cast, "cast", 1, Call, Any, Cast, No)             \
  X(uncontracted, "uncontracted", 1, Call, Float, Free, No)
// Those of math.h, whose text is the name of the C function of doubles.
#define SOUS_MATH_OPS(X)                                \
  X(fabs, "fabs", 1, Call, Float, MinMax, No)           \
  X(sqrt, "sqrt", 1, Call, Float, Root, Yes)            \
  X(cbrt, "cbrt", 1, Call, Float, Root, No)             \
  X(exp, "exp", 1, Call, Float, Exponential, Yes)       \
  X(exp2, "exp2", 1, Call, Float, Exponential, Yes)     \
  X(expm1, "expm1", 1, Call, Float, Exponential, Yes)   \
  X(log, "log", 1, Call, Float, Exponential, Yes)       \
  X(log2, "log2", 1, Call, Float, Exponential, Yes)     \
  X(log10, "log10", 1, Call, Float, Exponential, Yes)   \
  X(log1p, "log1p", 1, Call, Float, Exponential, Yes)   \
  X(sin, "sin", 1, Call, Float, Trigonometric, Yes)     \
  X(cos, "cos", 1, Call, Float, Trigonometric, Yes)     \
  X(tan, "tan", 1, Call, Float, Trigonometric, Yes)     \
  X(asin, "asin", 1, Call, Float, Trigonometric, Yes)   \
  X(acos, "acos", 1, Call, Float, Trigonometric, Yes)   \
  X(atan, "atan", 1, Call, Float, Trigonometric, Yes)   \
  X(sinh, "sinh", 1, Call, Float, Exponential, Yes)     \
  X(cosh, "cosh", 1, Call, Float, Exponential, Yes)     \
  X(tanh, "tanh", 1, Call, Float, Exponential, Yes)     \
  X(asinh, "asinh", 1, Call, Float, Exponential, Yes)   \
  X(acosh, "acosh", 1, Call, Float, Exponential, Yes)   \
  X(atanh, "atanh", 1, Call, Float, Exponential, Yes)   \
  X(erf, "erf", 1, Call, Float, Exponential, Yes)       \
  X(erfc, "erfc", 1, Call, Float, Exponential, Yes)     \
  X(tgamma, "tgamma", 1, Call, Float, Exponential, Yes) \
  X(floor, "floor", 1, Call, Float, Rounding, No)       \
  X(ceil, "ceil", 1, Call, Float, Rounding, No)         \
  X(trunc, "trunc", 1, Call, Float, Rounding, No)       \
  X(round, "round", 1, Call, Float, Rounding, No)       \
  X(rint, "rint", 1, Call, Float, Rounding, No)         \
  X(pow, "pow", 2, Call, Float, Exponential, Yes)       \
  X(atan2, "atan2", 2, Call, Float, Trigonometric, Yes) \
  X(fmod, "fmod", 2, Call, Float, Div, Yes)             \
  X(hypot, "hypot", 2, Call, Float, Root, Yes)          \
  X(fdim, "fdim", 2, Call, Float, MinMax, Yes)          \
  X(fmin, "fmin", 2, Call, Float, MinMax, No)           \
  X(fmax, "fmax", 2, Call, Float, MinMax, No)           \
  X(copysign, "copysign", 2, Call, Float, MinMax, No)   \
  X(fma, "fma", 3, Call, Float, Fma, No)
#define SOUS_SCALAR_OPS(X) SOUS_BASIC_OPS(X) SOUS_MATH_OPS(X)

enum class ScalarOp : std::uint8_t {
#define X(name, ...) name,
  SOUS_SCALAR_OPS(X)
#undef X
};

enum class OpForm : std::uint8_t { Leaf, Prefix, Infix, Call };
enum class OpTypes : std::uint8_t { Any, Number, Integer, Bits, Bool, Float };  // Bits: integers and bool
enum class OpKind : std::uint8_t {
  Free,
  Constant,
  Add,
  Mul,
  Div,
  MinMax,
  Compare,
  Root,
  Exponential,
  Trigonometric,
  Rounding,
  Bitwise,
  Cast,
  Fma
};
enum class SetsErrno : bool { No, Yes };

struct OpInfo {
  std::string_view name;  // the enumerator: in JSON
  std::string_view text;  // the spelling in .sdfg text
  int arity;
  OpForm form;
  OpTypes types;
  OpKind kind;
  SetsErrno sets_errno;
  bool is_math;  // a function of math.h
};

constexpr OpInfo info(ScalarOp op) {
  switch (op) {
#define ROW(e, text, arity, form, types, kind, sets_errno, is_math) \
  case ScalarOp::e:                                                 \
    return {#e, text, arity, OpForm::form, OpTypes::types, OpKind::kind, SetsErrno::sets_errno, is_math};
#define BASIC(...) ROW(__VA_ARGS__, false)
#define MATH(...) ROW(__VA_ARGS__, true)
    SOUS_BASIC_OPS(BASIC)
    SOUS_MATH_OPS(MATH)
#undef MATH
#undef BASIC
#undef ROW
  }
  __builtin_unreachable();
}

// Types: arithmetic, min/max and math calls: every argument has the node's type (math calls: f32 or f64; f32 means the
// float function). Comparisons: arguments of one type, result bool. Logical: all bool. shl, shr: the left argument has
// the node's type, the right one any integer type. select(bool, T, T): T. cast: anything to anything.
struct ScalarExpr {
  ScalarOp op = ScalarOp::constant;
  ElementType type = ElementType::f64;
  std::vector<ScalarExpr> args;
  int input = 0;           // op == input: index into the owner's inputs
  std::uint64_t bits = 0;  // op == constant: the value's bits in `type` (floats: IEEE bits, ints: sign-extended)
  Expr symbolic;  // op == symbolic: an integer expression over symbols (no reads), converted to `type` modulo 2^bits

  bool operator==(const ScalarExpr&) const = default;

  static ScalarExpr make_input(int index, ElementType type);
  static ScalarExpr make_symbolic(Expr e, ElementType type);
  static ScalarExpr integer(std::int64_t value, ElementType type);  // type integer or bool
  static ScalarExpr real(double value, ElementType type);           // type f32 or f64
  static ScalarExpr unary(ScalarOp op, ScalarExpr a);               // result type = a's (logical_not: bool)
  static ScalarExpr binary(ScalarOp op, ScalarExpr a,
                           ScalarExpr b);  // result type = a's; comparisons and logical: bool
  static ScalarExpr select(ScalarExpr condition, ScalarExpr a, ScalarExpr b);
  static ScalarExpr cast(ScalarExpr a, ElementType type);  // `a` itself where the type is the same
  double real_value() const;                               // of a float constant
  std::int64_t integer_value() const;                      // of an integer or bool constant

  ScalarExpr substitute(const std::map<std::string, Expr>& with) const;  // in every symbolic leaf
  // Calls f on every node, parents before children.
  void visit(const std::function<void(const ScalarExpr&)>& f) const;
  // Replaces every input leaf by f(leaf).
  ScalarExpr map_inputs(const std::function<ScalarExpr(const ScalarExpr&)>& f) const;
};

// How many of its arguments, the first ones, are evaluated whatever they are.
inline std::size_t operands_in_any_case(const ScalarExpr& e) {
  const bool lazy = e.op == ScalarOp::select || e.op == ScalarOp::logical_and || e.op == ScalarOp::logical_or;
  return lazy ? 1 : e.args.size();
}

}  // namespace sous::sdfg
