// How often a loop runs its body.
#pragma once

#include <cstdint>
#include <optional>

#include "sdfg/sdfg.h"

namespace sous::sdfg {

// Iterations, where they are at most a constant: for [t, min(t + 16, n)), 16.
std::optional<std::int64_t> most_trips(const Loop& loop);

}  // namespace sous::sdfg
