// Schedule trees: made, copied, and without what the loops around a part of one decide about it.
#pragma once

#include <functional>

#include "sdfg/schedule_tree.h"
#include "sdfg/surroundings.h"

namespace sous::transforms {

// The same instances in the same order: guards that always hold go, and so do parts that never run; of the minimum or
// maximum in a bound, the operands that never decide it go. `context` are the surroundings of `tree`.
sdfg::ScheduleTree simplified(const sdfg::ScheduleTree& tree, const sdfg::Surroundings& context);

// The loop without its loop, where it runs exactly once wherever it is entered: its children for that iteration.
sdfg::ScheduleTree without_single_iteration(const sdfg::ScheduleLoop& loop, const sdfg::Surroundings& context);

// Without the privates that no statement inside their loop names: of a loop that becomes two, each keeps its own.
sdfg::ScheduleTree without_unused_privates(const sdfg::Scop& scop, const sdfg::ScheduleTree& tree);

// How many loops are inside each other.
std::size_t depth(const sdfg::ScheduleTree& tree);

// These loops around `body`, the first one outermost; the children that they have do not count.
sdfg::ScheduleTree nested(std::vector<sdfg::ScheduleLoop> loops, sdfg::ScheduleTree body);

// A copy whose loops are called so.
sdfg::ScheduleTree renamed_loops(sdfg::ScheduleTree tree, const std::function<std::string(const std::string&)>& name);

// A second copy of a loop with all that is in it, to stand in `tree` beside `first`: loops that the first has, too, get
// the suffix (and a number where that is taken).
sdfg::ScheduleLoop second_copy(const sdfg::Scop& scop, const sdfg::ScheduleTree& tree, const sdfg::ScheduleTree& first,
                               const sdfg::ScheduleLoop& loop, const std::string& suffix);

}  // namespace sous::transforms
