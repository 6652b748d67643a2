#pragma once

#include "sdfg/sdfg.h"

namespace sous::sdfg {

// Whether some loop is scheduled onto threads (Parallel).
bool has_parallel_loop(const Sdfg& sdfg);

}  // namespace sous::sdfg
