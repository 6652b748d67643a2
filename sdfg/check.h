// Validation: every rule of the IR that types do not hold, one coded error each (sdfg.*). Run on whatever comes from
// outside and, in tests, between passes.
#pragma once

#include <cstddef>
#include <vector>

#include "sdfg/sdfg.h"

namespace sous::sdfg {

// The first broken rule. docs/errors.md lists the codes.
Result<void> check(const Sdfg& sdfg);
// All of them, in order of place.
std::vector<Error> check_all(const Sdfg& sdfg);

// Of a graph that a stranger wrote: how much a few kilobytes, compressed, may make others look at. Programs have a few
// dozen symbols and arrays in a nest; the largest known nests some hundred parts.
inline constexpr std::size_t most_symbols = 4096, most_containers = 4096;
inline constexpr std::size_t most_parts = 16'384;  // loops, branches, states and their nodes, privates, reductions
// Whether it is within these. Error: sdfg.size.
Result<void> check_size(const Sdfg& sdfg);
// check_size, then check.
Result<void> check_foreign(const Sdfg& sdfg);

}  // namespace sous::sdfg
