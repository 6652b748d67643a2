#include "sdfg/extremes.h"

#include <algorithm>

namespace sous::sdfg {
namespace {

bool uses_any(const Expr& e, const ExtremesOf& ranges) {
  return std::ranges::any_of(ranges, [&](const auto& range) { return e.uses(range.first); });
}

bool uses_any(const Atom& a, const ExtremesOf& ranges) {
  if (a.kind == AtomKind::Symbol) return ranges.contains(a.name);
  return std::ranges::any_of(a.args, [&](const Expr& e) { return uses_any(e, ranges); });
}

std::optional<Expr> extreme(const Atom& a, bool largest, const ExtremesOf& ranges, Signs signs) {
  const auto arg = [&](std::size_t k, bool want) { return sdfg::extreme(a.args[k], want, ranges, signs); };
  const auto positive = [&](const Expr& e) {
    const auto value = e.constant();
    return value ? *value > 0 : signs == Signs::NotNegative;
  };
  switch (a.kind) {
    case AtomKind::Symbol: {
      const auto range = ranges.find(a.name);
      if (range == ranges.end()) return Expr::symbol(a.name);
      return largest ? range->second.high : range->second.low;
    }
    case AtomKind::FloorDiv: {
      const auto numerator = arg(0, largest);
      if (!numerator || uses_any(a.args[1], ranges) || !positive(a.args[1])) return std::nullopt;
      return Expr::floor_div(*numerator, a.args[1]);
    }
    case AtomKind::Mod: {
      const auto divisor = arg(1, true);
      if (!divisor || !positive(*divisor)) return std::nullopt;
      return largest ? *divisor - Expr(1) : Expr(0);
    }
    case AtomKind::Min:
    case AtomKind::Max: {
      const auto left = arg(0, largest), right = arg(1, largest);
      if (!left || !right) return std::nullopt;
      return a.kind == AtomKind::Min ? Expr::min(*left, *right) : Expr::max(*left, *right);
    }
    case AtomKind::Read:
      return std::nullopt;
  }
  __builtin_unreachable();
}

}  // namespace

std::optional<Expr> extreme(const Expr& e, bool largest, const ExtremesOf& ranges, Signs signs) {
  if (!e.reads().empty()) return std::nullopt;
  if (!uses_any(e, ranges)) return e;
  Expr sum = e.constant_term();
  for (const Term& term : e.terms()) {
    const auto varying = std::ranges::count_if(term.atoms, [&](const Atom& a) { return uses_any(a, ranges); });
    if (signs == Signs::Unknown && varying > 0 && term.atoms.size() > 1) return std::nullopt;
    Expr product = term.coefficient;
    for (const Atom& atom : term.atoms) {
      // What does not vary is its own extreme.
      const auto value = extreme(atom, largest == (term.coefficient > 0), varying > 0 ? ranges : ExtremesOf{}, signs);
      if (!value) return std::nullopt;
      product = product * *value;
    }
    sum = sum + product;
  }
  return sum;
}

}  // namespace sous::sdfg
