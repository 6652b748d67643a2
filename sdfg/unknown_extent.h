#pragma once

#include <cstdint>

namespace sous::sdfg {

// The extent of a dimension of which the program does not say where it ends: `x` in x[column[i]].
inline constexpr std::int64_t unknown_extent = std::int64_t{1} << 40;

}  // namespace sous::sdfg
