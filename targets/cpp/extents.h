// The shape of a nest on entry: what its evidence asks of it, as C++ conditions over what is known before it runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "targets/cpp/work.h"
#include "targets/target.h"

namespace sous::targets {

// Loops whose bounds depend on outer loops have the iterations that they have where those stand in the middle of their
// ranges: exact for the usual triangles, and what tuning-db/nest_facts.h does with numbers. Rows whose lengths are data
// (sdfg::RowWalk) have their mean length.
struct Shape {
  // Holds where a loop has fewer iterations than it must have: "n < 56 || k < 240"; empty: no loop can, or none is
  // known.
  std::string too_small;
  // Where one of these is negative, that holds, or there is less work than there must be. (Of loops that run nothing a
  // sum may hold less than nothing.)
  std::vector<sdfg::Expr> needs;
  bool needs_all = true;  // these say all of it
  bool looks_at_data = false;
  Work work;  // executions of statements; a loop of which nothing is known counts as one iteration
};
Shape shape(const Guard& guard, const Expressions& expressions);

// The same inside of the nest: whether the guard holds, in the words of the IR. Nullopt: that cannot be said there.
// `sdfg` has the guard's symbols.
std::optional<sdfg::Condition> condition(const Guard& guard, const sdfg::Sdfg& sdfg);

}  // namespace sous::targets
