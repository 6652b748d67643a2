// What generated code for the highway target includes: Highway's interface with static dispatch (the instruction set is
// the one that the compiler is told, -march), and what Highway 1.0 does not have.
//
// Vectors of one loop all have as many lanes as the widest element type of its body fills a register with; narrower
// types use part of one. Nothing here touches memory that the lanes in question do not.
//
// Highway itself is read only where vectors.h does not have what is used: generated code that needs more says so
// (SOUS_HIGHWAY, SOUS_HIGHWAY_MATH), other instruction sets and compilers without the builtins get it too.
#pragma once

#include <stddef.h>
#include <stdint.h>

#if !defined(SOUS_HIGHWAY) && !defined(SOUS_HIGHWAY_MATH) && defined(__x86_64__) && defined(__GNUC__) && \
    defined(__AVX2__) && defined(__FMA__) && defined(__BMI2__) && defined(__F16C__) && defined(__has_builtin)
#if __has_builtin(__builtin_bit_cast) && __has_builtin(__builtin_shufflevector) &&                       \
    __has_builtin(__builtin_ia32_bzhi_di) && __has_builtin(__builtin_ia32_vfmaddpd256) &&                \
    __has_builtin(__builtin_ia32_maskloadpd256) && __has_builtin(__builtin_ia32_roundpd256) &&           \
    (!defined(__AVX512F__) ||                                                                            \
     (__has_builtin(__builtin_ia32_vfmaddpd512_mask) && __has_builtin(__builtin_ia32_loadupd512_mask) && \
      __has_builtin(__builtin_ia32_cmppd256_mask) && __has_builtin(__builtin_ia32_rndscalepd_mask)))
#define SOUS_OWN_VECTORS 1
#endif
#endif
#ifndef SOUS_OWN_VECTORS
#define SOUS_OWN_VECTORS 0
#endif

#if SOUS_OWN_VECTORS

#include "targets/runtime/vectors.h"

#define SOUS_EXACT_MASK_BYTES 4
#define SOUS_EMULATED_VECTORS 0
#define SOUS_ROUNDS_SIGNS 1
#define SOUS_LONG_CONVERSIONS SOUS_AVX512
namespace hn = sous::vectors;

#else

#define HWY_COMPILE_ONLY_STATIC
// Without it Highway takes x86-64-v2 and v3, which do not promise AES, for SSE2.
#ifndef HWY_DISABLE_PCLMUL_AES
#define HWY_DISABLE_PCLMUL_AES
#endif
#ifdef SOUS_HIGHWAY_MATH
// It is made of differences that are 0 to algebra: (k + 2^52) - 2^52, (1 + x) - 1.
#ifdef __FAST_MATH__
#error "this file is to be compiled with -fno-associative-math behind all other options"
#endif
#include <hwy/contrib/math/math-inl.h>
#endif
#include <hwy/highway.h>

// Does MaskedLoad read, and BlendedStore write, only the active lanes, of elements of so many bytes? Elsewhere Highway
// blends whole vectors.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
#define SOUS_EXACT_MASK_BYTES 1
#elif HWY_TARGET == HWY_AVX2
#define SOUS_EXACT_MASK_BYTES 4
#else
#define SOUS_EXACT_MASK_BYTES 16  // never
#endif
// Vectors are arrays: x86-64 without -march.
#define SOUS_EMULATED_VECTORS (HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR)
// Before SSE4.1 Highway composes rounding, and loses the sign of a zero.
#define SOUS_ROUNDS_SIGNS \
  (HWY_TARGET != HWY_SSE2 && HWY_TARGET != HWY_SSSE3 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR)
#define SOUS_LONG_CONVERSIONS (HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL)
#if defined(__FMA__) && HWY_TARGET > HWY_AVX2
#define SOUS_SPLIT_FMA 1
#endif

#endif

#include "targets/runtime/sous.h"

#ifdef SOUS_SPLIT_FMA
// The program's compiler fuses a product and a sum, and Highway does not, as it wants more of the processor for that
// than options gave (-mavx2 -mfma without -mbmi2): lane by lane, then.
namespace sous::one_rounding {
namespace {                          // targets/runtime/sous.h says why
using namespace hwy::HWY_NAMESPACE;  // NOLINT: all of it, but for these
template <class V>
inline V fused(V a, V b, V c, bool minus_product, bool minus_rest) {
  const DFromV<V> d;
  TFromV<V> x[MaxLanes(d)], y[MaxLanes(d)], z[MaxLanes(d)];
  StoreU(a, d, x), StoreU(b, d, y), StoreU(c, d, z);
  for (size_t k = 0; k < Lanes(d); ++k) z[k] = sous::fma(minus_product ? -x[k] : x[k], y[k], minus_rest ? -z[k] : z[k]);
  return LoadU(d, z);
}
#define SOUS_FUSED(name, minus_product, minus_rest)   \
  template <class V>                                  \
  inline V name(V a, V b, V c) {                      \
    return fused(a, b, c, minus_product, minus_rest); \
  }
SOUS_FUSED(MulAdd, false, false)
SOUS_FUSED(NegMulAdd, true, false)
SOUS_FUSED(MulSub, false, true)
SOUS_FUSED(NegMulSub, true, true)
#undef SOUS_FUSED
}  // namespace
}  // namespace sous::one_rounding
namespace hn = sous::one_rounding;
#elif !SOUS_OWN_VECTORS
namespace hn = hwy::HWY_NAMESPACE;
#endif

namespace sous {
namespace {  // targets/runtime/sous.h says why

// Of a vector smaller than 16 bytes the mask may have stray bits behind its lanes.
template <class D>
constexpr bool masks_are_exact =
    sizeof(hn::TFromD<D>) >= SOUS_EXACT_MASK_BYTES && sizeof(hn::TFromD<D>) * hn::MaxLanes(D()) >= 16;

// The lanes of a mask, one by one.
template <class D>
class MaskLanes {
 public:
  MaskLanes(D d, hn::Mask<D> mask) { hn::StoreMaskBits(d, mask, bits_); }
  bool operator[](size_t lane) const { return (bits_[lane / 8] >> (lane % 8) & 1) != 0; }
  void set(size_t lane, bool active) {
    const int bit = 1 << (lane % 8);
    bits_[lane / 8] = static_cast<uint8_t>(active ? bits_[lane / 8] | bit : bits_[lane / 8] & ~bit);
  }
  hn::Mask<D> mask(D d) const { return hn::LoadMaskBits(d, bits_); }

 private:
  uint8_t bits_[hn::MaxLanes(D()) / 8 + 8] = {};
};

// The lanes of a vector, one by one.
template <class D>
class Lanes {
 public:
  using T = hn::TFromD<D>;
  Lanes() = default;
  Lanes(D d, hn::Vec<D> v) { hn::Store(v, d, lanes_); }
  T& operator[](size_t lane) { return lanes_[lane]; }
  hn::Vec<D> vector(D d) const { return hn::Load(d, lanes_); }

 private:
  alignas(64) T lanes_[hn::MaxLanes(D())] = {};
};

// Ahead of a loop over lanes that is long and seldom runs: copies of it for each lane would be made for nothing (and
// clang makes short vectors of what these have in common, which are slower).
#if defined(__clang__)
#define SOUS_AS_ONE_LOOP _Pragma("clang loop unroll(disable) vectorize(disable)")
#else
#define SOUS_AS_ONE_LOOP _Pragma("GCC unroll 1")
#endif

// --- Masks ----------------------------------------------------------------------------------------------------------

template <class D>
inline hn::Mask<D> mask_of(D d, bool all) {
  return hn::FirstN(d, all ? hn::Lanes(d) : 0);
}

// The mask of the same lanes for elements of another size.
template <class DTo, class DFrom>
inline hn::Mask<DTo> mask_cast(DTo to, DFrom from, hn::Mask<DFrom> mask) {
  if constexpr (sizeof(hn::TFromD<DTo>) == sizeof(hn::TFromD<DFrom>)) {
    return hn::RebindMask(to, mask);
  } else {
    uint8_t bits[hn::MaxLanes(DFrom()) / 8 + 8] = {};
    hn::StoreMaskBits(from, mask, bits);
    return hn::LoadMaskBits(to, bits);
  }
}

// Whether lanes that go round together do so once more: not when none is active, nor, after some rounds, when so few
// are that one after the other takes no longer than a vector. (The last ones often end soon.) Of two lanes neither
// waits for the other. And what a lane computes when it has ended may overflow, or be no number: to gcc, but not to
// clang, that is an exception which a program may trap or look at (-ftrapping-math is its default).
constexpr int rounds_of_few = 8;
template <class D>
inline bool go_round(D d, hn::Mask<D> mask, int& left) {
#if defined(__clang__) || defined(__FAST_MATH__)
  constexpr bool computes_on = true;
#else
  constexpr bool computes_on = false;
#endif
  if (!computes_on || hn::MaxLanes(d) < 4) return false;
  const size_t active = hn::CountTrue(d, mask), few = hn::Lanes(d) < 8 ? 1 : hn::Lanes(d) / 4;
  return active > few || (active > 0 && --left >= 0);
}

template <class D>
inline hn::Mask<D> blend_mask(hn::Mask<D> mask, hn::Mask<D> yes, hn::Mask<D> no) {
  return hn::Or(hn::And(mask, yes), hn::AndNot(mask, no));
}

}  // namespace
}  // namespace sous

#include "targets/runtime/highway_arithmetic.h"
#include "targets/runtime/highway_memory.h"
