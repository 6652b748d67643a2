// How loops walk over memory.
#pragma once

#include <set>
#include <string>

#include "transforms/step.h"

namespace sous::transforms {

// Lines of memory that a run of each statement of the tree touches anew as the loop `innermost` goes on, temporaries
// aside.
double lines(const Nest& nest, const sdfg::ScheduleTree& tree, const std::string& innermost);
// The arguments of which the statements directly inside the loop read elements that are a few apart from one iteration
// to the next; none if a loop or a condition is there, too.
std::set<std::string> taken_apart(const Nest& nest, const sdfg::ScheduleLoop& loop);

}  // namespace sous::transforms
