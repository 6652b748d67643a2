// What is looked at ahead of a nest whose accesses depend on data (sdfg/inspection.h): between which elements they lie.
#pragma once

#include "targets/runtime/threads.h"

namespace sous {
namespace {  // targets/runtime/sous.h says why

// The least and the greatest of some integers, and how many there were. What lies beyond what an index can be, or has
// no place in 64 bits, is everywhere.
class Hull {
 public:
  Hull() = default;
  explicit Hull(int64_t value) : low_(value), high_(value), count_(1) {}
  Hull(int64_t low, int64_t high, int64_t count) : low_(low), high_(high), count_(count) {
    if (low < -most || high > most) *this = everywhere();
  }
  // The values of a loop's variable.
  static Hull of_loop(int64_t begin, int64_t end, int64_t step) {
    if (step > 0 ? begin >= end : begin <= end) return {};
    int64_t length = 0;
    if (__builtin_sub_overflow(end, begin, &length)) return everywhere();
    const int64_t trips = (length + (step > 0 ? -1 : 1)) / step + 1, last = begin + (trips - 1) * step;
    return step > 0 ? Hull(begin, last, trips) : Hull(last, begin, trips);
  }
  static Hull everywhere() {
    Hull all;
    all.low_ = -most, all.high_ = most, all.count_ = 0, all.everywhere_ = true;
    return all;
  }

  bool empty() const { return low_ > high_; }
  bool is_everywhere() const { return everywhere_; }
  bool negative() const { return low_ < 0; }  // one of them is, or may be
  int64_t low() const { return low_; }
  int64_t high() const { return high_; }
  int64_t count() const { return count_; }

  void add(const Hull& other) {
    if (other.low_ < low_) low_ = other.low_;
    if (other.high_ > high_) high_ = other.high_;
    everywhere_ = everywhere_ || other.everywhere_;
    if (__builtin_add_overflow(count_, other.count_, &count_)) count_ = INT64_MAX;
  }
  // Sums of one of these and of `factor` times one of the others.
  Hull plus(const Hull& other, int64_t factor) const {
    if (empty() || other.empty()) return {};
    int64_t a = 0, b = 0, low = 0, high = 0, count = 0;
    if (everywhere_ || other.everywhere_ || __builtin_mul_overflow(other.low_, factor, &a) ||
        __builtin_mul_overflow(other.high_, factor, &b) || __builtin_add_overflow(low_, a < b ? a : b, &low) ||
        __builtin_add_overflow(high_, a < b ? b : a, &high))
      return everywhere();
    if (__builtin_mul_overflow(count_, other.count_, &count)) count = INT64_MAX;
    return {low, high, count};
  }

 private:
  static constexpr int64_t most = int64_t{1} << 48;

  int64_t low_ = INT64_MAX, high_ = INT64_MIN, count_ = 0;
  bool everywhere_ = false;
};

// What arrays that overlapped are known by; which these are is remembered (one set of arrays), for looking at the data
// again would take its time each time. Returns 0.
template <class... T>
inline uint64_t addresses(const T*... arrays) {
  uint64_t all = 1;
  ((all = (all + reinterpret_cast<uintptr_t>(arrays)) * 0x9e3779b97f4a7c15), ...);
  return all;
}
inline bool overlapped_before(const uint64_t& overlapped, uint64_t these) {
  return __atomic_load_n(&overlapped, __ATOMIC_RELAXED) == these;
}
inline int overlaps(uint64_t& overlapped, uint64_t these) {
  __atomic_store_n(&overlapped, these, __ATOMIC_RELAXED);
  return 0;
}

// From so many on threads look at integers together.
inline constexpr int64_t inspected_together = 1 << 15;

// What `body(k, hull)` adds for all k from 0 to below `trips`.
template <class Body>
inline Hull inspected([[maybe_unused]] int threads, int64_t trips, const Body& body) {
#ifdef _OPENMP
  if (threads != 1 && trips >= inspected_together) {
    Hull all;
    const Threads team(threads, 1, 0);  // unless whoever asks holds them
    parallel(true, threads, [&all, &body, trips] {
      const Share<1> share = even_share<1>(0, trips);
      const Hull own = body(share.begin, share.end);
      one_at_a_time([&all, &own] { all.add(own); });
    });
    return all;
  }
#endif
  return body(0, trips);
}

// The same of a loop, iteration by iteration.
template <class Body>
inline Hull iterations(int threads, int64_t begin, int64_t end, int64_t step, const Body& body) {
  const Hull loop = Hull::of_loop(begin, end, step);
  if (loop.is_everywhere()) return loop;
  return inspected(threads, loop.count(), [&body, begin, step](int64_t first, int64_t last) {
    Hull own;
    for (int64_t k = first; k < last; ++k) body(begin + k * step, own);
    return own;
  });
}

// The values that lie at these places. Where the nest reads but few of the elements there, looking at all of them would
// take longer than it does.
template <class T>
inline Hull values(int threads, const T* array, const Hull& places) {
  if (places.empty()) return {};
  if (places.is_everywhere()) return places;
  const int64_t first = places.low(), trips = places.high() - first + 1;
  if (trips / 8 > places.count()) return Hull::everywhere();
  return inspected(threads, trips, [array, first](int64_t from, int64_t to) {
    T low = array[first + from], high = low;
    for (int64_t k = from; k < to; ++k) {
      const T value = array[first + k];
      low = value < low ? value : low;
      high = value > high ? value : high;
    }
    // The upper half of an unsigned type of 64 bits: no index (SIZE_MAX for none).
    if (static_cast<int64_t>(high) < static_cast<int64_t>(low)) return Hull::everywhere();
    return Hull(static_cast<int64_t>(low), static_cast<int64_t>(high), to - from);
  });
}

}  // namespace
}  // namespace sous
