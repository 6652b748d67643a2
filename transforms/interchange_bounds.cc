#include "transforms/interchange_bounds.h"

#include <algorithm>

namespace sous::transforms {
namespace {

using sdfg::AtomKind;
using sdfg::Expr;

// coefficient * symbol + rest, coefficient constant.
struct Linear {
  std::int64_t coefficient;
  Expr rest;
};
std::optional<Linear> linear_in(const Expr& e, const std::string& symbol) {
  if (!e.uses(symbol)) return Linear{0, e};
  const std::optional<Expr> factor = coefficient_of(e, symbol);
  if (!factor || !factor->constant()) return std::nullopt;
  return Linear{*factor->constant(), e - *factor * Expr::symbol(symbol)};
}

// p as floor(numerator / divisor) + addend with the symbol only in the numerator; divisor 1 for a linear p.
struct Quotient {
  Expr numerator;
  std::int64_t divisor;
  Expr addend;
};
std::optional<Quotient> quotient_in(const Expr& p, const std::string& symbol) {
  if (linear_in(p, symbol)) return Quotient{p, 1, Expr{}};
  for (const sdfg::Term& term : p.terms()) {
    if (term.coefficient != 1 || term.atoms.size() != 1 || term.atoms[0].kind != AtomKind::FloorDiv) continue;
    const std::vector<Expr>& args = term.atoms[0].args;
    const std::optional<std::int64_t> divisor = args[1].constant();
    const Expr addend = p - Expr::floor_div(args[0], args[1]);
    if (divisor && *divisor > 0 && !addend.uses(symbol) && linear_in(args[0], symbol))
      return Quotient{args[0], *divisor, addend};
  }
  return std::nullopt;
}

// Whether p >= q for every value of `symbol` in [begin pieces, end pieces), as far as a difference that is linear in
// the symbol shows it.
bool always_at_least(const Expr& p, const Expr& q, const std::string& symbol, const std::vector<Expr>& begins,
                     const std::vector<Expr>& ends) {
  const std::optional<Linear> d = linear_in(p - q, symbol);
  if (!d) return false;
  const auto non_negative = [&](const Expr& at) {
    const std::optional<std::int64_t> value = (d->coefficient * at + d->rest).constant();
    return value && *value >= 0;
  };
  if (d->coefficient == 0) return non_negative(Expr{});
  if (d->coefficient > 0) return std::ranges::any_of(begins, non_negative);
  return std::ranges::any_of(ends, [&](const Expr& end) { return non_negative(end - 1); });
}

// max (or min) of the pieces, without those that another one makes redundant.
Expr combine(std::vector<Expr> all, AtomKind kind, const std::string& symbol, const std::vector<Expr>& begins,
             const std::vector<Expr>& ends) {
  for (std::size_t k = 0; k < all.size();) {
    const bool redundant = std::ranges::any_of(all, [&](const Expr& other) {
      if (&other == &all[k]) return false;
      return kind == AtomKind::Max ? always_at_least(other, all[k], symbol, begins, ends)
                                   : always_at_least(all[k], other, symbol, begins, ends);
    });
    if (redundant)
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(k));
    else
      ++k;
  }
  Expr result = all[0];
  for (std::size_t k = 1; k < all.size(); ++k)
    result = kind == AtomKind::Max ? Expr::max(result, all[k]) : Expr::min(result, all[k]);
  return result;
}

}  // namespace

std::optional<std::array<std::pair<Expr, Expr>, 2>> exchanged_bounds(const LoopBounds& outer, const LoopBounds& inner) {
  for (const Expr* bound : {&outer.begin, &outer.end, &inner.begin, &inner.end})
    if (!bound->is_valid() || !bound->reads().empty()) return std::nullopt;
  const std::string& i = outer.symbol;
  if (!inner.begin.uses(i) && !inner.end.uses(i))
    return std::array{std::pair{inner.begin, inner.end}, std::pair{outer.begin, outer.end}};
  if (outer.step != 1 || inner.step != 1) return std::nullopt;

  // Each bound of j is a constraint a*i + rest >= 0. Those that use i become bounds of i; the range of j is the hull:
  // each bound at the end of i's range where it is weakest.
  const Expr j = Expr::symbol(inner.symbol);
  std::vector<Expr> j_begins, j_ends;
  std::vector<Expr> i_begins = max_pieces(outer.begin), i_ends = min_pieces(outer.end);
  const auto add = [&](const Expr& piece, bool lower) {
    if (!piece.uses(i)) {
      (lower ? j_begins : j_ends).push_back(piece);
      return true;
    }
    const std::optional<Quotient> q = quotient_in(piece, i);
    if (!q) return false;
    // lower: j >= floor(x/c) + r  <=>  c*(j - r + 1) - 1 - x >= 0, for c = 1 the plain j - r - x >= 0;
    // upper: j + 1 <= floor(x/c) + r  <=>  x - c*(j - r + 1) >= 0.
    const Expr scaled = q->divisor * (j - q->addend + 1);
    const std::optional<Linear> form = linear_in(lower ? scaled - 1 - q->numerator : q->numerator - scaled, i);
    if (!form || form->coefficient == 0) return false;
    if (form->coefficient > 0)
      i_begins.push_back(Expr::ceil_div(-form->rest, form->coefficient));
    else
      i_ends.push_back(Expr::floor_div(form->rest, Expr(-form->coefficient)) + 1);
    const bool weakest_at_begin = (linear_in(q->numerator, i)->coefficient > 0) == lower;
    const Expr at = weakest_at_begin ? outer.begin : outer.end - 1;
    const Expr hull = piece.substitute({{i, at}});
    for (const Expr& part : lower ? max_pieces(hull) : min_pieces(hull)) (lower ? j_begins : j_ends).push_back(part);
    return true;
  };
  for (const Expr& piece : max_pieces(inner.begin))
    if (!add(piece, true)) return std::nullopt;
  for (const Expr& piece : min_pieces(inner.end))
    if (!add(piece, false)) return std::nullopt;

  const Expr j_begin = combine(j_begins, AtomKind::Max, inner.symbol, {}, {});
  const Expr j_end = combine(j_ends, AtomKind::Min, inner.symbol, {}, {});
  const Expr i_begin = combine(i_begins, AtomKind::Max, inner.symbol, j_begins, j_ends);
  const Expr i_end = combine(i_ends, AtomKind::Min, inner.symbol, j_begins, j_ends);
  for (const Expr* bound : {&j_begin, &j_end, &i_begin, &i_end})
    if (!bound->is_valid()) return std::nullopt;
  return std::array{std::pair{j_begin, j_end}, std::pair{i_begin, i_end}};
}

}  // namespace sous::transforms
