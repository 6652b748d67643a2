// Which sizes are those of windows that slide over something: of filters, pools and searches.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sdfg/sdfg.h"

namespace sous::client {

// Symbols in the lengths of loops that are added in a subscript, or in what an if asks, to one that tells where the
// result is written, and do not tell that themselves: i and j of out[y][x] += in[y + i][x + j] * w[i][j], or of
// in[y*stride + i][x*stride + j]. In programs such sizes are few, 3 or 5, where others are many. Each with the least
// value (at most 3) at which its window has three elements: 3, or 1 of a radius. Only windows of at least so many
// loops.
std::map<std::string, std::int64_t> window_sizes(const sdfg::Sdfg& nest, std::size_t least_loops = 1);

}  // namespace sous::client
