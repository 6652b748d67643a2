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
namespace hn = hwy::HWY_NAMESPACE;

#endif

#include "targets/runtime/sous.h"

namespace sous {

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

template <class D>
inline hn::Mask<D> blend_mask(hn::Mask<D> mask, hn::Mask<D> yes, hn::Mask<D> no) {
  return hn::Or(hn::And(mask, yes), hn::AndNot(mask, no));
}

// --- Memory ---------------------------------------------------------------------------------------------------------

template <class D>
inline hn::Vec<D> load(D d, hn::Mask<D> mask, const hn::TFromD<D>* p) {
  if constexpr (masks_are_exact<D>) {
    return hn::MaskedLoad(mask, d, p);
  } else {
    const MaskLanes<D> active(d, mask);
    Lanes<D> lanes;
    for (size_t k = 0; k < hn::Lanes(d); ++k) {
      if (active[k]) lanes[k] = p[k];
    }
    return lanes.vector(d);
  }
}

template <class D>
inline void store(D d, hn::Mask<D> mask, hn::Vec<D> v, hn::TFromD<D>* p) {
  if constexpr (masks_are_exact<D>) {
    hn::BlendedStore(v, mask, d, p);
  } else {
    const MaskLanes<D> active(d, mask);
    Lanes<D> lanes(d, v);
    for (size_t k = 0; k < hn::Lanes(d); ++k) {
      if (active[k]) p[k] = lanes[k];
    }
  }
}

// Lane k is f(k).
template <class D, class F>
inline hn::Vec<D> gather(D d, F f) {
  Lanes<D> lanes;
  for (size_t k = 0; k < hn::Lanes(d); ++k) lanes[k] = static_cast<hn::TFromD<D>>(f(static_cast<int64_t>(k)));
  return lanes.vector(d);
}
template <class D, class F>
inline hn::Vec<D> gather(D d, hn::Mask<D> mask, F f) {
  const MaskLanes<D> active(d, mask);
  Lanes<D> lanes;
  for (size_t k = 0; k < hn::Lanes(d); ++k) {
    if (active[k]) lanes[k] = static_cast<hn::TFromD<D>>(f(static_cast<int64_t>(k)));
  }
  return lanes.vector(d);
}
// f(k, lane k), in order.
template <class D, class F>
inline void scatter(D d, hn::Vec<D> v, F f) {
  Lanes<D> lanes(d, v);
  for (size_t k = 0; k < hn::Lanes(d); ++k) f(static_cast<int64_t>(k), lanes[k]);
}
template <class D, class F>
inline void scatter(D d, hn::Mask<D> mask, hn::Vec<D> v, F f) {
  const MaskLanes<D> active(d, mask);
  Lanes<D> lanes(d, v);
  for (size_t k = 0; k < hn::Lanes(d); ++k) {
    if (active[k]) f(static_cast<int64_t>(k), lanes[k]);
  }
}

// Can stride * lane be an index in the element's own size, as gather instructions want it?
template <class D>
inline bool has_gather([[maybe_unused]] D d, int64_t stride) {
  constexpr size_t size = sizeof(hn::TFromD<D>);
  const int64_t limit = INT32_MAX / static_cast<int64_t>(hn::Lanes(d));
  return size == 8 || (size == 4 && stride <= limit && stride >= -limit);
}
template <class D>
inline auto stride_indices(D, int64_t stride) {
  const hn::RebindToSigned<D> di;
  using TI = hn::TFromD<decltype(di)>;
  return hn::Mul(hn::Iota(di, 0), hn::Set(di, static_cast<TI>(stride)));
}

// Lane k from p[k * stride].
template <class D>
inline hn::Vec<D> load_strided(D d, const hn::TFromD<D>* p, int64_t stride) {
  if constexpr (sizeof(hn::TFromD<D>) >= 4) {
    if (has_gather(d, stride)) return hn::GatherIndex(d, p, stride_indices(d, stride));
  }
  return gather(d, [=](int64_t lane) { return p[lane * stride]; });
}
template <class D>
inline hn::Vec<D> load_strided(D d, hn::Mask<D> mask, const hn::TFromD<D>* p, int64_t stride) {
  return gather(d, mask, [=](int64_t lane) { return p[lane * stride]; });
}
template <class D>
inline void store_strided(D d, hn::Vec<D> v, hn::TFromD<D>* p, int64_t stride) {
  if constexpr (sizeof(hn::TFromD<D>) >= 4) {
    if (has_gather(d, stride)) return hn::ScatterIndex(v, d, p, stride_indices(d, stride));
  }
  scatter(d, v, [=](int64_t lane, hn::TFromD<D> x) { p[lane * stride] = x; });
}
template <class D>
inline void store_strided(D d, hn::Mask<D> mask, hn::Vec<D> v, hn::TFromD<D>* p, int64_t stride) {
  scatter(d, mask, v, [=](int64_t lane, hn::TFromD<D> x) { p[lane * stride] = x; });
}

// Rows of as many elements as there are lanes, from p + k * stride: afterwards, vector j has element j of every row.
// log2(lanes) rounds of shuffles, each of which exchanges the off-diagonal quarters of squares twice as large (J. O.
// Eklundh, "A fast computer method for matrix transposing", 1972).
constexpr int quarter_lane(int lane, int distance, int lanes, int first) {
  return (lane & distance) == 0 ? lane + first : lane - distance + lanes + first;
}
template <int distance, class D, size_t... k>
inline void exchange_quarters(D, hn::Vec<D>& a, hn::Vec<D>& b, Indices<k...>) {
  constexpr int lanes = sizeof...(k);
#if SOUS_EMULATED_VECTORS
  for (int lane = 0; lane < lanes; ++lane) {
    if ((lane & distance) != 0) continue;
    const auto above = a.raw[lane + distance];
    a.raw[lane + distance] = b.raw[lane];
    b.raw[lane] = above;
  }
#else
  using Raw = decltype(a.raw);  // of integers it does not say how many there are
  using Lanes __attribute__((vector_size(sizeof(Raw)))) = hn::TFromD<D>;
  const auto above = __builtin_bit_cast(Lanes, a.raw), below = __builtin_bit_cast(Lanes, b.raw);
  a.raw = __builtin_bit_cast(Raw, __builtin_shufflevector(above, below, quarter_lane(k, distance, lanes, 0)...));
  b.raw = __builtin_bit_cast(Raw, __builtin_shufflevector(above, below, quarter_lane(k, distance, lanes, distance)...));
#endif
}
template <int distance, class D>
inline void transpose(D d, hn::Vec<D>* rows) {
  constexpr int lanes = static_cast<int>(hn::MaxLanes(D()));
  if constexpr (distance < lanes) {
#pragma GCC unroll 16
    for (int k = 0; k < lanes; ++k) {
      if ((k & distance) == 0) {
        exchange_quarters<distance>(d, rows[k], rows[k + distance], IndicesBelow<lanes>());
      }
    }
    transpose<2 * distance>(d, rows);
  }
}
template <class D>
inline void load_transposed(D d, const hn::TFromD<D>* p, int64_t stride, hn::Vec<D>* out) {
  constexpr int64_t lanes = static_cast<int64_t>(hn::MaxLanes(D()));
  constexpr bool whole = lanes * sizeof(hn::TFromD<D>) >= 16;  // not a part of the smallest register
#pragma GCC unroll 16
  for (int64_t k = 0; k < lanes; ++k) out[k] = whole ? hn::LoadU(d, p + k * stride) : load_strided(d, p + k, stride);
  if constexpr (whole) transpose<1>(d, out);
}

// Asks for what load_transposed will read, `p` being some iterations ahead.
template <class D>
inline void prefetch_rows(D, const hn::TFromD<D>* p, int64_t stride) {
  for (int64_t k = 0; k < static_cast<int64_t>(hn::MaxLanes(D())); ++k) __builtin_prefetch(p + k * stride);
}

// Lane k from p[-k]: the last lane has the lowest address. (Highway 1.0 reverses no short vectors of small elements.)
template <class D>
inline hn::Vec<D> load_reversed(D d, const hn::TFromD<D>* p) {
  if constexpr (sizeof(hn::TFromD<D>) >= 4) {
    return hn::Reverse(d, hn::LoadU(d, p - (hn::Lanes(d) - 1)));
  } else {
    return gather(d, [=](int64_t lane) { return p[-lane]; });
  }
}
template <class D>
inline void store_reversed(D d, hn::Vec<D> v, hn::TFromD<D>* p) {
  if constexpr (sizeof(hn::TFromD<D>) >= 4) {
    hn::StoreU(hn::Reverse(d, v), d, p - (hn::Lanes(d) - 1));
  } else {
    scatter(d, v, [=](int64_t lane, hn::TFromD<D> x) { p[-lane] = x; });
  }
}

// The value of the last lane, and of the last active one (there is one).
template <class D>
inline hn::TFromD<D> last_lane(D d, hn::Vec<D> v) {
  return Lanes<D>(d, v)[hn::Lanes(d) - 1];
}
template <class D>
inline hn::TFromD<D> last_lane(D d, hn::Mask<D> mask, hn::Vec<D> v) {
  hn::TFromD<D> last = 0;
  scatter(d, mask, v, [&](int64_t, hn::TFromD<D> x) { last = x; });
  return last;
}

// --- Arithmetic -----------------------------------------------------------------------------------------------------

// f lane by lane: what has no vector instruction, or none with the same result.
template <class D, class F, class DA>
inline hn::Vec<D> map(D d, F f, DA da, hn::Vec<DA> a) {
  Lanes<DA> x(da, a);
  return gather(d, [&](int64_t k) { return f(x[static_cast<size_t>(k)]); });
}
template <class D, class F, class DA, class DB>
inline hn::Vec<D> map(D d, F f, DA da, hn::Vec<DA> a, DB db, hn::Vec<DB> b) {
  Lanes<DA> x(da, a);
  Lanes<DB> y(db, b);
  return gather(d, [&](int64_t k) { return f(x[static_cast<size_t>(k)], y[static_cast<size_t>(k)]); });
}
template <class D, class F, class DA>
inline hn::Vec<D> map(D d, hn::Mask<D> mask, F f, DA da, hn::Vec<DA> a) {
  Lanes<DA> x(da, a);
  return gather(d, mask, [&](int64_t k) { return f(x[static_cast<size_t>(k)]); });
}
template <class D, class F, class DA, class DB>
inline hn::Vec<D> map(D d, hn::Mask<D> mask, F f, DA da, hn::Vec<DA> a, DB db, hn::Vec<DB> b) {
  Lanes<DA> x(da, a);
  Lanes<DB> y(db, b);
  return gather(d, mask, [&](int64_t k) { return f(x[static_cast<size_t>(k)], y[static_cast<size_t>(k)]); });
}

// One rounding, on every instruction set.
template <class D>
inline hn::Vec<D> fused(D d, hn::Vec<D> a, hn::Vec<D> b, hn::Vec<D> c) {
#ifdef __FMA__
  (void)d;
  return hn::MulAdd(a, b, c);
#else
  Lanes<D> x(d, a), y(d, b), z(d, c);
  return gather(d, [&](int64_t k) {
    return sous::fma(x[static_cast<size_t>(k)], y[static_cast<size_t>(k)], z[static_cast<size_t>(k)]);
  });
#endif
}

// Rounding to integers; the sign is always the argument's, a zero's too.
#if !SOUS_ROUNDS_SIGNS
#define SOUS_ROUNDING(name)              \
  template <class V>                     \
  inline V name(V v) {                   \
    return hn::CopySign(hn::name(v), v); \
  }
#else
#define SOUS_ROUNDING(name) \
  template <class V>        \
  inline V name(V v) {      \
    return hn::name(v);     \
  }
#endif
SOUS_ROUNDING(Floor)
SOUS_ROUNDING(Ceil)
SOUS_ROUNDING(Trunc)
SOUS_ROUNDING(Round)
#undef SOUS_ROUNDING

// Square roots that set errno as sqrt does (-fmath-errno).
template <class D>
inline hn::Vec<D> sqrt_errno(D d, hn::Vec<D> v) {
  if (!hn::AllFalse(d, hn::Lt(v, hn::Zero(d)))) errno = EDOM;
  return hn::Sqrt(v);
}
template <class D>
inline hn::Vec<D> sqrt_errno(D d, hn::Mask<D> mask, hn::Vec<D> v) {
  if (!hn::AllFalse(d, hn::And(mask, hn::Lt(v, hn::Zero(d))))) errno = EDOM;
  return hn::Sqrt(v);
}

template <class D>
inline hn::Vec<D> fmin(D, hn::Vec<D> a, hn::Vec<D> b) {
  return hn::IfThenElse(hn::IsNaN(a), b, hn::IfThenElse(hn::Lt(b, a), b, a));
}
template <class D>
inline hn::Vec<D> fmax(D, hn::Vec<D> a, hn::Vec<D> b) {
  return hn::IfThenElse(hn::IsNaN(a), b, hn::IfThenElse(hn::Gt(b, a), b, a));
}

// (T)v as C converts.
template <class DTo, class DFrom>
inline hn::Vec<DTo> cast(DTo to, DFrom from, hn::Vec<DFrom> v) {
  using T = hn::TFromD<DTo>;
  using F = hn::TFromD<DFrom>;
  constexpr bool float_to = is_float<T>, float_from = is_float<F>;
  constexpr bool signed_to = is_signed<T>, signed_from = is_signed<F>;
  static_assert(!SOUS_OWN_VECTORS || float_to || !float_from);
  if constexpr (!float_to && !float_from && sizeof(T) == sizeof(F)) {
    return hn::BitCast(to, v);
  } else if constexpr (!float_to && !float_from && sizeof(T) == 2 * sizeof(F)) {
    using Wide = hn::Rebind<Twice<F>, DTo>;
    return hn::BitCast(to, hn::PromoteTo(Wide(), v));
  } else if constexpr (!float_to && !float_from && sizeof(T) == 4 * sizeof(F)) {
    const hn::Rebind<Twice<F>, DTo> half;
    return cast(to, half, cast(half, from, v));
  } else if constexpr (float_to && float_from && sizeof(T) == 8) {
    return hn::PromoteTo(to, v);
#if !SOUS_EMULATED_VECTORS  // which clamp: infinities become finite
  } else if constexpr (float_to && float_from && sizeof(T) == 4) {
    return hn::DemoteTo(to, v);
#endif
  } else if constexpr (sizeof(T) == 8 && float_to && sizeof(F) == 4 && signed_from) {
    return hn::PromoteTo(to, v);
  } else if constexpr (sizeof(T) == 4 && float_to && sizeof(F) == 4 && signed_from) {
    return hn::ConvertTo(to, v);
  } else if constexpr (float_to && sizeof(F) < 4) {
    const hn::Rebind<int32_t, DTo> di;
    return cast(to, di, cast(di, from, v));
  } else if constexpr (sizeof(T) == 4 && !float_to && signed_to && float_from && sizeof(F) == 4) {
    return hn::ConvertTo(to, v);
  } else if constexpr (sizeof(T) == 4 && !float_to && signed_to && float_from && sizeof(F) == 8) {
    return hn::DemoteTo(to, v);
#if SOUS_LONG_CONVERSIONS
  } else if constexpr (sizeof(T) == 8 && sizeof(F) == 8 && float_to && signed_from) {
    return hn::ConvertTo(to, v);
  } else if constexpr (sizeof(T) == 8 && sizeof(F) == 8 && float_from && signed_to) {
    return hn::ConvertTo(to, v);
#endif
  } else {
    (void)signed_to;
    (void)signed_from;
    return map(to, [](F x) { return static_cast<T>(x); }, from, v);
  }
}

#if !SOUS_OWN_VECTORS
// The same from floats to integers: Highway knows how each instruction set does what is out of range.
template <class DTo, class DFrom>
inline hn::Vec<DTo> to_integer(DTo to, DFrom from, hn::Vec<DFrom> v) {
  return cast(to, from, v);
}
#endif

// Lane k is (T)(first + k * step).
template <class D>
inline hn::Vec<D> iota(D d, int64_t first, int64_t step) {
  using T = hn::TFromD<D>;
  if constexpr (!is_float<T> && sizeof(T) >= 2) {
    const hn::RebindToUnsigned<D> du;  // wraps
    using TU = hn::TFromD<decltype(du)>;
    const auto offsets = hn::Mul(hn::Iota(du, 0), hn::Set(du, static_cast<TU>(step)));
    return hn::BitCast(d, hn::Add(hn::Set(du, static_cast<TU>(first)), offsets));
  } else if constexpr (sizeof(T) == 8) {
    const hn::RebindToSigned<D> di;
    return cast(d, di, iota(di, first, step));
  } else {
    return gather(d, [=](int64_t lane) { return static_cast<T>(first + lane * step); });
  }
}

// Combines the lanes, always in the same order: halves with halves.
template <class D, class F>
inline hn::TFromD<D> reduce(D d, hn::Vec<D> v, F f) {
  Lanes<D> lanes(d, v);
  for (size_t half = hn::Lanes(d) / 2; half > 0; half /= 2) {
    for (size_t k = 0; k < half; ++k) lanes[k] = f(lanes[k], lanes[k + half]);
  }
  return lanes[0];
}

}  // namespace sous
