// How sweeps move along a dimension of their grids while time goes on, so that tiles of time and space can run one
// after another.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "transforms/sweeps.h"

namespace sous::transforms {

// Those in a loop of the nest, over grids with as many dimensions as the one that is written first. Errors: those of
// sweeps_of, of which none speaks of a loop that holds something that never runs.
Result<Sweeps> sweeps_in(const Nest& nest, const std::string& loop);

// Iteration x of a sweep in step t of the loop in time is at the position x + shift + factor * t.
struct Motion {
  std::int64_t factor = 0;
  std::vector<std::int64_t> shifts;  // of each sweep, none negative
};

// The least factor, and with it the least shifts, with which no iteration is at a lower position than another one from
// which it needs something, or which must have read what it writes. Nullopt: none up to 64, or sweeps reach further
// than 1024 elements.
std::optional<Motion> motion(const Sweeps& sweeps, std::size_t dimension);

}  // namespace sous::transforms
