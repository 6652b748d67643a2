// Minima, maxima and clamps, as C writes them: a choice by a comparison, or an `if` that assigns.
#include <algorithm>

#include "frontends/c/builder.h"
#include "sdfg/planted_fault.h"

namespace sous::frontends::c {

using sdfg::Expr;

namespace {

// Whether `test` >= 0 says which of the two is larger: `low` is no more than `high` where it holds, and no less where
// it does not. For integers, one apart in the test makes no difference, for then both are equal: with c * test = high -
// low
// - k, 0 <= k <= c, the difference is at least k where test >= 0, and at most k - c elsewhere. c = 2 is -v for v below
// 0.
bool orders(const Expr& test, const Expr& low, const Expr& high) {
  for (const std::int64_t c : {1, 2}) {
    const auto k = (high - low - Expr(c) * test).constant();
    if (k && ((*k >= 0 && *k <= c) || planted(Fault::comparison_taken_as_order))) return true;
  }
  return false;
}

}  // namespace

// What `test` >= 0 ? yes : no is, where it is a minimum, a maximum or a value kept between two bounds, which must be
// seen (or may be assumed) to be in order; nullopt: none of them.
std::optional<Expr> Builder::chosen(const Expr& test, const Expr& yes, const Expr& no) {
  if (orders(test, yes, no)) return Expr::min(yes, no);
  if (orders(test, no, yes)) return Expr::max(yes, no);
  // A bound where a value is beyond it, otherwise that value, or what it is to another bound.
  for (const bool first : {true, false}) {
    const Expr &bound = first ? yes : no, &rest = first ? no : yes;
    const Expr beyond = first ? test : -test - Expr(1);
    for (const bool from_below : {true, false}) {
      std::vector<Expr> others = operands(rest, from_below ? sdfg::AtomKind::Min : sdfg::AtomKind::Max);
      const auto value = std::ranges::find_if(
          others, [&](const Expr& v) { return from_below ? orders(beyond, v, bound) : orders(beyond, bound, v); });
      if (value == others.end()) continue;
      others.erase(value);
      const bool in_order =
          planted(Fault::crossed_bounds_trusted) || std::ranges::all_of(others, [&](const Expr& other) {
            return ranges_.require_nonneg(from_below ? other - bound : bound - other, box_);
          });
      if (in_order) return from_below ? Expr::max(bound, rest) : Expr::min(bound, rest);
    }
  }
  return std::nullopt;
}

// The value that a followed variable has behind an `if`; nullopt: not known.
std::optional<Binding> Builder::joined(const std::optional<Expr>& test, const Binding& yes, const Binding& no) {
  if (yes.kind == no.kind && yes.index == no.index && yes.container == no.container && yes.subscript == no.subscript)
    return yes;
  const bool expressions = yes.kind == Binding::Kind::Expression && no.kind == Binding::Kind::Expression;
  if (!test || !expressions || !yes.index || !no.index) return std::nullopt;
  const auto value = chosen(*test, *yes.index, *no.index);
  if (!value || !value->is_short()) return std::nullopt;
  Binding result = yes;
  result.index = *value;
  return result;
}

}  // namespace sous::frontends::c
