// Sizes to measure a nest at where the source does not say them (--measure without --size).
#pragma once

#include <string>

#include "client/inputs.h"
#include "client/nest.h"

namespace sous::client {

// The nest with a value for each of its symbols: those that are known, and one value for all others (half of it, or 1,
// for those that are no extents, where the nest would not run or leave its arrays with one value for all), so that the
// unit's footprint is of the size class `wanted` (what the recipe was measured at) or the largest below that can be
// measured within `most_work` executions of its statements (few operations each) and that stays inside every array.
// Each subscript is held against its extent for that. Errors: measure.sizes (no such value: the --size that is needed).
inline constexpr double seconds_of_work = 2e9;  // a few seconds of the original
Result<PreparedNest> at_trial_sizes(const PreparedNest& nest, std::size_t unit, const std::string& wanted,
                                    double most_work = seconds_of_work, Inputs inputs = Inputs::Tame);

}  // namespace sous::client
