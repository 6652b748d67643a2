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
// divide_by(x, d, y): x / d, where y is 1 / d, rounded: what many divisions by the same d can share, of which targets
// make cheaper ones with the same bits (targets/runtime/sous.h). Any other y is an error, as an integer division by
// zero is: the interpreter reports it, and a target may give any value. (NaNs are equal here.) Only the step
// `reciprocal` makes it.
//   enumerator, text, arity, form     (form: how it is written: Leaf, Prefix op, Infix op, Call name(args))
#define SOUS_SCALAR_OPS(X)                 \
  X(input, "input", 0, Leaf)               \
  X(constant, "constant", 0, Leaf)         \
  X(symbolic, "symbolic", 0, Leaf)         \
  X(neg, "-", 1, Prefix)                   \
  X(bit_not, "~", 1, Prefix)               \
  X(logical_not, "!", 1, Prefix)           \
  X(add, "+", 2, Infix)                    \
  X(sub, "-", 2, Infix)                    \
  X(mul, "*", 2, Infix)                    \
  X(div, "/", 2, Infix)                    \
  X(rem, "%", 2, Infix)                    \
  X(bit_and, "&", 2, Infix)                \
  X(bit_or, "|", 2, Infix)                 \
  X(bit_xor, "^", 2, Infix)                \
  X(shl, "<<", 2, Infix)                   \
  X(shr, ">>", 2, Infix)                   \
  X(lt, "<", 2, Infix)                     \
  X(le, "<=", 2, Infix)                    \
  X(gt, ">", 2, Infix)                     \
  X(ge, ">=", 2, Infix)                    \
  X(eq, "==", 2, Infix)                    \
  X(ne, "!=", 2, Infix)                    \
  X(logical_and, "&&", 2, Infix)           \
  X(logical_or, "||", 2, Infix)            \
  X(min, "min", 2, Call)                   \
  X(max, "max", 2, Call)                   \
  X(select, "select", 3, Call)             \
  X(cast, "cast", 1, Call)                 \
  X(uncontracted, "uncontracted", 1, Call) \
  X(divide_by, "divide_by", 3, Call)       \
  X(fabs, "fabs", 1, Call)                 \
  X(sqrt, "sqrt", 1, Call)                 \
  X(cbrt, "cbrt", 1, Call)                 \
  X(exp, "exp", 1, Call)                   \
  X(exp2, "exp2", 1, Call)                 \
  X(expm1, "expm1", 1, Call)               \
  X(log, "log", 1, Call)                   \
  X(log2, "log2", 1, Call)                 \
  X(log10, "log10", 1, Call)               \
  X(log1p, "log1p", 1, Call)               \
  X(sin, "sin", 1, Call)                   \
  X(cos, "cos", 1, Call)                   \
  X(tan, "tan", 1, Call)                   \
  X(asin, "asin", 1, Call)                 \
  X(acos, "acos", 1, Call)                 \
  X(atan, "atan", 1, Call)                 \
  X(sinh, "sinh", 1, Call)                 \
  X(cosh, "cosh", 1, Call)                 \
  X(tanh, "tanh", 1, Call)                 \
  X(erf, "erf", 1, Call)                   \
  X(floor, "floor", 1, Call)               \
  X(ceil, "ceil", 1, Call)                 \
  X(trunc, "trunc", 1, Call)               \
  X(round, "round", 1, Call)               \
  X(rint, "rint", 1, Call)                 \
  X(pow, "pow", 2, Call)                   \
  X(atan2, "atan2", 2, Call)               \
  X(fmod, "fmod", 2, Call)                 \
  X(hypot, "hypot", 2, Call)               \
  X(fmin, "fmin", 2, Call)                 \
  X(fmax, "fmax", 2, Call)                 \
  X(copysign, "copysign", 2, Call)         \
  X(fma, "fma", 3, Call)

enum class ScalarOp : std::uint8_t {
#define X(name, ...) name,
  SOUS_SCALAR_OPS(X)
#undef X
};

enum class OpForm : std::uint8_t { Leaf, Prefix, Infix, Call };

struct OpInfo {
  std::string_view name;  // the enumerator: in JSON
  std::string_view text;  // the spelling in .sdfg text
  int arity;
  OpForm form;
};

constexpr OpInfo info(ScalarOp op) {
  switch (op) {
#define X(e, text, arity, form) \
  case ScalarOp::e:             \
    return {#e, text, arity, OpForm::form};
    SOUS_SCALAR_OPS(X)
#undef X
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

}  // namespace sous::sdfg
