// Symbolic expressions in special forms: affine ones, and the pieces of minima and maxima.
#include <algorithm>

#include "sdfg/expr.h"

namespace sous::sdfg {

std::optional<Affine> affine(const Expr& e) {
  if (!e.is_valid()) return std::nullopt;
  Affine form{.constant = e.constant_term(), .coefficients = {}};
  for (const Term& t : e.terms()) {
    if (t.atoms.size() != 1 || t.atoms[0].kind != AtomKind::Symbol) return std::nullopt;
    form.coefficients[t.atoms[0].name] = t.coefficient;
  }
  return form;
}

namespace {

// The pieces of a sum with exactly one term 1 * max(a, b) (or min) in it; {e} for every other expression.
std::vector<Expr> pieces(const Expr& e, AtomKind kind) {
  for (const sdfg::Term& term : e.terms()) {
    if (term.coefficient != 1 || term.atoms.size() != 1 || term.atoms[0].kind != kind) continue;
    const sdfg::Atom& atom = term.atoms[0];
    const Expr whole =
        kind == AtomKind::Max ? Expr::max(atom.args[0], atom.args[1]) : Expr::min(atom.args[0], atom.args[1]);
    const Expr rest = e - whole;
    std::vector<Expr> result;
    for (const Expr& arg : atom.args)
      for (const Expr& piece : pieces(arg + rest, kind))
        if (std::ranges::find(result, piece) == result.end()) result.push_back(piece);
    return result;
  }
  return {e};
}

}  // namespace

std::vector<Expr> max_pieces(const Expr& e) { return pieces(e, AtomKind::Max); }
std::vector<Expr> min_pieces(const Expr& e) { return pieces(e, AtomKind::Min); }

}  // namespace sous::sdfg
