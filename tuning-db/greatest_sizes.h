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

// A value for each symbol: the known one, the greatest that the arrays allow, and for the others the greatest of
// those, since a program that gives its arrays an extent rarely leaves another far behind. None for what no array
// says anything of.
std::map<std::string, std::int64_t> likely_sizes(const sdfg::Sdfg& nest,
                                                 const std::map<std::string, std::int64_t>& known);

}  // namespace sous::tuning_db
