// Nests of several parts of which, for the sizes that a run brings, some gain and others are too small: each has its
// two versions, and the nest runs where those that gain are enough of it.
//
// Asked of all together, the least of a nest's parts would keep the largest from a recipe: a layer of a network with
// few inputs, or a cell whose last loop is short. A part that is too small runs as it was, in normal form, as those
// parts do that got no recipe, so what is left to ask is whether the whole gains. Its parts alone are each too small to
// decide for themselves: what goes from one to the next goes through arrays that the program may not have.
#pragma once

#include "client/choose.h"

namespace sous::client {

// Sets Chosen::least_saved, where that can be had, of this one and of what runs otherwise.
void run_partly(Chosen& chosen, const PreparedNest& nest);

// The nest with what was chosen. Errors: those of assemble (client/nest.h).
Result<sdfg::Sdfg> assemble(const PreparedNest& nest, const Chosen& chosen);

// The nodes that no choice is for.
sdfg::Region others_than(const Chosen& chosen, const PreparedNest& nest);

// Executions of a nest's statements below which it is surely left to the original.
double least_work(const Chosen& chosen);

}  // namespace sous::client
