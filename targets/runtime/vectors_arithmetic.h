// Vectors of our own (vectors.h): arithmetic, conversions, lanes in another order.
#pragma once

#include "targets/runtime/vectors_memory.h"

namespace sous::vectors {
namespace {  // targets/runtime/sous.h says why

// Integers wrap.
#define SOUS_OPERATOR(name, op)                                                                      \
  template <class T, size_t n>                                                                       \
  SOUS_VECTOR Vector<T, n> name(Vector<T, n> a, Vector<T, n> b) {                                    \
    if constexpr (is_float<T>) {                                                                     \
      return {a.raw op b.raw};                                                                       \
    } else {                                                                                         \
      return {bits<typename Vector<T, n>::Raw>(bits<Bits<T, n>>(a.raw) op bits<Bits<T, n>>(b.raw))}; \
    }                                                                                                \
  }
SOUS_OPERATOR(Add, +)
SOUS_OPERATOR(Sub, -)
SOUS_OPERATOR(Mul, *)
#undef SOUS_OPERATOR
template <class T, size_t n>
SOUS_VECTOR Vector<T, n> Div(Vector<T, n> a, Vector<T, n> b) {
  static_assert(is_float<T>);
  return {a.raw / b.raw};
}
#define SOUS_BITS(name, expression)                                      \
  template <class T, size_t n>                                           \
  SOUS_VECTOR Vector<T, n> name(Vector<T, n> v, Vector<T, n> w) {        \
    const auto a = bits<Bits<T, n>>(v.raw), b = bits<Bits<T, n>>(w.raw); \
    return {bits<typename Vector<T, n>::Raw>(expression)};               \
  }
SOUS_BITS(And, a& b)
SOUS_BITS(Or, a | b)
SOUS_BITS(Xor, a ^ b)
SOUS_BITS(AndNot, ~a& b)
#undef SOUS_BITS
template <class T, size_t n>
SOUS_VECTOR Vector<T, n> Not(Vector<T, n> v) {
  return {bits<typename Vector<T, n>::Raw>(~bits<Bits<T, n>>(v.raw))};
}
template <int k, class T, size_t n>
SOUS_VECTOR Vector<T, n> ShiftLeft(Vector<T, n> v) {
  return {bits<typename Vector<T, n>::Raw>(bits<Bits<T, n>>(v.raw) << static_cast<Unsigned<T>>(k))};
}
template <int k, class T, size_t n>
SOUS_VECTOR Vector<T, n> ShiftRight(Vector<T, n> v) {
  return {v.raw >> static_cast<T>(k)};
}
template <class T, size_t n>
SOUS_VECTOR Vector<T, n> sign_bit() {
  return Set(Simd<T, n>(), T(-0.0));
}
template <class T, size_t n>
SOUS_VECTOR Vector<T, n> Neg(Vector<T, n> v) {
  if constexpr (is_float<T>) return Xor(v, sign_bit<T, n>());
  return Sub(Vector<T, n>{}, v);
}
template <class T, size_t n>
SOUS_VECTOR Vector<T, n> Abs(Vector<T, n> v) {
  static_assert(is_float<T>);
  return AndNot(sign_bit<T, n>(), v);
}
template <class T, size_t n>
SOUS_VECTOR Vector<T, n> CopySign(Vector<T, n> size, Vector<T, n> sign) {
  return Or(AndNot(sign_bit<T, n>(), size), And(sign_bit<T, n>(), sign));
}
// The second where one is a NaN or both are zeros: as the instructions do.
template <class T, size_t n>
SOUS_VECTOR Vector<T, n> Min(Vector<T, n> a, Vector<T, n> b) {
  return {a.raw < b.raw ? a.raw : b.raw};
}
template <class T, size_t n>
SOUS_VECTOR Vector<T, n> Max(Vector<T, n> a, Vector<T, n> b) {
  return {a.raw > b.raw ? a.raw : b.raw};
}

template <class T, size_t n>
SOUS_VECTOR Vector<T, n> MulAdd(Vector<T, n> a, Vector<T, n> b, Vector<T, n> c) {
  using V = Vector<T, n>;
  constexpr bool f64 = sizeof(T) == 8;
  if constexpr (V::Tag::bytes == 64) {
#if SOUS_AVX512
    if constexpr (f64) return {__builtin_ia32_vfmaddpd512_mask(a.raw, b.raw, c.raw, static_cast<unsigned char>(-1), 4)};
    if constexpr (!f64) {
      return {__builtin_ia32_vfmaddps512_mask(a.raw, b.raw, c.raw, static_cast<unsigned short>(-1), 4)};
    }
#endif
  } else if constexpr (V::Tag::bytes == 32) {
    if constexpr (f64) return {__builtin_ia32_vfmaddpd256(a.raw, b.raw, c.raw)};
    if constexpr (!f64) return {__builtin_ia32_vfmaddps256(a.raw, b.raw, c.raw)};
  } else {
    if constexpr (f64) return {__builtin_ia32_vfmaddpd(a.raw, b.raw, c.raw)};
    if constexpr (!f64) return {__builtin_ia32_vfmaddps(a.raw, b.raw, c.raw)};
  }
}
// A minus of the compiler's own, which it takes into the instruction.
template <class V>
SOUS_VECTOR V MulSub(V a, V b, V c) {
  return MulAdd(a, b, V{-c.raw});
}
template <class V>
SOUS_VECTOR V NegMulAdd(V a, V b, V c) {
  return MulAdd(V{-a.raw}, b, c);
}
template <class V>
SOUS_VECTOR V NegMulSub(V a, V b, V c) {
  return MulAdd(V{-a.raw}, b, V{-c.raw});
}

template <class T, size_t n>
SOUS_VECTOR Vector<T, n> Sqrt(Vector<T, n> v) {
#ifdef __clang__
  return {__builtin_elementwise_sqrt(v.raw)};
#else
  using V = Vector<T, n>;
  constexpr bool f64 = sizeof(T) == 8;
  if constexpr (V::Tag::bytes == 64) {
#if SOUS_AVX512
    if constexpr (f64) return {__builtin_ia32_sqrtpd512_mask(v.raw, v.raw, static_cast<unsigned char>(-1), 4)};
    if constexpr (!f64) return {__builtin_ia32_sqrtps512_mask(v.raw, v.raw, static_cast<unsigned short>(-1), 4)};
#endif
  } else if constexpr (V::Tag::bytes == 32) {
    if constexpr (f64) return {__builtin_ia32_sqrtpd256(v.raw)};
    if constexpr (!f64) return {__builtin_ia32_sqrtps256(v.raw)};
  } else {
    if constexpr (f64) return {__builtin_ia32_sqrtpd(v.raw)};
    if constexpr (!f64) return {__builtin_ia32_sqrtps(v.raw)};
  }
#endif
}
// `how`: the instruction's number of the direction (4: as the rounding mode says), and 8: without an exception for
// being inexact.
template <int how, class T, size_t n>
SOUS_VECTOR Vector<T, n> rounded(Vector<T, n> v) {
  using V = Vector<T, n>;
  constexpr bool f64 = sizeof(T) == 8;
  if constexpr (V::Tag::bytes == 64) {
#if SOUS_AVX512
    if constexpr (f64) return {__builtin_ia32_rndscalepd_mask(v.raw, how, v.raw, static_cast<unsigned char>(-1), 4)};
    if constexpr (!f64) return {__builtin_ia32_rndscaleps_mask(v.raw, how, v.raw, static_cast<unsigned short>(-1), 4)};
#endif
  } else if constexpr (V::Tag::bytes == 32) {
    if constexpr (f64) return {__builtin_ia32_roundpd256(v.raw, how)};
    if constexpr (!f64) return {__builtin_ia32_roundps256(v.raw, how)};
  } else {
    if constexpr (f64) return {__builtin_ia32_roundpd(v.raw, how)};
    if constexpr (!f64) return {__builtin_ia32_roundps(v.raw, how)};
  }
}
template <class V>
SOUS_VECTOR V Round(V v) {
  return rounded<4>(v);
}
template <class V>
SOUS_VECTOR V Floor(V v) {
  return rounded<9>(v);
}
template <class V>
SOUS_VECTOR V Ceil(V v) {
  return rounded<10>(v);
}
template <class V>
SOUS_VECTOR V Trunc(V v) {
  return rounded<11>(v);
}

template <class T, size_t n, size_t... k>
SOUS_VECTOR Vector<T, n> reversed(Vector<T, n> v, Indices<k...>) {
  // Lanes behind the last are nobody's.
  return {__builtin_shufflevector(v.raw, v.raw, (k < n ? n - 1 - k : k)...)};
}
template <class T, size_t n>
SOUS_VECTOR Vector<T, n> Reverse(Simd<T, n> d, Vector<T, n> v) {
  return reversed(v, IndicesBelow<decltype(d)::bytes / sizeof(T)>());
}

// --- Conversions ----------------------------------------------------------------------------------------------------

template <class To, size_t n, class From>
SOUS_VECTOR Vector<To, n> converted_at_once(Simd<To, n>, Vector<From, n> v) {
  Vector<To, n> out{};
  typedef From Source __attribute__((vector_size(n * sizeof(From))));
  typedef To Target __attribute__((vector_size(n * sizeof(To))));
  Source source;  // without the lanes that a part of a register has beyond its own
  __builtin_memcpy(&source, &v.raw, sizeof source);
  const Target target = __builtin_convertvector(source, Target);
  __builtin_memcpy(&out.raw, &target, sizeof target);
  return out;
}
// gcc 12 converts integers lane by lane unless one is twice as wide as the other: what lies between.
template <class To, class From>
struct Between {
  static constexpr bool is_needed = false;
};
#ifndef __clang__
template <class Via>
struct Through {
  static constexpr bool is_needed = true;
  using Type = Via;
};
#define SOUS_BETWEEN(To, From, Via)                 \
  template <>                                       \
  struct Between<To, From> : Through<Via> {};       \
  template <>                                       \
  struct Between<u##To, From> : Through<Via> {};    \
  template <>                                       \
  struct Between<To, u##From> : Through<u##Via> {}; \
  template <>                                       \
  struct Between<u##To, u##From> : Through<u##Via> {};
SOUS_BETWEEN(int32_t, int8_t, int16_t)
SOUS_BETWEEN(int64_t, int8_t, int16_t)
SOUS_BETWEEN(int64_t, int16_t, int32_t)
SOUS_BETWEEN(int8_t, int32_t, int16_t)
SOUS_BETWEEN(int8_t, int64_t, int32_t)
SOUS_BETWEEN(int16_t, int64_t, int32_t)
#undef SOUS_BETWEEN
#endif
template <class To, size_t n, class From>
SOUS_VECTOR Vector<To, n> converted(Simd<To, n> d, Vector<From, n> v) {
  if constexpr (Between<To, From>::is_needed) {
    return converted(d, converted(Simd<typename Between<To, From>::Type, n>(), v));
  } else {
    return converted_at_once(d, v);
  }
}
template <class D, class V>
SOUS_VECTOR Vec<D> PromoteTo(D d, V v) {
  return converted(d, v);
}
template <class D, class V>
SOUS_VECTOR Vec<D> DemoteTo(D d, V v) {
  return converted(d, v);
}
template <class D, class V>
SOUS_VECTOR Vec<D> ConvertTo(D d, V v) {
  return converted(d, v);
}

}  // namespace
}  // namespace sous::vectors
