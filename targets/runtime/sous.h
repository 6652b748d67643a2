// What generated code includes, whatever its target. Freestanding but for the C library's allocator: header only, no
// C++ runtime library, no static constructors.
#pragma once

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#ifdef __linux__
#endif

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

#ifdef _OPENMP
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
extern "C" __attribute__((weak)) void* dlopen(const char*, int);
extern "C" int omp_in_parallel(void);
extern "C" __attribute__((weak)) int omp_get_max_threads(void);
#ifdef __clang__
extern "C" __attribute__((weak)) void __kmpc_fork_call(void*, int32_t, void (*)(int32_t*, int32_t*, ...), ...);
#else
extern "C" __attribute__((weak)) void GOMP_parallel(void (*)(void*), void*, unsigned, unsigned);
extern "C" __attribute__((weak)) void GOMP_barrier(void);
#endif
extern "C" int omp_get_num_threads(void);
extern "C" int omp_get_thread_num(void);
#endif

namespace sous {

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

inline int64_t imin(int64_t a, int64_t b) { return a < b ? a : b; }
inline int64_t imax(int64_t a, int64_t b) { return a > b ? a : b; }
// Rounds toward minus infinity; b is not 0.
inline int64_t floor_div(int64_t a, int64_t b) {
  // Without a branch: gcc takes a subscript out of a loop only if it has none.
  return a / b - static_cast<int64_t>((a % b != 0) & ((a ^ b) < 0));
}
inline int64_t floor_mod(int64_t a, int64_t b) { return a - b * floor_div(a, b); }
// The length of a range as a factor of a work estimate.
inline double extent(int64_t n) { return n > 0 ? static_cast<double>(n) : 0.0; }

// --- Scalars --------------------------------------------------------------------------------------------------------

template <class T>
inline T min(T a, T b) {
  return a < b ? a : b;
}
template <class T>
inline T max(T a, T b) {
  return a > b ? a : b;
}

// A call is another expression: compilers contract a product with a sum in one expression only.
template <class T>
inline T uncontracted(T x) {
  return x;
}

#define SOUS_MATH1(name)                                       \
  inline double name(double x) { return __builtin_##name(x); } \
  inline float name(float x) { return __builtin_##name##f(x); }
#define SOUS_MATH2(name)                                                    \
  inline double name(double x, double y) { return __builtin_##name(x, y); } \
  inline float name(float x, float y) { return __builtin_##name##f(x, y); }
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
SOUS_MATH1(erf)
SOUS_MATH1(floor)
SOUS_MATH1(ceil)
SOUS_MATH1(trunc)
SOUS_MATH1(round)
SOUS_MATH1(rint)
SOUS_MATH2(pow)
SOUS_MATH2(atan2)
SOUS_MATH2(fmod)
SOUS_MATH2(hypot)
SOUS_MATH2(fmin)
SOUS_MATH2(fmax)
SOUS_MATH2(copysign)
inline double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
inline float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
#undef SOUS_MATH1
#undef SOUS_MATH2

// --- Entry checks ---------------------------------------------------------------------------------------------------

// The bytes that an array covers: built up dimension by dimension; empty as soon as one extent is.
class Footprint {
 public:
  template <class T>
  Footprint(const T* base, int64_t offset)
      : base_(reinterpret_cast<uintptr_t>(base)), size_(sizeof(T)), low_(offset), high_(offset) {}
  void dimension(int64_t extent, int64_t stride) {
    if (extent <= 0) {
      empty_ = true;
    } else if (stride < 0) {
      low_ += (extent - 1) * stride;
    } else {
      high_ += (extent - 1) * stride;
    }
  }
  bool disjoint(const Footprint& other) const {
    return empty_ || other.empty_ || end() <= other.begin() || other.end() <= begin();
  }

 private:
  uintptr_t begin() const { return base_ + static_cast<uintptr_t>(low_ * size_); }
  uintptr_t end() const { return base_ + static_cast<uintptr_t>((high_ + 1) * size_); }
  uintptr_t base_;
  int64_t size_, low_, high_;
  bool empty_ = false;
};

// --- Temporaries ----------------------------------------------------------------------------------------------------

inline int threads(int wanted) {
#ifdef _OPENMP
  return wanted > 0 ? wanted : omp_get_max_threads();
#else
  (void)wanted;
  return 1;
#endif
}
#ifdef _OPENMP
// Below so many statement executions a parallel region costs more than it gains: starting and joining a team takes a
// few microseconds, the time of about as many thousand statements. Tests of small nests define it as 0.
#ifndef SOUS_PARALLEL_FROM
#define SOUS_PARALLEL_FROM 10000
#endif
inline constexpr int64_t parallel_from = SOUS_PARALLEL_FROM;

// What an entry holds around its parallel regions. Usable, if the program was linked with the OpenMP runtime of the
// compiler that made the object (objects refer to it weakly, so that a link which knows nothing of it, or brings
// another one, succeeds: another compiler, -static), no such region of this thread is under way (a signal handler that
// came in between must not enter the runtime), and the process is no child in which gcc's runtime would wait for the
// threads of the parent.
//
// The runtime's threads take no signals: those are for the program's own threads, which may have blocked them. Threads
// inherit the mask of who starts them, so a team is started with all signals blocked before it is needed.
//
// Nor is it usable with fewer threads than `least`, or before the calls so far would have gained (`gain`, in seconds)
// what the runtime's start costs: whoever waits so long pays at most twice what the best choice in hindsight would have
// cost, whether many calls come or few (the ski-rental rule).
class Threads {
 public:
  explicit Threads(int wanted, int least = 1, double gain = 1)
      : wanted_(wanted), usable_(has_runtime() && busy_ == 0 && !lost_ && pays(gain, 2)) {
    if (!usable_) return;
    const bool nested = omp_in_parallel() != 0;
    const int size = threads(wanted);
    usable_ = (nested ? 1 : size) >= least && (nested || pays(0, size));
    if (!usable_) return;
    busy_ = 1;
    if (size > started_ && !nested) start(size);
  }
  ~Threads() {
    if (!usable_) return;
    busy_ = 0;
#ifndef __clang__
    if (wanted_ > 0) started_ = 0;  // gcc's runtime dismisses threads that a smaller team does not need
#endif
  }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  bool usable() const { return usable_; }

 private:
  // Once the sum is reached it stays so. What the first region takes was measured: docs/decisions/007, and 5 ms with 16
  // threads of libomp, 1.5 of libgomp.
  static bool pays(double gain, int size) {
#ifdef __clang__
    constexpr double start = 1.5e-3, each = 0.22e-3;
#else
    constexpr double start = 0.05e-3, each = 0.09e-3;
#endif
    if (started_ > 0) return true;
    gained_ += gain;
    return gained_ >= start + each * size;
  }
  static bool has_runtime() {
#ifdef __clang__
    return omp_get_max_threads != nullptr && __kmpc_fork_call != nullptr;
#else
    return omp_get_max_threads != nullptr && GOMP_parallel != nullptr && GOMP_barrier != nullptr;
#endif
  }
  static void start(int size) {
    const int errno_before = errno;
    // Its threads live as long as the process: the runtime must not go with a library that is unloaded.
    Dl_info runtime;
    if (dlopen != nullptr && dladdr(reinterpret_cast<void*>(omp_get_max_threads), &runtime) != 0) {
      dlopen(runtime.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    }
    sigset_t all, before;
    sigfillset(&all);
    // But for those that a thread raises by what it does: blocked, they would end the process.
    constexpr int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    for (const int signal : own) sigdelset(&all, signal);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    if (__atomic_exchange_n(&watches_forks_, 1, __ATOMIC_RELAXED) == 0) pthread_atfork(nullptr, nullptr, in_child);
    constexpr int most = 256;
    int places[most];
#pragma omp parallel num_threads(size)
    {
      const int own = omp_get_thread_num(), team = omp_get_num_threads();
      if (team <= most) places[own] = sched_getcpu();
#pragma omp barrier
      if (team <= most) move_apart(places, own, team);
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    started_ = size;
    errno = errno_before;
  }
  // A thread begins where the one that started it runs, and may stay there for 20 ms before Linux moves it to an idle
  // processor. A thread of the team that shares its processor with one before it goes to one that has none of them, if
  // it may; where it runs afterwards is again the system's choice. (Threads that OMP_PROC_BIND places are apart.)
  static void move_apart(const int* places, int own, int team) {
    const auto taken = [places](int processor, int threads) {
      for (int k = 0; k < threads; ++k) {
        if (places[k] == processor) return true;
      }
      return false;
    };
    if (!taken(places[own], own)) return;
    int before = 0;  // threads that move too
    for (int k = 0; k < own; ++k) before += taken(places[k], k) ? 1 : 0;
    cpu_set_t allowed, one;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
      if (!CPU_ISSET(processor, &allowed) || taken(processor, team) || before-- > 0) continue;
      CPU_ZERO(&one);
      CPU_SET(processor, &one);
      if (sched_setaffinity(0, sizeof one, &one) == 0) sched_setaffinity(0, sizeof allowed, &allowed);
      return;
    }
  }
  static void in_child() {
    started_ = 0;
#ifndef __clang__
    lost_ = true;
#endif
  }

#define SOUS_HIDDEN __attribute__((visibility("hidden")))
#define SOUS_PER_THREAD __attribute__((visibility("hidden"), tls_model("initial-exec"))) inline static thread_local
  SOUS_PER_THREAD volatile int busy_ = 0;
  SOUS_PER_THREAD int started_ = 0;
  SOUS_PER_THREAD double gained_ = 0;
  SOUS_HIDDEN inline static int watches_forks_ = 0;
  SOUS_HIDDEN inline static bool lost_ = false;
#undef SOUS_HIDDEN
#undef SOUS_PER_THREAD
  [[maybe_unused]] const int wanted_;
  bool usable_;
};
#endif

inline int64_t thread() {
#ifdef _OPENMP
  return omp_get_thread_num();
#else
  return 0;
#endif
}

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
    const int before = errno;  // the original nest allocates nothing
    data_ = static_cast<T*>(aligned_alloc(64, static_cast<size_t>(bytes)));
    errno = before;
  }
  ~Temporary() { free(data_); }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  T* get() const { return data_; }

 private:
  T* data_ = nullptr;
};

}  // namespace sous
