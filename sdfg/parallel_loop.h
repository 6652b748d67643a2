#pragma once

#include <vector>

#include "sdfg/sdfg.h"

namespace sous::sdfg {

// Whether some loop is scheduled onto threads (Parallel).
bool has_parallel_loop(const Sdfg& sdfg);

// Parallel loops whose iterations are handed out together, as those of one: this one, the only thing in it, and so on,
// as long as there are no reductions, and bounds neither use a loop of these nor read memory.
std::vector<const Loop*> shared_together(const Loop& outermost);

}  // namespace sous::sdfg
