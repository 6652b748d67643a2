// Vectors of our own (vectors.h): their types, and those of masks.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "targets/runtime/sous.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define SOUS_AVX512 1
#else
#define SOUS_AVX512 0
#endif

#ifdef __clang__
#define SOUS_VECTOR inline __attribute__((always_inline, min_vector_width(SOUS_AVX512 ? 512 : 256)))
#else
#define SOUS_VECTOR inline __attribute__((always_inline))
#endif

namespace sous::vectors {
namespace {  // targets/runtime/sous.h says why

template <class T>
using Signed = Integer<sizeof(T), true>;
template <class T>
using Unsigned = Integer<sizeof(T), false>;
// What compilers' builtins call the elements of the same size.
template <class T>
using Element = Chosen<is_float<T>, T, Chosen<sizeof(T) == 8, long long, int>>;

constexpr size_t register_bytes = SOUS_AVX512 ? 64 : 32;

// A vector of n elements; less than the smallest register is a part of one.
template <class T, size_t n>
struct Simd {
  using Type = T;
  static constexpr size_t lanes = n;
  static constexpr size_t bytes = n * sizeof(T) < 16 ? 16 : n * sizeof(T);
  static constexpr size_t all = (size_t{1} << n) - 1;  // lanes as bits
};
template <class T, size_t n>
struct Vector {
  using Type = T;
  using Tag = Simd<T, n>;
  typedef T Raw __attribute__((vector_size(Tag::bytes)));
  Raw raw;
};
// Bits, or elements of ones or zeros: of elements of one or two bytes, which have no comparisons here, always bits.
template <class T>
constexpr bool mask_is_bits = SOUS_AVX512 || sizeof(T) < 4;
template <class T, size_t n, bool bits>
struct RawMask {
  typedef Signed<T> Type __attribute__((vector_size(Simd<T, n>::bytes)));
};
template <class T, size_t n>
struct RawMask<T, n, true> {
  using Type = Chosen<(n > 8), unsigned short, unsigned char>;
};
template <class T, size_t n>
struct MaskOf {
  using Raw = typename RawMask<T, n, mask_is_bits<T>>::Type;
  Raw raw;
};

template <class D>
using TFromD = typename D::Type;
template <class D>
using Vec = Vector<TFromD<D>, D::lanes>;
template <class D>
using Mask = MaskOf<TFromD<D>, D::lanes>;
template <class T>
using ScalableTag = Simd<T, register_bytes / sizeof(T)>;
template <class T, size_t most>
using CappedTag = Simd<T, (most * sizeof(T) < register_bytes ? most : register_bytes / sizeof(T))>;
template <class T, class D>
using Rebind = Simd<T, D::lanes>;
template <class D>
using RebindToSigned = Rebind<Signed<TFromD<D>>, D>;
template <class D>
using RebindToUnsigned = Rebind<Unsigned<TFromD<D>>, D>;
template <class D>
constexpr size_t MaxLanes(D) {
  return D::lanes;
}
template <class D>
constexpr size_t Lanes(D) {
  return D::lanes;
}

template <class To, class From>
SOUS_VECTOR To bits(From v) {
  return __builtin_bit_cast(To, v);
}
template <class T, size_t n>
using Bits = typename Vector<Unsigned<T>, n>::Raw;
template <class T, size_t n>
using RawElements __attribute__((vector_size(Simd<T, n>::bytes))) = Element<T>;

}  // namespace
}  // namespace sous::vectors
