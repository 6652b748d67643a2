// The part of Highway's interface that generated code uses most, for x86-64 with AVX2 or AVX-512 and elements of four
// or eight bytes: the same names, the same results and, in what runs often, the same instructions, but on the vectors
// of gcc and clang themselves. Highway and the compilers' headers of intrinsics are 100,000 lines; reading them takes
// two seconds of each compile, reading this a few hundredths. What is not here (narrow elements, functions such as exp,
// older instruction sets) is Highway's: targets/runtime/highway.h chooses.
//
// Where a builtin stands, it is the one that the compiler's own header has for the intrinsic which Highway calls.
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

// --- Types ----------------------------------------------------------------------------------------------------------

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
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
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
template <class T, size_t n>
struct MaskOf {
#if SOUS_AVX512
  using Raw = Chosen<(n > 8), unsigned short, unsigned char>;
#else
  typedef Signed<T> Raw __attribute__((vector_size(Simd<T, n>::bytes)));
#endif
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

// --- What has no operator -------------------------------------------------------------------------------------------

// By type of element and size: loads and stores of some lanes, comparisons to bits, choices by bits, gathers.
template <class T, size_t bytes>
struct Native;

// V: the vector; X: of integers of that size, as builtins call them.
#define SOUS_NATIVE_HEAD(T, bytes)                 \
  typedef T V __attribute__((vector_size(bytes))); \
  typedef Element<Signed<T>> X __attribute__((vector_size(bytes)));

// Builtins take pointers to elements or to vectors, as compilers and versions please.
struct Place {
  template <class T>
  SOUS_VECTOR operator T*() const {
    return reinterpret_cast<T*>(address);
  }
  uintptr_t address;
};
template <class T>
SOUS_VECTOR Place at(T* p) {
  return {reinterpret_cast<uintptr_t>(p)};
}

// The same under two names.
#ifdef __clang__
#define SOUS_SELECT(clang_name, gcc_name, mask, yes, no) __builtin_ia32_##clang_name(mask, yes, no)
#define SOUS_GATHER(clang_name, gcc_name) __builtin_ia32_##clang_name
#else
#define SOUS_SELECT(clang_name, gcc_name, mask, yes, no) __builtin_ia32_##gcc_name(yes, no, mask)
#define SOUS_GATHER(clang_name, gcc_name) __builtin_ia32_##gcc_name
#endif

// Vectors of 16 and 32 bytes are gathered under the mask of AVX2, a vector, in AVX-512 too.
#define SOUS_GATHER_AVX2(T, clang_name, gcc_name)                                                        \
  static SOUS_VECTOR V gather(const T* p, X index) {                                                     \
    return SOUS_GATHER(clang_name, gcc_name)(V{}, p, index, bits<V>(~X{}), static_cast<int>(sizeof(T))); \
  }
#define SOUS_GATHER_AVX512(T, name)                                                               \
  static SOUS_VECTOR V gather(const T* p, X index) {                                              \
    return __builtin_ia32_##name(V{}, p, index, static_cast<M>(-1), static_cast<int>(sizeof(T))); \
  }

#if SOUS_AVX512

#define SOUS_NATIVE(T, bytes, load_, store_, clang_select, gcc_select, scatter_)                                    \
  SOUS_NATIVE_HEAD(T, bytes)                                                                                        \
  using M = typename MaskOf<T, bytes / sizeof(T)>::Raw;                                                             \
  static SOUS_VECTOR V load(const T* p, M mask) { return __builtin_ia32_##load_##_mask(at(p), V{}, mask); }         \
  static SOUS_VECTOR void store(T* p, V v, M mask) { __builtin_ia32_##store_##_mask(at(p), v, mask); }              \
  static SOUS_VECTOR V select(M mask, V yes, V no) { return SOUS_SELECT(clang_select, gcc_select, mask, yes, no); } \
  static SOUS_VECTOR void scatter(T* p, X index, V v) {                                                             \
    __builtin_ia32_##scatter_(p, static_cast<M>(-1), index, v, static_cast<int>(sizeof(T)));                        \
  }
#define SOUS_COMPARE(T, compare_, ...)                                                                                 \
  template <int how>                                                                                                   \
  static SOUS_VECTOR M compare(V a, V b) {                                                                             \
    return static_cast<M>(__builtin_ia32_##compare_##_mask(a, b, how, static_cast<M>(-1) __VA_OPT__(, ) __VA_ARGS__)); \
  }
#define SOUS_COMPARE_UNSIGNED(compare_)                                                     \
  template <int how>                                                                        \
  static SOUS_VECTOR M compare_unsigned(V a, V b) {                                         \
    return static_cast<M>(__builtin_ia32_##compare_##_mask(a, b, how, static_cast<M>(-1))); \
  }

template <>
struct Native<double, 64> {
  SOUS_NATIVE(double, 64, loadupd512, storeupd512, selectpd_512, movapd512_mask, scatterdiv8df)
  SOUS_COMPARE(double, cmppd512, 4)
  SOUS_GATHER_AVX512(double, gatherdiv8df)
};
template <>
struct Native<float, 64> {
  SOUS_NATIVE(float, 64, loadups512, storeups512, selectps_512, movaps512_mask, scattersiv16sf)
  SOUS_COMPARE(float, cmpps512, 4)
  SOUS_GATHER_AVX512(float, gathersiv16sf)
};
template <>
struct Native<long long, 64> {
  SOUS_NATIVE(long long, 64, loaddqudi512, storedqudi512, selectq_512, movdqa64_512_mask, scatterdiv8di)
  SOUS_COMPARE(long long, cmpq512)
  SOUS_COMPARE_UNSIGNED(ucmpq512)
  SOUS_GATHER_AVX512(long long, gatherdiv8di)
};
template <>
struct Native<int, 64> {
  SOUS_NATIVE(int, 64, loaddqusi512, storedqusi512, selectd_512, movdqa32_512_mask, scattersiv16si)
  SOUS_COMPARE(int, cmpd512)
  SOUS_COMPARE_UNSIGNED(ucmpd512)
  SOUS_GATHER_AVX512(int, gathersiv16si)
};
template <>
struct Native<double, 32> {
  SOUS_NATIVE(double, 32, loadupd256, storeupd256, selectpd_256, movapd256_mask, scatterdiv4df)
  SOUS_COMPARE(double, cmppd256)
  SOUS_GATHER_AVX2(double, gatherq_pd256, gatherdiv4df)
};
template <>
struct Native<float, 32> {
  SOUS_NATIVE(float, 32, loadups256, storeups256, selectps_256, movaps256_mask, scattersiv8sf)
  SOUS_COMPARE(float, cmpps256)
  SOUS_GATHER_AVX2(float, gatherd_ps256, gathersiv8sf)
};
template <>
struct Native<long long, 32> {
  SOUS_NATIVE(long long, 32, loaddqudi256, storedqudi256, selectq_256, movdqa64_256_mask, scatterdiv4di)
  SOUS_COMPARE(long long, cmpq256)
  SOUS_COMPARE_UNSIGNED(ucmpq256)
  SOUS_GATHER_AVX2(long long, gatherq_q256, gatherdiv4di)
};
template <>
struct Native<int, 32> {
  SOUS_NATIVE(int, 32, loaddqusi256, storedqusi256, selectd_256, movdqa32_256_mask, scattersiv8si)
  SOUS_COMPARE(int, cmpd256)
  SOUS_COMPARE_UNSIGNED(ucmpd256)
  SOUS_GATHER_AVX2(int, gatherd_d256, gathersiv8si)
};
template <>
struct Native<double, 16> {
  SOUS_NATIVE(double, 16, loadupd128, storeupd128, selectpd_128, movapd128_mask, scatterdiv2df)
  SOUS_COMPARE(double, cmppd128)
  SOUS_GATHER_AVX2(double, gatherq_pd, gatherdiv2df)
};
template <>
struct Native<float, 16> {
  SOUS_NATIVE(float, 16, loadups128, storeups128, selectps_128, movaps128_mask, scattersiv4sf)
  SOUS_COMPARE(float, cmpps128)
  SOUS_GATHER_AVX2(float, gatherd_ps, gathersiv4sf)
};
template <>
struct Native<long long, 16> {
  SOUS_NATIVE(long long, 16, loaddqudi128, storedqudi128, selectq_128, movdqa64_128_mask, scatterdiv2di)
  SOUS_COMPARE(long long, cmpq128)
  SOUS_COMPARE_UNSIGNED(ucmpq128)
  SOUS_GATHER_AVX2(long long, gatherq_q, gatherdiv2di)
};
template <>
struct Native<int, 16> {
  SOUS_NATIVE(int, 16, loaddqusi128, storedqusi128, selectd_128, movdqa32_128_mask, scattersiv4si)
  SOUS_COMPARE(int, cmpd128)
  SOUS_COMPARE_UNSIGNED(ucmpd128)
  SOUS_GATHER_AVX2(int, gatherd_d, gathersiv4si)
};

#else  // AVX2: a mask is a vector of integers, ones or zeros

// What a blend or movemask takes: bytes, or elements of floating point.
template <size_t bytes, bool by_byte, size_t element>
using Blended __attribute__((vector_size(bytes))) = Chosen<by_byte, char, Chosen<element == 8, double, float>>;

#define SOUS_NATIVE(T, bytes, load_, store_, blend_, movemask_, clang_gather, gcc_gather)                   \
  SOUS_NATIVE_HEAD(T, bytes)                                                                                \
  static SOUS_VECTOR V load(const T* p, X mask) { return bits<V>(__builtin_ia32_##load_(at(p), mask)); }    \
  static SOUS_VECTOR void store(T* p, V v, X mask) { __builtin_ia32_##store_(at(p), mask, v); }             \
  static SOUS_VECTOR V select(X mask, V yes, V no) {                                                        \
    using B = Blended<bytes, #blend_[0] == 'p', sizeof(T)>;                                                 \
    return bits<V>(__builtin_ia32_##blend_(bits<B>(no), bits<B>(yes), bits<B>(mask)));                      \
  }                                                                                                         \
  static SOUS_VECTOR unsigned ones(X mask) {                                                                \
    return static_cast<unsigned>(__builtin_ia32_##movemask_(bits<Blended<bytes, false, sizeof(T)>>(mask))); \
  }                                                                                                         \
  SOUS_GATHER_AVX2(T, clang_gather, gcc_gather)

template <>
struct Native<double, 32> {
  SOUS_NATIVE(double, 32, maskloadpd256, maskstorepd256, blendvpd256, movmskpd256, gatherq_pd256, gatherdiv4df)
};
template <>
struct Native<float, 32> {
  SOUS_NATIVE(float, 32, maskloadps256, maskstoreps256, blendvps256, movmskps256, gatherd_ps256, gathersiv8sf)
};
template <>
struct Native<long long, 32> {
  SOUS_NATIVE(long long, 32, maskloadq256, maskstoreq256, pblendvb256, movmskpd256, gatherq_q256, gatherdiv4di)
};
template <>
struct Native<int, 32> {
  SOUS_NATIVE(int, 32, maskloadd256, maskstored256, pblendvb256, movmskps256, gatherd_d256, gathersiv8si)
};
template <>
struct Native<double, 16> {
  SOUS_NATIVE(double, 16, maskloadpd, maskstorepd, blendvpd, movmskpd, gatherq_pd, gatherdiv2df)
};
template <>
struct Native<float, 16> {
  SOUS_NATIVE(float, 16, maskloadps, maskstoreps, blendvps, movmskps, gatherd_ps, gathersiv4sf)
};
template <>
struct Native<long long, 16> {
  SOUS_NATIVE(long long, 16, maskloadq, maskstoreq, pblendvb128, movmskpd, gatherq_q, gatherdiv2di)
};
template <>
struct Native<int, 16> {
  SOUS_NATIVE(int, 16, maskloadd, maskstored, pblendvb128, movmskps, gatherd_d, gathersiv4si)
};

#endif

template <class T, size_t n>
using NativeOf = Native<Element<T>, Simd<T, n>::bytes>;
template <class T, size_t n>
using NativeRaw = typename NativeOf<T, n>::V;
template <class T, size_t n>
SOUS_VECTOR auto native_mask(MaskOf<T, n> mask) {
#if SOUS_AVX512
  return mask.raw;
#else
  return bits<typename NativeOf<T, n>::X>(mask.raw);
#endif
}

#undef SOUS_NATIVE_HEAD
#undef SOUS_NATIVE
#undef SOUS_COMPARE
#undef SOUS_COMPARE_UNSIGNED
#undef SOUS_GATHER_AVX2
#undef SOUS_GATHER_AVX512
#undef SOUS_GATHER
#undef SOUS_SELECT

// --- Values ---------------------------------------------------------------------------------------------------------

template <class T, size_t n>
SOUS_VECTOR Vector<T, n> Zero(Simd<T, n>) {
  return {typename Vector<T, n>::Raw{}};
}
template <class T, size_t n, size_t... k>
SOUS_VECTOR Vector<T, n> set(T t, Indices<k...>) {
  return {typename Vector<T, n>::Raw{(static_cast<void>(k), t)...}};
}
template <class T, size_t n>
SOUS_VECTOR Vector<T, n> Set(Simd<T, n> d, typename Either<true, T, T>::type t) {
  return set<T, n>(t, IndicesBelow<decltype(d)::bytes / sizeof(T)>());
}
template <class T, size_t n, size_t... k>
SOUS_VECTOR Vector<T, n> iota(Indices<k...>) {
  return {typename Vector<T, n>::Raw{static_cast<T>(k)...}};
}
template <class T, size_t n>
SOUS_VECTOR Vector<T, n> Iota(Simd<T, n> d, int first) {
  return Add(iota<T, n>(IndicesBelow<decltype(d)::bytes / sizeof(T)>()), Set(d, static_cast<T>(first)));
}
template <class T, size_t n, class V>
SOUS_VECTOR Vector<T, n> BitCast(Simd<T, n>, V v) {
  return {bits<typename Vector<T, n>::Raw>(v.raw)};
}

// --- Memory ---------------------------------------------------------------------------------------------------------

// In memory: anywhere, of whatever type (gcc copies by __builtin_memcpy as integers, and folds no such load).
template <class T, size_t n>
struct __attribute__((packed, may_alias)) InMemory {
  typename Vector<T, n>::Raw raw;
};

template <class T, size_t n>
SOUS_VECTOR Vector<T, n> LoadU(Simd<T, n>, const T* p) {
  Vector<T, n> v{};
  if constexpr (n * sizeof(T) >= 16) {
    v.raw = reinterpret_cast<const InMemory<T, n>*>(p)->raw;
  } else {
    __builtin_memcpy(&v.raw, p, n * sizeof(T));
  }
  return v;
}
template <class T, size_t n>
SOUS_VECTOR Vector<T, n> Load(Simd<T, n> d, const T* p) {
  return LoadU(d, static_cast<const T*>(__builtin_assume_aligned(p, n * sizeof(T))));
}
template <class T, size_t n>
SOUS_VECTOR void StoreU(Vector<T, n> v, Simd<T, n>, T* p) {
  if constexpr (n * sizeof(T) >= 16) {
    reinterpret_cast<InMemory<T, n>*>(p)->raw = v.raw;
  } else {
    __builtin_memcpy(p, &v.raw, n * sizeof(T));
  }
}
template <class T, size_t n>
SOUS_VECTOR void Store(Vector<T, n> v, Simd<T, n> d, T* p) {
  StoreU(v, d, static_cast<T*>(__builtin_assume_aligned(p, n * sizeof(T))));
}
// Of whole registers only (masks_are_exact): touches the active lanes alone.
template <class T, size_t n>
SOUS_VECTOR Vector<T, n> MaskedLoad(MaskOf<T, n> mask, Simd<T, n>, const T* p) {
  return {bits<typename Vector<T, n>::Raw>(
      NativeOf<T, n>::load(reinterpret_cast<const Element<T>*>(p), native_mask(mask)))};
}
template <class T, size_t n>
SOUS_VECTOR void BlendedStore(Vector<T, n> v, MaskOf<T, n> mask, Simd<T, n>, T* p) {
  NativeOf<T, n>::store(reinterpret_cast<Element<T>*>(p), bits<NativeRaw<T, n>>(v.raw), native_mask(mask));
}
template <class T, size_t n>
SOUS_VECTOR Vector<T, n> GatherIndex(Simd<T, n>, const T* p, Vector<Signed<T>, n> index) {
  Vector<T, n> v{};
  if constexpr (n * sizeof(T) >= 16) {
    using N = NativeOf<T, n>;
    v.raw = bits<typename Vector<T, n>::Raw>(
        N::gather(reinterpret_cast<const Element<T>*>(p), bits<typename N::X>(index.raw)));
  } else {
    for (size_t k = 0; k < n; ++k) v.raw[k] = p[index.raw[k]];
  }
  return v;
}
template <class T, size_t n>
SOUS_VECTOR void ScatterIndex(Vector<T, n> v, Simd<T, n>, T* p, Vector<Signed<T>, n> index) {
#if SOUS_AVX512
  if constexpr (n * sizeof(T) >= 16) {
    using N = NativeOf<T, n>;
    return N::scatter(reinterpret_cast<Element<T>*>(p), bits<typename N::X>(index.raw), bits<NativeRaw<T, n>>(v.raw));
  }
#endif
  for (size_t k = 0; k < n; ++k) p[index.raw[k]] = v.raw[k];
}

// --- Arithmetic -----------------------------------------------------------------------------------------------------

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
// `how`: the instruction's number of the direction, and 8: without an exception for being inexact.
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
  return rounded<8>(v);
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
SOUS_VECTOR Vector<To, n> converted(Simd<To, n>, Vector<From, n> v) {
  Vector<To, n> out{};
  typedef From Source __attribute__((vector_size(n * sizeof(From))));
  typedef To Target __attribute__((vector_size(n * sizeof(To))));
  Source source;  // without the lanes that a part of a register has beyond its own
  __builtin_memcpy(&source, &v.raw, sizeof source);
  const Target target = __builtin_convertvector(source, Target);
  __builtin_memcpy(&out.raw, &target, sizeof target);
  return out;
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

// --- Masks ----------------------------------------------------------------------------------------------------------

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
  const Raw each = {static_cast<Signed<T>>(size_t{1} << k)...};
  return {
      bits<typename MaskOf<T, n>::Raw>((Set(Simd<Signed<T>, n>(), static_cast<Signed<T>>(lanes)).raw & each) == each)};
}
template <class T, size_t n>
SOUS_VECTOR MaskOf<T, n> ones(size_t lanes) {
  return ones<T, n>(lanes, IndicesBelow<Simd<T, n>::bytes / sizeof(T)>());
}
template <class T, size_t n>
SOUS_VECTOR size_t lane_bits(MaskOf<T, n> mask) {
  return NativeOf<T, n>::ones(native_mask(mask)) & Simd<T, n>::all;
}
template <class T, size_t n>
SOUS_VECTOR MaskOf<T, n> FirstN(Simd<T, n>, size_t count) {
  const Simd<Signed<T>, n> d;
  return {bits<typename MaskOf<T, n>::Raw>(Lt(Iota(d, 0), Set(d, static_cast<Signed<T>>(count))).raw)};
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
  using N = NativeOf<T, n>;
  return {bits<typename Vector<T, n>::Raw>(
      N::select(native_mask(mask), bits<typename N::V>(yes.raw), bits<typename N::V>(no.raw)))};
}
template <class T, size_t n>
SOUS_VECTOR Vector<T, n> IfThenElseZero(MaskOf<T, n> mask, Vector<T, n> yes) {
  return IfThenElse(mask, yes, Vector<T, n>{});
}

}  // namespace sous::vectors
