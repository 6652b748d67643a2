// Vectors of our own (vectors.h): values, loads and stores.
#pragma once

#include "targets/runtime/vectors_native.h"

namespace sous::vectors {
namespace {  // targets/runtime/sous.h says why

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

}  // namespace
}  // namespace sous::vectors
