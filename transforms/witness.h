// Witnesses: an iteration of some loops that touches a given element, as expressions over the element. So "this element
// is touched" needs no quantified variables, which isl finds easy (sdfg/points.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sdfg/points.h"

namespace sous::transforms {

struct Witness {
  std::map<std::string, sdfg::Expr> value;   // of each loop's variable
  std::vector<sdfg::ScalarExpr> conditions;  // the loops take these values
  std::vector<sdfg::ScalarExpr> not_empty;   // of the loops at their first or last iteration
};

// Adds the variables that the element alone determines, unless they are in `value`: a subscript moves with such a one
// and no other, by 1. `element` names its subscripts.
void determine(std::map<std::string, sdfg::Expr>& value, const std::vector<sdfg::ScheduleLoop>& loops,
               const std::vector<sdfg::Expr>& subscripts, const std::vector<sdfg::Expr>& element);
// `loops` outermost first, `value` what is known of their variables. A loop over tiles whose points are known has the
// value of their tile, all others their first or their last.
Witness witness(const std::vector<sdfg::ScheduleLoop>& loops, std::map<std::string, sdfg::Expr> value, bool first);

}  // namespace sous::transforms
