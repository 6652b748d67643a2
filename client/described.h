// What is to be said of choices, and asked for on entry.
#pragma once

#include "client/choose.h"

namespace sous::client {

// From `choices`: everything else but the reports of units and what runs otherwise.
void describe(Chosen& chosen, const PreparedNest& nest);

// From how many threads on the gain, shared out among those that it was measured on, as far as there are so many cores
// here, is more than the other's on one.
int threads_to_beat(const transforms::Match& threads, const transforms::Match& alone, int cores);

}  // namespace sous::client
