// Loops that end where data say, at most somewhere that is known: `w` from weight[i] to the capacity. Schedules know
// loops between affine bounds only; so these stand there with all iterations that they may have, and a condition.
#pragma once

#include "sdfg/sdfg.h"

namespace sous::sdfg {

// Of each innermost loop that reads what only later iterations write (distances_ahead), and ends by such data.
Sdfg open_ends(Sdfg sdfg);

// The other way, for generated code: a loop that is nothing but a body under such a condition ends there. What data it
// needs it reads where it has iterations, as the condition did.
Sdfg closed_ends(Sdfg sdfg);

// For estimates: the same loops, open or not, as if they had all iterations.
Sdfg without_ends(Sdfg sdfg);

}  // namespace sous::sdfg
