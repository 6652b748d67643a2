// Whether a piece of a nest writes what an access reads, whichever iterations of the two meet.
#pragma once

#include <string>
#include <vector>

#include "sdfg/points.h"

namespace sous::transforms {

// A read with what is around it. Symbols that no loop here binds are the same for the reads and the writes.
struct Read {
  std::string container;
  std::vector<sdfg::Expr> element;  // quasi-affine
  std::vector<sdfg::Loop> loops;    // outermost first; without bodies
  std::vector<sdfg::ScalarExpr> conditions;
};

// What the variable of a loop in the region is called in `around`: in the read's own iteration it has its own name.
inline std::string in_region(const std::string& symbol) { return "#" + symbol; }
// Whether nothing in `region` writes an element that is read, in any iteration of the loops of `region` and of the
// read. Writes under conditions that depend on data count as made; false also where their elements are not known.
// Writes through other containers are not looked at. `around`: holds of both. Errors: isl.budget.
Result<bool> is_unwritten(const Read& read, const sdfg::Region& region, const std::vector<sdfg::ScalarExpr>& around);

}  // namespace sous::transforms
