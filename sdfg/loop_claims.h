// What the loops of a tree claim of themselves besides an order: schedules other than one iteration after the other,
// privates and reductions. A tree that differs from a legal one in that alone runs in the same order, and a loop that
// is the same in both has its privates still: what isl would be asked for is known. Internal to sdfg/.
#pragma once

#include <optional>
#include <string>

#include "sdfg/dependence_data.h"

namespace sous::sdfg {

// Whether `tree` is right, which is the legal one but for what one loop claims. Nullopt: it is another tree, or it
// takes more to tell.
std::optional<Result<void>> by_claims(const Dependences& dependences, const Scop& scop, const ScheduleTree& legal,
                                      const ScheduleTree& tree);

// Whether the loop's privates, of one of the trees, are so in `tree` because they are in the legal one: the loop is the
// same in both, all that touches them is in it, and an instance is in the same iteration of it.
bool keeps_privates(const Dependences::Data& data, const ScheduleLoop& loop, const ScheduleTree& tree,
                    const ScheduleTree& legal);

// A container that is private to two loops of which none is inside the other: its accesses would have two places.
// `covered` finds those that run; but targets must have one for accesses that never run, too.
std::optional<std::string> private_twice(const ScheduleTree& tree);

}  // namespace sous::sdfg
