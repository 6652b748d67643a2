#include "sdfg/scalar_bits.h"

#include <cmath>
#include <string>

namespace sous::sdfg {
namespace {

using Bits = std::uint64_t;

Result<Bits> float_to_integer(double value, ElementType to) {
  // Bounds that are exact in double: [-2^(w-1), 2^(w-1)) and [0, 2^w), after truncation.
  const double whole = std::trunc(value);
  const double low = is_signed(to) ? -std::ldexp(1.0, width(to) - 1) : 0.0;
  const double high = std::ldexp(1.0, is_signed(to) ? width(to) - 1 : width(to));
  if (!(whole >= low && whole < high)) {
    return fail("interp.cast-range", "a floating point value out of the range of " + std::string(info(to).name));
  }
  return is_signed(to) ? static_cast<Bits>(static_cast<std::int64_t>(whole)) : static_cast<Bits>(whole);
}

}  // namespace

Result<Bits> convert(ElementType from, Bits bits, ElementType to) {
  if (from == to) return bits;
  if (is_float(from)) {
    const double value = real_from_bits(bits, from);
    if (to == ElementType::boolean) return Bits{value != 0};
    if (is_float(to)) return real_bits(value, to);
    return float_to_integer(value, to);
  }
  if (to == ElementType::boolean) return Bits{bits != 0};
  // Straight to float: by way of double it would be rounded twice.
  if (to == ElementType::f32) {
    return from_float(is_signed(from) ? static_cast<float>(as_signed(bits)) : static_cast<float>(bits));
  }
  if (to == ElementType::f64) {
    return from_float(is_signed(from) ? static_cast<double>(as_signed(bits)) : static_cast<double>(bits));
  }
  return canonical_bits(to, bits);
}

std::uint64_t canonical_bits(ElementType type, std::uint64_t bits) {
  switch (type) {
    case ElementType::i8:
      return static_cast<Bits>(static_cast<std::int64_t>(static_cast<std::int8_t>(bits)));
    case ElementType::i16:
      return static_cast<Bits>(static_cast<std::int64_t>(static_cast<std::int16_t>(bits)));
    case ElementType::i32:
      return static_cast<Bits>(static_cast<std::int64_t>(static_cast<std::int32_t>(bits)));
    case ElementType::u8:
      return static_cast<std::uint8_t>(bits);
    case ElementType::u16:
      return static_cast<std::uint16_t>(bits);
    case ElementType::u32:
    case ElementType::f32:
      return static_cast<std::uint32_t>(bits);
    case ElementType::i64:
    case ElementType::u64:
    case ElementType::f64:
      return bits;
    case ElementType::boolean:
      return Bits{bits != 0};
  }
  __builtin_unreachable();
}

std::uint64_t real_bits(double value, ElementType type) {
  return type == ElementType::f32 ? from_float(static_cast<float>(value)) : from_float(value);
}
double real_from_bits(std::uint64_t bits, ElementType type) {
  return type == ElementType::f32 ? static_cast<double>(to_float<float>(bits)) : to_float<double>(bits);
}

}  // namespace sous::sdfg
