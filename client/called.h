// A nest whose calls were inlined beside the nests of the functions that it calls.
#pragma once

#include <vector>

#include "client/choose.h"
#include "frontends/lifted.h"

namespace sous::client {

// Threads alone are the last resort, and what a function does that a nest calls is part of the nest: where such a
// function has a better recipe, its calls are to run that. `chosen`: of each nest of a file.
void leave_to_called(const std::vector<const frontends::LiftedNest*>& nests, std::vector<Chosen>& chosen);

}  // namespace sous::client
