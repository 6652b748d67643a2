// That the distance from where a loop begins to where it ends stays in 64 bits. C compares the two and computes no
// distance: the ends of a range that is empty may lie farther apart, as those do that a search for a minimum and a
// maximum begins with. Here, loops count from 0 to that distance. What types do not exclude is asked on entry.
#include <algorithm>

#include "frontends/c/builder.h"
#include "frontends/c/intervals.h"

namespace sous::frontends::c {

using sdfg::Expr;

namespace {

bool has_products(const Expr& e) {
  return std::ranges::any_of(e.terms(), [](const sdfg::Term& t) { return t.atoms.size() > 1; });
}

bool are_known(const Expr& e, const std::map<std::string, Interval>& parameters) {
  const std::set<std::string> symbols = e.symbols();
  return e.is_valid() && e.reads().empty() &&
         std::ranges::all_of(symbols, [&](const std::string& s) { return parameters.contains(s); });
}

}  // namespace

// The values that an operand of a comparison has by its own type.
Interval Builder::values_by_type(const clang::Expr* e) const {
  const auto type = element_type(e->IgnoreParenImpCasts()->getType(), context_);
  return type && sdfg::is_integer(*type) ? type_interval(*type) : Interval{INT64_MIN, INT64_MAX};
}

// A sum over parameters that C does not compute: it is asked that none of them takes it below 64 bits, nor what tiles
// and skewed loops add to it.
void Builder::expect_no_underflow(const Expr& sum) {
  if (!are_known(sum, ranges_.parameters) || interval(sum, ranges_.parameters).lo >= INT64_MIN) return;
  const std::optional<std::int64_t> limit = limit_of_parameters(sum);
  if (!limit) return;
  const std::optional<sdfg::Affine> linear = affine(sum);
  for (const std::string& name : sum.symbols()) {
    const Interval values = ranges_.parameters.at(name);
    const std::int64_t by = linear ? linear->coefficients.at(name) : 0;
    if (by >= 0 && values.lo < -*limit) expect_nonneg(Expr::symbol(name) + Expr(*limit));
    if (by <= 0 && values.hi > *limit) expect_nonneg(Expr(*limit) - Expr::symbol(name));
  }
}

void Builder::expect_nonneg(const Expr& e) {
  if (!ranges_.nonneg(e, {})) ranges_.assumptions.push_back(e);
}

// high - low, each of which C computes: the loop runs where that is positive.
void Builder::expect_distance(const Expr& high, Interval highs, const Expr& low, Interval lows) {
  if (Wide{highs.lo} - lows.hi >= INT64_MIN) return;
  const Expr distance = high - low;
  const auto least = ranges_.lower(distance, box_);
  const bool in_range = low == Expr(0) || (least && interval(*least, ranges_.parameters).lo >= INT64_MIN);
  if (!in_range && least && !has_products(*least)) {
    expect_no_underflow(*least);
  } else if (!in_range) {  // a product of parameters is in range in each of the two, but would have to be small
    const auto from = ranges_.lower(high, box_), to = ranges_.upper(low, box_);
    constexpr std::int64_t quarter = std::int64_t{1} << 61;
    if (from && to && are_known(*from, ranges_.parameters) && are_known(*to, ranges_.parameters))
      expect_nonneg(Expr::floor_div(*from, Expr(2)) - Expr::floor_div(*to, Expr(2)) + Expr(quarter));
  }
  // A loop around this one ends where this one has no iterations: a triangle's at n - 1.
  for (const Expr& piece : sdfg::min_pieces(distance)) {
    Expr first = piece;
    for (std::size_t k = box_.size(); k-- > 0;)
      if (first.uses(box_[k].symbol) && box_[k].times == Expr(1))
        first = first.substitute({{box_[k].symbol, box_[k].lo.value_or(Expr(0))}});
    if (first != piece && affine(first)) expect_no_underflow(first);
  }
}

// Of a condition in the first iteration, as the loop goes towards its right side (or its left one).
void Builder::expect_distance(const ForHeader& header, const clang::BinaryOperator* condition, const Comparison& first,
                              bool towards_right) {
  const auto values = [&](const clang::Expr* side) {
    const Interval own = values_by_type(side);
    if (!header.begin || named_variable(side->IgnoreParenImpCasts()) != header.variable) return own;
    const Interval begin = values_by_type(header.begin);
    return Interval{std::max(own.lo, begin.lo), std::min(own.hi, begin.hi)};
  };
  const Interval left = values(condition->getLHS()), right = values(condition->getRHS());
  if (towards_right)
    expect_distance(first.right, right, first.left, left);
  else
    expect_distance(first.left, left, first.right, right);
}

}  // namespace sous::frontends::c
