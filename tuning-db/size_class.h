// Size classes: how far a measurement at one size speaks for another.
//
// The class is floor(log4(footprint in bytes)) and the width of the widest element type. A step is thus a factor of
// four in bytes (two per side of a matrix): caches grow by factors of 8 to 32 from level to level, so that a class
// and its neighbours stay on one side of a cache boundary more often than not, and a database needs few sizes per nest.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "sdfg/sdfg.h"

namespace sous::tuning_db {

struct SizeClass {
  std::optional<int> power;  // of four; nullopt: a size that matters is not known
  int element_bytes = 8;
  bool operator==(const SizeClass&) const = default;
};

// `sizes`: values of the nest's symbols.
SizeClass size_class(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes);

// "4^11:8", "unknown:8".
std::string to_string(const SizeClass& size);
std::optional<SizeClass> parse_size_class(std::string_view text);

// Whether a measurement at `measured` is evidence at `asked`: equal or adjacent classes of equal element width.
// An unknown class is like nothing; a build that does not know its sizes guards the call by the measured work instead.
bool like_size(const SizeClass& measured, const SizeClass& asked);
bool like_size(std::string_view measured, std::string_view asked);
// The same, or a smaller size where it was measured how far down it reaches (Evidence::least_extents): there the shape
// decides.
bool speaks_for(const SizeClass& measured, bool has_thresholds, const SizeClass& asked);

// Bytes that the nest touches, and executions of its statements; nullopt if a size that matters is not known.
std::optional<double> footprint_bytes(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes);
std::optional<double> work(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes);

}  // namespace sous::tuning_db
