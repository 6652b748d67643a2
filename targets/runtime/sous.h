// What generated code includes, whatever its target. Freestanding but for the C library's allocator: header only, no
// C++ runtime library, no static constructors.
//
// Functions and types stand in unnamed namespaces: each object has its own. Of an inline function that several objects
// have, a link keeps one, and the files of a program may be compiled for different instruction sets and with different
// rules for floats. Only what a program has one of (TeamState, ThreadState) is shared.
#pragma once

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

// Generated code repeats what the original program says, tautologies (x >= 0 of an unsigned x, t = t) and temporaries
// that nobody reads, or only dead code, included; that is not worth a warning a second time. The others are false
// alarms of flow analyses on code whose definedness the IR's own check has established, and remarks that a compiler saw
// no gain in a vectorisation it was offered.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wtautological-compare"
#pragma clang diagnostic ignored "-Wself-assign"
#pragma clang diagnostic ignored "-Wxor-used-as-pow"
#pragma clang diagnostic ignored "-Wunused-variable"
#pragma clang diagnostic ignored "-Wunused-but-set-variable"
#pragma clang diagnostic ignored "-Wpass-failed"
#elif defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wtautological-compare"
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Waggressive-loop-optimizations"
#endif

#include "targets/runtime/cache_sets.h"
#include "targets/runtime/inspection.h"
#include "targets/runtime/threads.h"

// Functions that kernels of a GPU call, too.
#ifdef __CUDACC__
#define SOUS_EVERYWHERE __host__ __device__ inline
#else
#define SOUS_EVERYWHERE inline
#endif

namespace sous {
namespace {  // targets/runtime/sous.h says why

// --- Types (the C++ library's headers for them take longer to read than all of this) --------------------------------

template <bool condition, class A, class B>
struct Either {
  using type = A;
};
template <class A, class B>
struct Either<false, A, B> {
  using type = B;
};
template <bool condition, class A, class B>
using Chosen = typename Either<condition, A, B>::type;

template <class T>
constexpr bool is_float = T(0.5) != T(0);
template <class T>
constexpr bool is_signed = T(-1) < T(0);
template <size_t bytes, bool with_sign>
using Integer = Chosen<bytes == 8, Chosen<with_sign, int64_t, uint64_t>,
                       Chosen<bytes == 4, Chosen<with_sign, int32_t, uint32_t>, Chosen<with_sign, int16_t, uint16_t>>>;
// An integer of twice the size.
template <class T>
using Twice = Integer<2 * sizeof(T), is_signed<T>>;

// 0, 1, 2, … below n, as arguments of a template.
template <size_t... k>
struct Indices {};
#ifdef __clang__
template <class, size_t... k>
using IndicesOf = Indices<k...>;
template <size_t n>
using IndicesBelow = __make_integer_seq<IndicesOf, size_t, n>;
#else
template <size_t n>
using IndicesBelow = Indices<__integer_pack(n)...>;
#endif

// --- Index arithmetic -----------------------------------------------------------------------------------------------

SOUS_EVERYWHERE int64_t imin(int64_t a, int64_t b) { return a < b ? a : b; }
SOUS_EVERYWHERE int64_t imax(int64_t a, int64_t b) { return a > b ? a : b; }
// Rounds toward minus infinity; b is not 0.
SOUS_EVERYWHERE int64_t floor_div(int64_t a, int64_t b) {
  // Without a branch: gcc takes a subscript out of a loop only if it has none.
  return a / b - static_cast<int64_t>((a % b != 0) & ((a ^ b) < 0));
}
SOUS_EVERYWHERE int64_t floor_mod(int64_t a, int64_t b) { return a - b * floor_div(a, b); }
// The length of a range as a factor of a work estimate.
inline double extent(int64_t n) { return n > 0 ? static_cast<double>(n) : 0.0; }
// The mean length of so many rows that lie behind each other, 0 where what begins and ends them says nothing else.
inline double mean_length(int64_t first, int64_t last, int64_t rows) {
  const double elements = static_cast<double>(last) - static_cast<double>(first);
  return elements > 0 ? elements / static_cast<double>(rows) : 0.0;
}

// --- Scalars --------------------------------------------------------------------------------------------------------

template <class T>
SOUS_EVERYWHERE T min(T a, T b) {
  return a < b ? a : b;
}
template <class T>
SOUS_EVERYWHERE T max(T a, T b) {
  return a > b ? a : b;
}

// A call is another expression: compilers contract a product with a sum in one expression only.
template <class T>
SOUS_EVERYWHERE T uncontracted(T x) {
  return x;
}

// A condition that is expected to be false; and a mark of what no compiler is to compute but where it stands.
SOUS_EVERYWHERE bool hardly_ever(bool condition) { return __builtin_expect(condition, 0); }
SOUS_EVERYWHERE void only_here() {
#ifndef __CUDACC__
  __asm__ volatile("");
#endif
}

#ifdef __CUDACC__  // device code has CUDA's own functions, and no built-in ones
#define SOUS_C_FUNCTION(name) ::name
#else
#define SOUS_C_FUNCTION(name) __builtin_##name
#endif
#define SOUS_MATH1(name)                                                     \
  SOUS_EVERYWHERE double name(double x) { return SOUS_C_FUNCTION(name)(x); } \
  SOUS_EVERYWHERE float name(float x) { return SOUS_C_FUNCTION(name##f)(x); }
#define SOUS_MATH2(name)                                                                  \
  SOUS_EVERYWHERE double name(double x, double y) { return SOUS_C_FUNCTION(name)(x, y); } \
  SOUS_EVERYWHERE float name(float x, float y) { return SOUS_C_FUNCTION(name##f)(x, y); }
SOUS_MATH1(fabs)
SOUS_MATH1(sqrt)
SOUS_MATH1(cbrt)
SOUS_MATH1(exp)
SOUS_MATH1(exp2)
SOUS_MATH1(expm1)
SOUS_MATH1(log)
SOUS_MATH1(log2)
SOUS_MATH1(log10)
SOUS_MATH1(log1p)
SOUS_MATH1(sin)
SOUS_MATH1(cos)
SOUS_MATH1(tan)
SOUS_MATH1(asin)
SOUS_MATH1(acos)
SOUS_MATH1(atan)
SOUS_MATH1(sinh)
SOUS_MATH1(cosh)
SOUS_MATH1(tanh)
SOUS_MATH1(asinh)
SOUS_MATH1(acosh)
SOUS_MATH1(atanh)
SOUS_MATH1(erf)
SOUS_MATH1(erfc)
SOUS_MATH1(tgamma)
SOUS_MATH1(floor)
SOUS_MATH1(ceil)
SOUS_MATH1(trunc)
SOUS_MATH1(round)
SOUS_MATH1(rint)
SOUS_MATH2(pow)
SOUS_MATH2(atan2)
SOUS_MATH2(fmod)
SOUS_MATH2(hypot)
SOUS_MATH2(fdim)
SOUS_MATH2(fmin)
SOUS_MATH2(fmax)
SOUS_MATH2(copysign)
SOUS_EVERYWHERE double fma(double x, double y, double z) { return SOUS_C_FUNCTION(fma)(x, y, z); }
SOUS_EVERYWHERE float fma(float x, float y, float z) { return SOUS_C_FUNCTION(fmaf)(x, y, z); }
#undef SOUS_MATH1
#undef SOUS_MATH2
#undef SOUS_C_FUNCTION

// --- Entry checks ---------------------------------------------------------------------------------------------------

// The bytes that an array covers: built up dimension by dimension; empty as soon as one extent is. The dimension with
// the largest distance is its period: what the others cover is a block that comes again at that distance.
class Footprint {
 public:
  template <class T>
  Footprint(const T* base, int64_t offset)
      : base_(reinterpret_cast<uintptr_t>(base)),
        size_(sizeof(T)),
        low_(offset),
        high_(offset),
        block_low_(offset),
        block_high_(offset) {}
  void dimension(int64_t extent, int64_t stride) {
    if (extent <= 0) {
      empty_ = true;
      return;
    }
    const int64_t reach = (extent - 1) * stride, distance = stride < 0 ? -stride : stride;
    const bool longest = extent > 1 && distance > period_;
    if (longest) period_ = distance, block_low_ = low_, block_high_ = high_;
    (reach < 0 ? low_ : high_) += reach;
    if (!longest) (reach < 0 ? block_low_ : block_high_) += reach;
  }
  // A dimension in which data say where accesses go.
  void reach(const Hull& subscripts, int64_t stride) {
    const Hull places = Hull(0).plus(subscripts, stride);
    by_data_ = true;
    everywhere_ = places.is_everywhere();
    if (places.empty()) empty_ = true;
    if (everywhere_ || places.empty()) return;
    low_ += places.low();
    high_ += places.high();
    // An index that means none (INT_MIN) may lie below the first address, or above the last.
    int64_t first = 0, last = 0;
    uintptr_t end = 0;
    everywhere_ = __builtin_mul_overflow(low_, size_, &first) || __builtin_mul_overflow(high_ + 1, size_, &last) ||
                  __builtin_add_overflow(base_, first, &end) || __builtin_add_overflow(base_, last, &end);
  }
  bool disjoint(const Footprint& other) const {
    if (empty_ || other.empty_) return true;
    return !everywhere_ && !other.everywhere_ && (end() <= other.begin() || other.end() <= begin());
  }
  // Whether each lies in the gaps of the other, as rows of two tables do that are allocated in turns.
  bool interleaved(const Footprint& other) const {
    if (by_data_ || other.by_data_) return false;
    const int64_t period = period_ * size_;
    if (period == 0 || period != other.period_ * other.size_) return false;
    int64_t apart = static_cast<int64_t>(other.address(other.block_low_) - address(block_low_)) % period;
    if (apart < 0) apart += period;
    return block() <= apart && other.block() <= period - apart;
  }
  bool empty() const { return empty_; }
  uintptr_t begin() const { return address(low_); }
  uintptr_t end() const { return address(high_ + 1); }
  // Where the k-th of `all` rows begins that lie evenly in it.
  uintptr_t row(int64_t k, int64_t all) const {
    const int64_t period = period_ > 0 ? period_ : 1;
    return address(low_ + (high_ - low_) / period * k / all * period);
  }

 private:
  uintptr_t address(int64_t element) const { return base_ + static_cast<uintptr_t>(element * size_); }
  int64_t block() const { return (block_high_ - block_low_ + 1) * size_; }  // bytes

  uintptr_t base_;
  int64_t size_, low_, high_, block_low_, block_high_, period_ = 0;
  bool empty_ = false, by_data_ = false, everywhere_ = false;
};

}  // namespace
}  // namespace sous
#include "targets/runtime/first_touch.h"
namespace sous {
namespace {

// --- Temporaries ----------------------------------------------------------------------------------------------------

// Elements of one thread's copy: whole cache lines, at least one, so that copies never share one. -1: too large.
template <class T>
inline int64_t padded(int64_t elements) {
  constexpr int64_t line = 64 / static_cast<int64_t>(sizeof(T));
  if (elements > INT64_MAX / 2 / static_cast<int64_t>(sizeof(T))) return -1;
  return elements < 1 ? line : (elements + line - 1) / line * line;
}
// Memory for `elements` (from padded) times `copies`, 64-byte aligned; freed on leaving the scope. Null if there is
// none. Huge pages are not asked for: they save 1 us for each 4 KB at first touch, where the system has them at hand,
// but in virtual machines that give free memory back to their host, each can take 5 ms (gemm LARGE: 15 ms became 20 in
// half of the runs).
template <class T>
class Temporary {
 public:
  Temporary(int64_t elements, int64_t copies) {
    int64_t bytes = 0;
    if (elements < 0 || __builtin_mul_overflow(elements, copies * static_cast<int64_t>(sizeof(T)), &bytes)) return;
    constexpr size_t line = 64;
    if (__builtin_add_overflow(bytes, line - 1, &bytes)) return;
    // Older standards leave aligned_alloc to the program, which may have a function of that name.
    const int before = errno;  // the original nest allocates nothing
    memory_ = malloc(static_cast<size_t>(bytes));
    errno = before;
    if (memory_ == nullptr) return;
    const auto begin = reinterpret_cast<uintptr_t>(memory_);
    data_ = static_cast<T*>(__builtin_assume_aligned(static_cast<char*>(memory_) + (-begin & (line - 1)), line));
  }
  ~Temporary() { free(memory_); }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  T* get() const { return data_; }

 private:
  void* memory_ = nullptr;
  T* data_ = nullptr;  // in it, where a line of the cache begins
};

}  // namespace

// What the program asks ahead of a call: whether the bytes [first, last) behind two pointers are apart. It is no part
// of the program's own text, so that no address escapes there. Objects share it: sums
// and comparisons of integers are the same code for every processor.
extern "C" __attribute__((weak, used, visibility("hidden"))) int sous_apart(const void* a, unsigned long a_first,
                                                                            unsigned long a_last, const void* b,
                                                                            unsigned long b_first,
                                                                            unsigned long b_last) {
  const auto from = reinterpret_cast<uintptr_t>(a), to = reinterpret_cast<uintptr_t>(b);
  return from + a_last <= to + b_first || to + b_last <= from + a_first;
}

}  // namespace sous
