// Bounds of symbolic expressions inside loops, and the proofs and run-time assumptions made from them.
//
// An expression over loop symbols is bounded by an expression over parameters by replacing loop symbols, innermost
// first, by the end of their range that makes the expression largest (smallest). Innermost first keeps the correlation
// between loops: with j from i+1, j-i-1 is at least 0. What is found holds at every point that is executed; nothing
// is said about loops that run zero times.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sdfg/sdfg.h"

namespace sous::frontends::c {

// `times` `symbol` lies in [lo, hi] (where given) at a point of the program. A later range of the same symbol refines.
struct Range {
  std::string symbol;
  std::optional<sdfg::Expr> lo, hi;
  sdfg::Expr times = sdfg::Expr(1);  // a product of numbers and parameters of any sign, as in stride*y + k >= 0
};
using Box = std::vector<Range>;  // outermost first
// The outermost ranges that both have.
Box common(const Box& a, const Box& b);

struct Interval {
  std::int64_t lo, hi;
};

// The values of an integer type, as far as an index may be one.
Interval type_interval(sdfg::ElementType type);
// Whether every value of one type is one of the other.
bool holds_all(sdfg::ElementType to, sdfg::ElementType from);

class Ranges {
 public:
  // Values that the C type of a parameter allows.
  std::map<std::string, Interval> parameters;
  // Values that the elements of a container have, where that is less than any: those of a narrow type, of a remainder,
  // of a table of constants.
  std::map<std::string, Interval> elements;
  bool trust_elements = false;  // whether `elements` counts in bounds
  // Each >= 0, to be checked on entry.
  std::vector<sdfg::Expr> assumptions;

  // Without assuming anything new.
  bool nonneg(const sdfg::Expr& e, const Box& box) const;
  // Whether `e` has the same value in an integer type, without assuming anything new.
  bool fits(const sdfg::Expr& e, sdfg::ElementType type, const Box& box) const;
  // True if proven, or made true by a new assumption over the parameters.
  bool require_nonneg(const sdfg::Expr& e, const Box& box);
  // True if 64 bits hold `e`, and what entry conditions make of it, by the types of the parameters or by new
  // assumptions about how large they are.
  bool require_64_bits(const sdfg::Expr& e, const Box& box);
  // True if a product that C computes modulo 2^64 does not wrap, nor what it is made of, by new assumptions about how
  // large parameters are.
  bool require_no_wrap(const sdfg::Expr& e, const Box& box);
  // Whether what was assumed since there were so many assumptions only keeps sizes out that an index would, too: above
  // 2^63, 2^31 or so.
  bool assumed_little(std::size_t before) const;
  // The largest (smallest) value of `e` over the box, over parameters only. With `assume`, signs of parameter products
  // may be assumed to be non-negative.
  std::optional<sdfg::Expr> upper(const sdfg::Expr& e, const Box& box, bool assume = false);
  std::optional<sdfg::Expr> lower(const sdfg::Expr& e, const Box& box, bool assume = false);
  // What is at least a / b, rounded down, for b > 0 where the box is.
  std::optional<sdfg::Expr> quotient(const sdfg::Expr& a, const sdfg::Expr& b, const Box& box, bool assume);
  // max(a, b), but `a` or `b` where it is known to be the larger.
  sdfg::Expr larger(const sdfg::Expr& a, const sdfg::Expr& b) const;
  // The same, where the box is.
  sdfg::Expr larger(const sdfg::Expr& a, const sdfg::Expr& b, const Box& box);

 private:
  // What holds wherever the box is: its loops run at least once there. Over parameters, each >= 0.
  std::vector<sdfg::Expr> facts_;
  struct WithFacts {
    WithFacts(Ranges& ranges, const Box& box);
    ~WithFacts();
    Ranges& ranges;
    std::vector<sdfg::Expr> before;
  };
  // Symbols instead of the elements that `elements` knows; their ranges are added to the box.
  sdfg::Expr with_elements(const sdfg::Expr& e, Box& box) const;
  std::optional<sdfg::Expr> extreme(const sdfg::Expr& e, const Box& box, bool up, bool assume);
  std::optional<sdfg::Expr> bound_of_pieces(const sdfg::Expr& e, const Box& box, bool up, bool assume, int depth);
  std::optional<sdfg::Expr> bound_by_both(const sdfg::Atom& atom, const Box& box, int depth);
  std::optional<sdfg::Expr> quotient(const sdfg::Expr& a, const sdfg::Expr& b, bool up, bool assume);
  std::optional<sdfg::Expr> bound_of_product(const sdfg::Expr& e, const sdfg::Atom& factor, const Box& box, bool up,
                                             bool assume, int depth);
  std::optional<sdfg::Expr> bound(sdfg::Expr e, const Box& box, bool up, bool assume, int depth);
  std::optional<int> sign(const sdfg::Expr& e, const Box& box, bool assume, int depth);
  bool nonneg_parameters(const sdfg::Expr& e) const;
  bool require_64_bits_of_parameters(const sdfg::Expr& e);
  bool require_at_most(std::int64_t limit, const sdfg::Expr& symbols_of);
  bool require_products(const std::vector<sdfg::Term>& products);
};

// The value of a scalar expression over symbols as a mathematical integer, where it certainly is one: only leaves and
// casts that do not lose anything (the front end folds symbolic arithmetic into leaves).
std::optional<sdfg::Expr> as_symbolic(const sdfg::ScalarExpr& e);

// Below 2^63 stay the values of `e`, over parameters, where each of them is at most this; nullopt: where none is small
// enough for that.
std::optional<std::int64_t> limit_of_parameters(const sdfg::Expr& e);

// What a minimum (or a maximum) is of; of all else, itself.
std::vector<sdfg::Expr> operands(const sdfg::Expr& e, sdfg::AtomKind kind);

// A comparison of signed integers as left <= right + offset, each of which holds.
struct AtMost {
  const sdfg::ScalarExpr* left;
  const sdfg::ScalarExpr* right;
  std::int64_t offset;
};
std::vector<AtMost> inequalities(const sdfg::ScalarExpr& comparison, bool holds);

// What an affine comparison of integers (<, <=, >, >=, or its negation) says, as an expression that is >= 0 exactly
// where it holds; nullopt: another condition.
std::optional<sdfg::Expr> nonneg_where(const sdfg::ScalarExpr& comparison);

// What an affine comparison of integers says about a symbol: for the body of an If, which stands in that box.
std::vector<Range> refine(const sdfg::ScalarExpr& condition, bool holds, const Box& around);

// The ranges of a loop's symbol inside its body.
Range loop_range(const std::string& symbol, const sdfg::Expr& begin, const sdfg::Expr& end, std::int64_t step);

}  // namespace sous::frontends::c
