// The shape of a nest on entry: what its evidence asks of it, as C++ conditions over what is known before it runs.
#pragma once

#include <string>
#include <vector>

#include "targets/cpp/work.h"
#include "targets/target.h"

namespace sous::targets {

// Loops whose bounds depend on outer loops have the iterations that they have where those stand in the middle of their
// ranges: exact for the usual triangles, and what tuning-db/nest_facts.h does with numbers.
struct Shape {
  // Holds where a loop has fewer iterations than it must have: "n < 56 || k < 240"; empty: no loop can, or none is
  // known.
  std::string too_small;
  // Where one of these is negative, that holds, or there is less work than there must be. (Of loops that run nothing a
  // sum may hold less than nothing.)
  std::vector<sdfg::Expr> needs;
  Work work;  // executions of statements; a loop of which nothing is known counts as one iteration
};
Shape shape(const Guard& guard, const Expressions& expressions);

}  // namespace sous::targets
