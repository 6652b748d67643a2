#pragma once

#include <cstdint>

#include "sdfg/sdfg.h"

namespace sous::sdfg {

// The extent of a dimension of which the program does not say where it ends: `x` in x[column[i]].
inline constexpr std::int64_t unknown_extent = std::int64_t{1} << 40;
inline bool ends_by_data(const Container& c) { return !c.shape.empty() && c.shape[0] == Expr(unknown_extent); }

}  // namespace sous::sdfg
