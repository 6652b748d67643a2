// What speaks against evidence at the shape that is asked about, in words; "": nothing.
#pragma once

#include <string>

#include "client/nest.h"
#include "tuning-db/gain_model.h"

namespace sous::client {

std::string too_small(const Unit& unit, const transforms::Match& match);
// Rows that share sets of a cache, of what the choice makes of the unit.
std::string crowded(const tuning_db::Hardware& hardware, const Unit& unit, const Choice& choice);
// The same, of what was measured on the nest `theirs`: at just these extents it stands, if it was of these arrays.
std::string shared_sets(const tuning_db::Hardware& hardware, const Unit& unit, const sdfg::Sdfg& theirs,
                        const Choice& choice);
// What the gain model says against evidence of another nest. (Of this very nest evidence settles the matter.)
std::string predicted_loss(const tuning_db::Hardware& hardware, const Unit& unit, const Choice& choice,
                           tuning_db::FindGainModel find_model);

// Whether a neighbour's recipe leaves loops that end when the data say so as they are, one iteration after the other:
// in lanes, which the neighbour may not have been tried with, they often gain more.
bool leaves_lanes_empty(const Unit& unit, const Choice& choice);

}  // namespace sous::client
