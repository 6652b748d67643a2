// Symbolic expressions, rebuilt from their atoms.
#pragma once

#include <functional>
#include <vector>

#include "sdfg/expr.h"

namespace sous::sdfg {

// The expression that an atom like this one is with these arguments.
Expr make_atom(const Atom& like, const std::vector<Expr>& args);
// The product that the term is.
Expr term_value(const Term& term);
// The expression with what f makes of its atoms, bottom-up: f sees each atom with its arguments rewritten.
Expr map_atoms(const Expr& e, const std::function<Expr(const Atom&, const std::vector<Expr>&)>& f);

}  // namespace sous::sdfg
