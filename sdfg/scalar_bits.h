// Values of element types as bits, and from one type to another.
//
// A value is the 64 bits of a ScalarExpr constant: floats as their IEEE bits (f32 in the low half), signed integers
// sign-extended, unsigned ones zero-extended, bool 0 or 1.
#pragma once

#include <bit>
#include <cstdint>

#include "sdfg/result.h"
#include "sdfg/types.h"

namespace sous::sdfg {

// Brings bits of any origin (a truncated result, a constant) into the form above.
std::uint64_t canonical_bits(ElementType type, std::uint64_t bits);

std::uint64_t real_bits(double value, ElementType type);  // type f32 or f64, rounded to it
double real_from_bits(std::uint64_t bits, ElementType type);

// The value in another type. Error: interp.cast-range.
Result<std::uint64_t> convert(ElementType from, std::uint64_t bits, ElementType to);

inline std::int64_t as_signed(std::uint64_t bits) { return static_cast<std::int64_t>(bits); }
inline bool is_signed(ElementType type) { return info(type).kind == TypeKind::Signed; }
inline int width(ElementType type) { return info(type).bytes * 8; }

template <class Float>
Float to_float(std::uint64_t bits) {
  if constexpr (sizeof(Float) == 4) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  return static_cast<Float>(std::bit_cast<double>(bits));
}
template <class Float>
std::uint64_t from_float(Float value) {
  if constexpr (sizeof(Float) == 4) return std::bit_cast<std::uint32_t>(value);
  return std::bit_cast<std::uint64_t>(static_cast<double>(value));
}

}  // namespace sous::sdfg
