// Witnesses: an iteration of some loops that touches a given element, as expressions over the element. So "this element
// is touched" needs no quantified variables, which isl finds easy (sdfg/points.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "transforms/footprints.h"

namespace sous::transforms {

struct Witness {
  sdfg::Points elements;                    // that it touches
  std::vector<sdfg::ScalarExpr> not_empty;  // of the loops at their first or last iteration
};

// Of what has these subscripts in the loops `around`, under their guards. `value`: what is known of the loops'
// variables, over `dimensions` of the element. So are those that it alone determines (a subscript moves with such a one
// and no other, by 1); a loop over tiles whose points are known has the value of their tile; all others have their
// first value, or their last: two witnesses.
std::vector<Witness> witnesses(const Around& around, const std::vector<sdfg::Expr>& subscripts,
                               std::map<std::string, sdfg::Expr> value = {});

}  // namespace sous::transforms
