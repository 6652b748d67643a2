// Whether a nest of which nobody is known to have run it stays inside of its arrays: before a worker compiles and runs
// what a server gives it (client/work.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sdfg/sdfg.h"

namespace sous::client {

// Every subscript lies within its extent, at these sizes, whatever the data; nothing that subscripts and bounds are
// computed of leaves 62 bits; no array is larger than what is spent on measuring. Holds for all that recipes make of
// the nest: their steps touch what it touches. Error: measure.bounds (what cannot be shown, too: subscripts that come
// of data).
Result<void> contained(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes);

}  // namespace sous::client
