// The parts of forward_scalars (passes.h). Each returns whether it changed something.
#pragma once

#include "sdfg/sdfg.h"
#include "transforms/normal/passes.h"

namespace sous::transforms::normal {

// Host scalars that nobody outside sees.
bool is_local_scalar(const sdfg::Sdfg& sdfg, const std::string& container);

// Each definition, with all that depends on it up to the next one, gets its own scalar.
bool split_scalars(sdfg::Sdfg& sdfg, Log& log);
// Definitions move into their uses.
bool forward_definitions(sdfg::Sdfg& sdfg, Log& log);
// acc = e; … acc … ; X[s] = f(acc)   becomes   X[s] = e; … X[s] … ; X[s] = f(X[s]), where a loop updates acc; and
// t = e; X[s] = t; Y[r] = f(t)       becomes   X[s] = e; Y[r] = f(X[s]).
bool accumulate_in_place(sdfg::Sdfg& sdfg, Log& log);
// Writes to transients that are read by nobody (but by their own update), containers without any access, empty loops.
bool remove_dead(sdfg::Sdfg& sdfg, Log& log);

}  // namespace sous::transforms::normal
