// Which arrays stay on a device from nest to nest.
#pragma once

#include <vector>

#include "client/pipeline.h"
#include "frontends/lifted.h"
#include "targets/target.h"

namespace sous::client {

// Arguments of the nest that some block may keep on a device.
targets::Residences residence_candidates(const std::vector<frontends::Residence>& residences,
                                         const frontends::LiftedNest& nest);

// Gives each candidate of the nests that are served the variable of the outermost block in which all nests that write
// the array are served with it: what any other nest writes, it writes to the host's memory.
void assign_residences(const std::vector<frontends::Residence>& residences, std::vector<Served>& served);

}  // namespace sous::client
