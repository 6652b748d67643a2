// Vectors of our own (vectors.h): what has no operator, by the builtins of clang and gcc.
//
// Where a builtin stands, it is the one that the compiler's own header has for the intrinsic which Highway calls.
#pragma once

#include "targets/runtime/vectors_types.h"

namespace sous::vectors {
namespace {  // targets/runtime/sous.h says why

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

}  // namespace
}  // namespace sous::vectors
