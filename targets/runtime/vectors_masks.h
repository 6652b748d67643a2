// Vectors of our own (vectors.h): comparisons, masks and choices.
#pragma once

#include "targets/runtime/vectors_arithmetic.h"

namespace sous::vectors {
namespace {  // targets/runtime/sous.h says why

#if SOUS_AVX512

// The numbers by which instructions call comparisons: of floats (ordered, quiet), of integers.
#define SOUS_COMPARISON(name, how_floats, how_integers)                        \
  template <class T, size_t n>                                                 \
  SOUS_VECTOR MaskOf<T, n> name(Vector<T, n> a, Vector<T, n> b) {              \
    using N = NativeOf<T, n>;                                                  \
    const auto x = bits<typename N::V>(a.raw), y = bits<typename N::V>(b.raw); \
    typename N::M ones;                                                        \
    if constexpr (is_float<T>) {                                               \
      ones = N::template compare<how_floats>(x, y);                            \
    } else if constexpr (is_signed<T>) {                                       \
      ones = N::template compare<how_integers>(x, y);                          \
    } else {                                                                   \
      ones = N::template compare_unsigned<how_integers>(x, y);                 \
    }                                                                          \
    return {static_cast<typename MaskOf<T, n>::Raw>(ones)};                    \
  }
SOUS_COMPARISON(Eq, 0, 0)
SOUS_COMPARISON(Lt, 17, 1)
SOUS_COMPARISON(Le, 18, 2)
SOUS_COMPARISON(Gt, 30, 6)
SOUS_COMPARISON(Ge, 29, 5)
#undef SOUS_COMPARISON
template <class T, size_t n>
SOUS_VECTOR MaskOf<T, n> IsNaN(Vector<T, n> v) {
  return {static_cast<typename MaskOf<T, n>::Raw>(NativeOf<T, n>::template compare<3>(v.raw, v.raw))};
}
template <class T, size_t n>
SOUS_VECTOR MaskOf<T, n> ones(size_t lanes) {
  return {static_cast<typename MaskOf<T, n>::Raw>(lanes & Simd<T, n>::all)};
}
template <class T, size_t n>
SOUS_VECTOR size_t lane_bits(MaskOf<T, n> mask) {
  return mask.raw & Simd<T, n>::all;
}
template <class T, size_t n>
SOUS_VECTOR MaskOf<T, n> FirstN(Simd<T, n>, size_t count) {
  const auto first = __builtin_ia32_bzhi_di(Simd<T, n>::all, count);
  return ones<T, n>(count > 255 ? Simd<T, n>::all : first);  // only eight bits of the count are looked at
}

#else

#define SOUS_COMPARISON(name, op)                                 \
  template <class T, size_t n>                                    \
  SOUS_VECTOR MaskOf<T, n> name(Vector<T, n> a, Vector<T, n> b) { \
    return {bits<typename MaskOf<T, n>::Raw>(a.raw op b.raw)};    \
  }
SOUS_COMPARISON(Eq, ==)
SOUS_COMPARISON(Lt, <)
SOUS_COMPARISON(Le, <=)
SOUS_COMPARISON(Gt, >)
SOUS_COMPARISON(Ge, >=)
#undef SOUS_COMPARISON
template <class T, size_t n>
SOUS_VECTOR MaskOf<T, n> IsNaN(Vector<T, n> v) {
  return {bits<typename MaskOf<T, n>::Raw>(v.raw != v.raw)};
}
template <class T, size_t n, size_t... k>
SOUS_VECTOR MaskOf<T, n> ones(size_t lanes, Indices<k...>) {
  using Raw = typename Vector<Signed<T>, n>::Raw;
  const Raw each = {static_cast<Signed<T> >(size_t{1} << k)...};
  return {
      bits<typename MaskOf<T, n>::Raw>((Set(Simd<Signed<T>, n>(), static_cast<Signed<T> >(lanes)).raw & each) == each)};
}
template <class T, size_t n>
SOUS_VECTOR MaskOf<T, n> ones(size_t lanes) {
  if constexpr (mask_is_bits<T>) {
    return {static_cast<typename MaskOf<T, n>::Raw>(lanes & Simd<T, n>::all)};
  } else {
    return ones<T, n>(lanes, IndicesBelow<Simd<T, n>::bytes / sizeof(T)>());
  }
}
template <class T, size_t n>
SOUS_VECTOR size_t lane_bits(MaskOf<T, n> mask) {
  if constexpr (mask_is_bits<T>) {
    return mask.raw & Simd<T, n>::all;
  } else {
    return NativeOf<T, n>::ones(native_mask(mask)) & Simd<T, n>::all;
  }
}
template <class T, size_t n>
SOUS_VECTOR MaskOf<T, n> FirstN(Simd<T, n>, size_t count) {
  if constexpr (mask_is_bits<T>) {
    return ones<T, n>(count < n ? (size_t{1} << count) - 1 : Simd<T, n>::all);
  } else {
    const Simd<Signed<T>, n> d;
    return {bits<typename MaskOf<T, n>::Raw>(Lt(Iota(d, 0), Set(d, static_cast<Signed<T> >(count))).raw)};
  }
}

#endif

#define SOUS_MASKS(name, expression)                              \
  template <class T, size_t n>                                    \
  SOUS_VECTOR MaskOf<T, n> name(MaskOf<T, n> x, MaskOf<T, n> y) { \
    const auto a = x.raw, b = y.raw;                              \
    return {static_cast<typename MaskOf<T, n>::Raw>(expression)}; \
  }
SOUS_MASKS(And, a& b)
SOUS_MASKS(Or, a | b)
SOUS_MASKS(Xor, a ^ b)
SOUS_MASKS(AndNot, ~a& b)
#undef SOUS_MASKS
template <class T, size_t n>
SOUS_VECTOR MaskOf<T, n> Not(MaskOf<T, n> mask) {
  return Xor(mask, ones<T, n>(Simd<T, n>::all));
}
template <class T, size_t n>
SOUS_VECTOR bool AllFalse(Simd<T, n>, MaskOf<T, n> mask) {
  return lane_bits(mask) == 0;
}
template <class T, size_t n>
SOUS_VECTOR bool AllTrue(Simd<T, n>, MaskOf<T, n> mask) {
  return lane_bits(mask) == Simd<T, n>::all;
}
template <class T, size_t n>
SOUS_VECTOR size_t CountTrue(Simd<T, n>, MaskOf<T, n> mask) {
  return static_cast<size_t>(__builtin_popcountll(lane_bits(mask)));
}
template <class T, size_t n, class From>
SOUS_VECTOR MaskOf<T, n> RebindMask(Simd<T, n>, MaskOf<From, n> mask) {
  return {bits<typename MaskOf<T, n>::Raw>(mask.raw)};
}
template <class T, size_t n>
SOUS_VECTOR size_t StoreMaskBits(Simd<T, n>, MaskOf<T, n> mask, uint8_t* to) {
  const size_t set = lane_bits(mask);
  constexpr size_t bytes = (n + 7) / 8;
  for (size_t k = 0; k < bytes; ++k) to[k] = static_cast<uint8_t>(set >> (8 * k));
  return bytes;
}
template <class T, size_t n>
SOUS_VECTOR MaskOf<T, n> LoadMaskBits(Simd<T, n>, const uint8_t* from) {
  size_t set = 0;
  for (size_t k = 0; k < (n + 7) / 8; ++k) set |= static_cast<size_t>(from[k]) << (8 * k);
  return ones<T, n>(set);
}
template <class T, size_t n>
SOUS_VECTOR Vector<T, n> IfThenElse(MaskOf<T, n> mask, Vector<T, n> yes, Vector<T, n> no) {
  if constexpr (sizeof(T) < 4) {
    for (size_t k = 0; k < n; ++k) yes.raw[k] = (mask.raw >> k & 1) != 0 ? yes.raw[k] : no.raw[k];
    return yes;
  } else {
    using N = NativeOf<T, n>;
    return {bits<typename Vector<T, n>::Raw>(
        N::select(native_mask(mask), bits<typename N::V>(yes.raw), bits<typename N::V>(no.raw)))};
  }
}
template <class T, size_t n>
SOUS_VECTOR Vector<T, n> IfThenElseZero(MaskOf<T, n> mask, Vector<T, n> yes) {
  return IfThenElse(mask, yes, Vector<T, n>{});
}

}  // namespace
}  // namespace sous::vectors
