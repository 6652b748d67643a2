// For the authors of strategies: pieces of recipe text, and sizes as expressions over the hardware.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "transforms/strategies/staggering.h"

namespace sous::transforms {

// Elements in a vector register: "simd_bits floordiv 64".
inline std::string lanes_of(int element_bytes) { return "simd_bits floordiv " + std::to_string(8 * element_bytes); }
// `count` times as many.
inline std::string vectors_of(int count, int element_bytes) {
  return std::to_string(count) + " * (" + lanes_of(element_bytes) + ")";
}
// Rows of a register tile three vectors wide, times `count`: eight with the 32 registers of AVX-512, four with 16, so
// that the sums, a row of operands and a broadcast stay in registers.
inline std::string rows_of(int count = 1) {
  return count == 1 ? "simd_bits floordiv 64" : std::to_string(count) + " * (simd_bits floordiv 64)";
}

inline std::string call(const std::string& step, const std::string& arguments) {
  return step + "(" + arguments + "); ";
}
// The interchanges that turn the perfect band `from` into `to`, the same loops in another order.
std::string permutation(std::vector<std::string> from, const std::vector<std::string>& to);
// The values of an open name, `first` of them first.
std::vector<std::string> first_and(std::int64_t first, std::vector<std::int64_t> others);
// Tiles of the two loops, of $rows times $columns, those of a diagonal on threads.
std::string in_diagonals(const Tileable& band);
// A recipe of these steps.
inline std::string recipe_of(std::string steps, const std::string& target = "highway") {
  if (steps.ends_with("; ")) steps.resize(steps.size() - 2);
  return steps + " -> " + target;
}

}  // namespace sous::transforms
