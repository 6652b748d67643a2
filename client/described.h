// What is to be said of choices, and asked for on entry.
#pragma once

#include <string>

#include "client/choose.h"

namespace sous::client {

// From `choices`: everything else but the reports of units and what runs otherwise. None is left where it gains too
// little for what has to be asked.
void describe(Chosen& chosen, const PreparedNest& nest);

// What the unit would have used, had not another choice been better, or this one too little.
void set_aside(UnitReport& report, const std::string& why);

// From how many threads on the gain, shared out among those that it was measured on, as far as there are so many cores
// here, is more than the other's on one.
int threads_to_beat(const transforms::Match& threads, const transforms::Match& alone, int cores);

}  // namespace sous::client
