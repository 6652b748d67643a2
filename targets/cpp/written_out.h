// How long code becomes.
#pragma once

#include "sdfg/sdfg.h"

namespace sous::targets {

// Statements as they are written down: an unrolled loop holds copies of its body, and one more for what remains. A tile
// of registers comes to some hundreds; a recipe that unrolls every loop 64 times would fill the memory.
constexpr double most_written_out = 20'000;

double written_out(const sdfg::Region& region, double copies = 1);

}  // namespace sous::targets
