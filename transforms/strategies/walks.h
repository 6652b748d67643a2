// How loops walk over memory.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "transforms/step.h"

namespace sous::transforms {

// How far apart the elements of two iterations of a loop are, if that is known.
std::optional<std::int64_t> elements_between(const sdfg::Memlet& memlet, const sdfg::Container& container,
                                             const std::string& loop);
// Lines of memory that a run of each statement of the tree touches anew as the loop `innermost` goes on, temporaries
// aside.
double lines(const Nest& nest, const sdfg::ScheduleTree& tree, const std::string& innermost);
// The arguments of which the statements directly inside the loop read elements that are a few apart from one iteration
// to the next; none if a loop or a condition is there, too.
std::set<std::string> taken_apart(const Nest& nest, const sdfg::ScheduleLoop& loop);

}  // namespace sous::transforms
