// What evidence for one nest promises for another one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "client/nest.h"

namespace sous::client {

// The speed-up that the evidence promises (tuning-db/belief.h), by what the build believes of it.
double promised(const transforms::Match& match);
// What recipes of some units promise for the nest, the others as they are (Amdahl, by their work).
double promised(const Nest& nest, const std::vector<Choice>& choices);

// A neighbour's measurement as one of this nest. `theirs`, `here`: the loops of both in preorder; `matched`: which of
// theirs is which here. A loop without a counterpart is to be as long as the shortest; and where the least that gains
// was measured, each loop longer than there by a factor: this is another nest.
transforms::Evidence for_another_nest(const transforms::Evidence& evidence, const std::vector<std::string>& theirs,
                                      const std::vector<std::string>& here,
                                      const std::map<std::string, std::string>& matched);

}  // namespace sous::client
