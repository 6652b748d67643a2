// Loops that run through given points, and only through those: code for a union of sets (Ancourt and Irigoin 1991,
// "Scanning polyhedra with DO loops"; Bastoul 2004), as far as steps need it that copy footprints.
//
// The bounds come from Fourier-Motzkin elimination over a hull, and whatever that loses or adds is found out: at the
// end isl is asked whether the loops' points are those of the union.
#pragma once

#include <optional>
#include <vector>

#include "sdfg/points.h"

namespace sous::sdfg {

// One nest of loops, a dimension each, outermost first.
struct Scan {
  std::vector<ScalarExpr> guard;  // over parameters: otherwise there are no points
  std::vector<Expr> from, to;     // both inclusive, over parameters and the dimensions before
};

// Nests that together run through the union of `parts`, wherever `around` holds; points of several parts perhaps more
// than once. All parts have the same dims. nullopt: none were found. Errors: isl.budget.
Result<std::optional<std::vector<Scan>>> scan(const std::vector<Points>& parts, const std::vector<ScalarExpr>& around,
                                              const Budget& budget = {});

// For each dimension a place `least`, over parameters, and how many values from there on are enough for all points of
// all parts, whatever the parameters are. nullopt: no number is known to be, or there is no point at all. Errors:
// isl.budget.
struct Extent {
  Expr least;
  std::int64_t size = 0;
};
Result<std::optional<std::vector<Extent>>> extents(const std::vector<Points>& parts,
                                                   const std::vector<ScalarExpr>& around, const Budget& budget = {});

// Whether some point is met more than once, for several values of the quantified variables or in several parts. Errors:
// isl.budget.
Result<bool> is_repeated(const std::vector<Points>& parts, const std::vector<ScalarExpr>& around,
                         const Budget& budget = {});

// Whether no point is in both. Errors: isl.budget.
Result<bool> is_apart(const Points& a, const Points& b, const std::vector<ScalarExpr>& around,
                      const Budget& budget = {});

}  // namespace sous::sdfg
