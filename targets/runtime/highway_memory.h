// Loads and stores of vectors, as targets/runtime/highway.h has them: it includes this.
#pragma once

namespace sous {
namespace {  // targets/runtime/sous.h says why

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

// The other way: the rows are stored. `rows` is lost.
template <class D>
inline void store_transposed(D d, hn::Vec<D>* rows, hn::TFromD<D>* p, int64_t stride) {
  constexpr int64_t lanes = static_cast<int64_t>(hn::MaxLanes(D()));
  constexpr bool whole = lanes * sizeof(hn::TFromD<D>) >= 16;
  if constexpr (whole) transpose<1>(d, rows);
#pragma GCC unroll 16
  for (int64_t k = 0; k < lanes; ++k) {
    if constexpr (whole) {
      hn::StoreU(rows[k], d, p + k * stride);
    } else {
      store_strided(d, rows[k], p + k, stride);
    }
  }
}

// Lane k is lane k - 1 of `v`, the first one that of `first`.
template <class D, size_t... k>
inline hn::Vec<D> one_lane_on(D, hn::Vec<D> v, hn::Vec<D> first, Indices<k...>) {
  using Raw = decltype(v.raw);
  using Lanes __attribute__((vector_size(sizeof(Raw)))) = hn::TFromD<D>;
  const auto before = __builtin_bit_cast(Lanes, v.raw), ahead = __builtin_bit_cast(Lanes, first.raw);
  v.raw = __builtin_bit_cast(Raw, __builtin_shufflevector(before, ahead, (k == 0 ? sizeof...(k) : k - 1)...));
  return v;
}
template <class D>
inline hn::Vec<D> one_lane_on(D d, hn::Vec<D> v, hn::Vec<D> first) {
  constexpr size_t lanes = hn::MaxLanes(D());
#if !SOUS_EMULATED_VECTORS
  if constexpr (lanes * sizeof(hn::TFromD<D>) >= 16) return one_lane_on(d, v, first, IndicesBelow<lanes>());
#endif
  Lanes<D> before(d, v), result(d, first);
  for (size_t k = 1; k < lanes; ++k) result[k] = before[k - 1];
  return result.vector(d);
}

// Asks for what load_transposed will read, `p` being some iterations ahead.
template <class D>
inline void prefetch_rows(D, const hn::TFromD<D>* p, int64_t stride) {
  for (int64_t k = 0; k < static_cast<int64_t>(hn::MaxLanes(D())); ++k) __builtin_prefetch(p + k * stride);
}

// Lane k from p[-k]: the last lane has the lowest address. (Highway 1.0 reverses no short vectors of small elements.)
template <class T, size_t... k>
inline void reverse(T* elements, Indices<k...>) {
  using Block __attribute__((vector_size(sizeof...(k) * sizeof(T)))) = T;
  Block block;
  __builtin_memcpy(&block, elements, sizeof(block));
  block = __builtin_shufflevector(block, block, (sizeof...(k) - 1 - k)...);
  __builtin_memcpy(elements, &block, sizeof(block));
}
template <class D>
inline hn::Vec<D> load_reversed(D d, const hn::TFromD<D>* p) {
  using T = hn::TFromD<D>;
  constexpr size_t lanes = hn::MaxLanes(D());
  if constexpr (sizeof(T) >= 4) {
    return hn::Reverse(d, hn::LoadU(d, p - (hn::Lanes(d) - 1)));
  } else if constexpr (lanes * sizeof(T) >= 4) {
    T elements[lanes];
    __builtin_memcpy(elements, p - (lanes - 1), sizeof(elements));
    reverse(elements, IndicesBelow<lanes>());
    return hn::LoadU(d, elements);
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

// The same of active lanes alone.
template <class D>
inline hn::Mask<D> reverse_mask(D d, hn::Mask<D> mask) {
  const auto ones = hn::IfThenElseZero(mask, hn::Set(d, hn::TFromD<D>{1}));
  return hn::Gt(hn::Reverse(d, ones), hn::Zero(d));
}
template <class D>
inline hn::Vec<D> load_reversed(D d, hn::Mask<D> mask, const hn::TFromD<D>* p) {
  if constexpr (masks_are_exact<D> && sizeof(hn::TFromD<D>) >= 4)
    return hn::Reverse(d, hn::MaskedLoad(reverse_mask(d, mask), d, p - (hn::Lanes(d) - 1)));
  else
    return load_strided(d, mask, p, -1);
}
template <class D>
inline void store_reversed(D d, hn::Mask<D> mask, hn::Vec<D> v, hn::TFromD<D>* p) {
  if constexpr (masks_are_exact<D> && sizeof(hn::TFromD<D>) >= 4)
    hn::BlendedStore(hn::Reverse(d, v), reverse_mask(d, mask), d, p - (hn::Lanes(d) - 1));
  else
    store_strided(d, mask, v, p, -1);
}

// The value of the last lane, and of the last active one (there is one).
template <class D>
inline hn::TFromD<D> last_lane(D d, hn::Vec<D> v) {
#if !SOUS_EMULATED_VECTORS
  using Raw = decltype(v.raw);
  using T = hn::TFromD<D>;
  if constexpr (hn::MaxLanes(D()) * sizeof(T) >= 16) {
    using Elements __attribute__((vector_size(sizeof(Raw)))) = T;
    return __builtin_bit_cast(Elements, v.raw)[hn::MaxLanes(D()) - 1];
  }
#endif
  return Lanes<D>(d, v)[hn::Lanes(d) - 1];
}
template <class D>
inline hn::TFromD<D> last_lane(D d, hn::Mask<D> mask, hn::Vec<D> v) {
  hn::TFromD<D> last = 0;
  scatter(d, mask, v, [&](int64_t, hn::TFromD<D> x) { last = x; });
  return last;
}

// Stored where that changes something: else, the program may be one that does not write there.
template <class T>
inline void store_changed(T* place, T value) {
  T spare;
  *(__builtin_memcmp(place, &value, sizeof value) == 0 ? &spare : place) = value;
}
template <class D>
inline void store_changed(D d, hn::Vec<D> v, hn::TFromD<D>* p, int64_t stride) {
  Lanes<D> values(d, v);
  for (size_t lane = 0; lane < hn::Lanes(d); ++lane)
    store_changed(p + static_cast<int64_t>(lane) * stride, static_cast<hn::TFromD<D>>(values[lane]));
}

}  // namespace
}  // namespace sous
