// The least and the greatest of what a loop meets.
#pragma once

#include <optional>

#include "sdfg/schedule_tree.h"
#include "sdfg/sdfg.h"

namespace sous::sdfg {

// select(a < b, a, b) and its like: min or max of the two, whichever way it is spelled.
std::optional<ReductionOp> selected_extremum(const ScalarExpr& e);

// Whether the statement is x = select(e > x, e, x), or with < in it, both strict. Then of equal values (zeros of both
// signs) x keeps the first, and never becomes a NaN that it was not before the loop. So parts of the iterations that
// follow each other, each begun with an infinity, and combined in the order of the iterations, leave the same bits as
// one loop over all: of floats as well, without leave to reassociate.
bool keeps_first_extremum(const Statement& statement);

}  // namespace sous::sdfg
