#include "transforms/normal/facts.h"

#include <algorithm>
#include <numeric>

#include "sdfg/atoms.h"
#include "transforms/interchange_bounds.h"
#include "transforms/normal/util.h"

namespace sous::transforms::normal {

using namespace sdfg;

void Facts::enter(const std::string& symbol, const Expr& begin, const Expr& end, std::int64_t step) {
  SymbolBounds range{.symbol = symbol, .at_least = {}, .at_most = {}};
  if (step > 0) {
    range.at_least = max_pieces(begin);
    for (const Expr& e : min_pieces(end)) range.at_most.push_back(e - 1);
  } else {
    range.at_most = min_pieces(begin);
    for (const Expr& e : max_pieces(end)) range.at_least.push_back(e + 1);
  }
  // A read in a bound was evaluated on entry; the container may hold something else by now.
  const auto reads = [](const Expr& e) { return !e.reads().empty(); };
  std::erase_if(range.at_least, reads);
  std::erase_if(range.at_most, reads);
  for (const Expr& low : range.at_least)
    for (const Expr& high : range.at_most)
      if (const Expr gap = high - low; !gap.constant()) positive_.push_back(gap);
  ranges_.push_back(std::move(range));
}

bool Facts::prove(const Expr& e, int depth) const {
  if (!e.is_valid()) return false;
  if (const auto value = e.constant()) return *value >= 0;
  if (depth == 0) return false;

  // A min or max: an operand bounds it from one side, both together from the other.
  for (const Term& term : e.terms()) {
    if (term.atoms.size() != 1) continue;
    const Atom& atom = term.atoms[0];
    if (atom.kind != AtomKind::Min && atom.kind != AtomKind::Max) continue;
    const Expr rest = e - term.coefficient * make_atom(atom, atom.args);
    const bool a = prove(rest + term.coefficient * atom.args[0], depth - 1);
    const bool one_is_enough = (atom.kind == AtomKind::Max) == (term.coefficient > 0);
    if (a == one_is_enough) return a;
    return prove(rest + term.coefficient * atom.args[1], depth - 1);
  }

  // The innermost loop symbol at the end of its range where e is smallest.
  for (std::size_t k = ranges_.size(); k-- > 0;) {
    const SymbolBounds& range = ranges_[k];
    if (!e.uses(range.symbol)) continue;
    const auto factor = coefficient_of(e, range.symbol);
    if (!factor || !factor->constant()) return false;
    return std::ranges::any_of(*factor->constant() > 0 ? range.at_least : range.at_most, [&](const Expr& bound) {
      return prove(e.substitute({{range.symbol, bound}}), depth - 1);
    });
  }

  // Parameters only: e minus a known non-negative one.
  return std::ranges::any_of(positive_, [&](const Expr& known) {
    const Expr rest = e - known;
    return rest.is_valid() && rest.terms().size() < e.terms().size() && prove(rest, std::min(depth - 1, 3));
  });
}

Expr Facts::simplify(const Expr& e) const {
  const auto decide = [&](const Atom& atom, const std::vector<Expr>& args) {
    if (atom.kind == AtomKind::Min || atom.kind == AtomKind::Max) {
      const bool is_min = atom.kind == AtomKind::Min;
      // min(x, min(y, z)): compare the first operand with every other one.
      const Expr& first = args[0];
      const std::vector<Expr> others = is_min ? min_pieces(args[1]) : max_pieces(args[1]);
      const auto beats = [&](const Expr& a, const Expr& b) { return non_negative(is_min ? b - a : a - b); };
      if (std::ranges::any_of(others, [&](const Expr& other) { return beats(other, first); })) return args[1];
      std::vector<Expr> kept;
      for (const Expr& other : others)
        if (!beats(first, other)) kept.push_back(other);
      Expr result = first;
      for (const Expr& other : kept) result = is_min ? Expr::min(result, other) : Expr::max(result, other);
      return result;
    }
    return make_atom(atom, args);
  };
  return map_atoms(e, decide);
}

}  // namespace sous::transforms::normal
