// Trees in which what stands side by side has changed places. Internal to sdfg/.
#pragma once

#include "sdfg/dependence_data.h"

namespace sous::sdfg {

// Whether `tree` is the legal one but for the order of what stands side by side in it, and all that depends on each
// other stands as it did. Then every pair of instances that touch the same element, one writing, runs in the order that
// it had, in the same iterations of the same loops: schedules, privates and reductions are right as they were, and isl
// need not be asked. The dependences among the statements of both trees must be known.
bool moves_only_unrelated(const Dependences::Data& data, const ScheduleTree& legal, const ScheduleTree& tree);

}  // namespace sous::sdfg
