// How large the sizes of a nest can be at most, where the arrays that it uses say so: a loop that goes through `float
// x[16]` has no more than 16 iterations, whatever n is. Estimates, for what is worth a look and never for legality: of
// loops that run at all.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sdfg/sdfg.h"

namespace sous::tuning_db {

// Of symbols that have no value in `known`, up to `largest`.
std::map<std::string, std::int64_t> greatest_sizes(const sdfg::Sdfg& nest,
                                                   const std::map<std::string, std::int64_t>& known,
                                                   std::int64_t largest);

}  // namespace sous::tuning_db
