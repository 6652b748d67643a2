// What vectors compute beyond the operations of Highway: targets/runtime/highway.h includes this.
#pragma once

#include "targets/runtime/highway_memory.h"

namespace sous {
namespace {  // targets/runtime/sous.h says why

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

// Where lanes that are not active hold what raises no exception in divisions and roots. (To clang, which takes nobody
// to look at exceptions, lanes that nobody reads may hold anything: of a constant mask it would leave that out.)
template <class D>
inline hn::Vec<D> active_or_one(D d, hn::Mask<D> mask, hn::Vec<D> v) {
  hn::Vec<D> safe = hn::IfThenElse(mask, v, hn::Set(d, hn::TFromD<D>(1)));
#if defined(__clang__) && defined(__x86_64__) && !SOUS_EMULATED_VECTORS && !defined(__FAST_MATH__)
  __asm__("" : "+x"(safe.raw));
#endif
  return safe;
}
// The same under a condition, which counts where compilers keep to -ftrapping-math: by default gcc does, clang does
// not.
template <class D>
inline hn::Vec<D> chosen_or_one(D d, hn::Mask<D> mask, hn::Vec<D> v) {
#if defined(__clang__) || defined(__FAST_MATH__)
  (void)d;
  (void)mask;
  return v;
#else
  return active_or_one(d, mask, v);
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
#undef SOUS_ROUNDING

// As the rounding mode says: what Highway has always takes the nearest.
template <class V>
inline V Round(V v) {
#if SOUS_OWN_VECTORS
  return hn::Round(v);
#else
  using D = hn::DFromV<V>;
#if defined(__SSE4_1__) && SOUS_ROUNDS_SIGNS
  constexpr int how = 4;  // as in vectors_arithmetic.h
  constexpr bool f64 = sizeof(hn::TFromD<D>) == 8;
  if constexpr (sizeof(v.raw) == 16 && f64) return V{_mm_round_pd(v.raw, how)};
  if constexpr (sizeof(v.raw) == 16 && !f64) return V{_mm_round_ps(v.raw, how)};
#if defined(__AVX__)
  if constexpr (sizeof(v.raw) == 32 && f64) return V{_mm256_round_pd(v.raw, how)};
  if constexpr (sizeof(v.raw) == 32 && !f64) return V{_mm256_round_ps(v.raw, how)};
#endif
#if defined(__AVX512F__)
  if constexpr (sizeof(v.raw) == 64 && f64) return V{_mm512_roundscale_pd(v.raw, how)};
  if constexpr (sizeof(v.raw) == 64 && !f64) return V{_mm512_roundscale_ps(v.raw, how)};
#endif
#endif
  Lanes<D> x(D(), v);
  for (size_t k = 0; k < hn::Lanes(D()); ++k) x[k] = sous::rint(x[k]);
  return x.vector(D());
#endif
}

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

#ifdef SOUS_HIGHWAY_MATH
// Where functions of hwy/contrib/math are right: they promise no more, and beyond it return numbers that have nothing
// to do with the result. There, and for what is no number, each lane calls the C library.
template <class D>
inline hn::Mask<D> at_most(D d, hn::Vec<D> v, double f32, double f64) {
  using T = hn::TFromD<D>;
  return hn::Le(v, hn::Set(d, static_cast<T>(sizeof(T) == 4 ? f32 : f64)));
}
template <class D>
inline hn::Mask<D> within(D d, hn::Vec<D> v, double f32, double f64) {
  return at_most(d, hn::Abs(v), f32, f64);
}
template <class D>
inline hn::Mask<D> is_normal(D d, hn::Vec<D> v) {
  using T = hn::TFromD<D>;
  const auto least = hn::Set(d, static_cast<T>(sizeof(T) == 4 ? __FLT_MIN__ : __DBL_MIN__));
  return hn::And(hn::Ge(v, least), at_most(d, v, __FLT_MAX__, __DBL_MAX__));
}
#define SOUS_VECTOR_FUNCTION(name, scalar, right)                               \
  template <class D>                                                            \
  inline hn::Vec<D> name(D d, hn::Vec<D> v) {                                   \
    if (hn::AllTrue(d, right)) return hn::name(d, v);                           \
    return map(d, [](hn::TFromD<D> x) { return sous::scalar(x); }, d, v);       \
  }                                                                             \
  template <class D>                                                            \
  inline hn::Vec<D> name(D d, hn::Mask<D> mask, hn::Vec<D> v) {                 \
    if (hn::AllTrue(d, hn::Or(right, hn::Not(mask)))) return hn::name(d, v);    \
    return map(d, mask, [](hn::TFromD<D> x) { return sous::scalar(x); }, d, v); \
  }
SOUS_VECTOR_FUNCTION(Exp, exp, at_most(d, v, 88, 706))
SOUS_VECTOR_FUNCTION(Expm1, expm1, at_most(d, v, 88, 706))
SOUS_VECTOR_FUNCTION(Log, log, is_normal(d, v))
SOUS_VECTOR_FUNCTION(Log2, log2, is_normal(d, v))
SOUS_VECTOR_FUNCTION(Log10, log10, is_normal(d, v))
SOUS_VECTOR_FUNCTION(Log1p, log1p, is_normal(d, hn::Add(v, hn::Set(d, hn::TFromD<D>(1)))))
SOUS_VECTOR_FUNCTION(Sin, sin, within(d, v, 39000, 39000))
SOUS_VECTOR_FUNCTION(Cos, cos, within(d, v, 39000, 39000))
SOUS_VECTOR_FUNCTION(Sinh, sinh, within(d, v, 88, 700))
SOUS_VECTOR_FUNCTION(Tanh, tanh, within(d, v, __FLT_MAX__, __DBL_MAX__))
SOUS_VECTOR_FUNCTION(Asin, asin, within(d, v, 1, 1))
SOUS_VECTOR_FUNCTION(Acos, acos, within(d, v, 1, 1))
SOUS_VECTOR_FUNCTION(Atan, atan, within(d, v, __FLT_MAX__, __DBL_MAX__))
#undef SOUS_VECTOR_FUNCTION
#endif

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
  if constexpr (!float_to && !float_from && sizeof(T) == sizeof(F)) {
    return hn::BitCast(to, v);
#if SOUS_OWN_VECTORS
  } else if constexpr (!float_to && !float_from) {
    return hn::ConvertTo(to, v);
  } else if constexpr (!float_to && sizeof(T) < 4) {
    const hn::Rebind<int32_t, DTo> di;
    return cast(to, di, cast(di, from, v));
#endif
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

}  // namespace
}  // namespace sous
