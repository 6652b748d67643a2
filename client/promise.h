// What evidence for one nest promises for another one.
#pragma once

#include <vector>

#include "client/nest.h"

namespace sous::client {

// The speed-up that evidence of this ratio promises: none at the end of its reach.
double promised(const transforms::Match& match, double believed);
// Of what the build believes.
double promised(const transforms::Match& match);
// What it must promise, since the nest's original may be better than that of the nest that was measured: the more the
// farther away it is, up to a third of the reach.
double least_promised(const transforms::Match& match);
// What recipes of some units promise for the nest, the others as they are (Amdahl, by their work).
double promised(const Nest& nest, const std::vector<Choice>& choices);

}  // namespace sous::client
