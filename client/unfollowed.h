// Schedules of a recipe that the generated code does not have.
#pragma once

#include <vector>

#include "client/choose.h"
#include "targets/target.h"

namespace sous::client {

// Puts into the report what of the recipes the code does not do. False: a neighbour's evidence was made on threads
// that this nest does not get, and so is none.
bool follows(const PreparedNest& nest, const Chosen& chosen, const sdfg::Sdfg& sdfg, const targets::Target& target,
             const std::vector<targets::Unfollowed>& unfollowed, bool forced, NestReport& report);

}  // namespace sous::client
