// Division of integers that rounds down, and its remainder.
#pragma once

#include <cstdint>

namespace sous::sdfg {

inline std::int64_t floor_div_int(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}
inline std::int64_t floor_mod_int(std::int64_t a, std::int64_t b) { return a - b * floor_div_int(a, b); }

}  // namespace sous::sdfg
