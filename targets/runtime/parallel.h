// Parallel regions and the shares of their loops. In a program that has an OpenMP runtime, whichever, its threads run
// them: both have gcc's entry points. Otherwise a team of our own does (docs/decisions/039). Compiled without OpenMP, a
// region is what one thread runs.
#pragma once

#include <stdint.h>

#ifdef SOUS_TEAM_APART
#include "targets/runtime/team_apart.h"
#else
#include "targets/runtime/team.h"
#endif

#if defined(_OPENMP) && !defined(SOUS_TEAM_APART)
extern "C" {
__attribute__((weak)) void GOMP_parallel(void (*run)(void*), void* shared, unsigned threads, unsigned flags);
__attribute__((weak)) void GOMP_barrier(void);
__attribute__((weak)) int omp_get_max_threads(void);
__attribute__((weak)) int omp_get_num_threads(void);
__attribute__((weak)) int omp_get_thread_num(void);
__attribute__((weak)) int omp_in_parallel(void);
}
#endif

namespace sous {
namespace {  // targets/runtime/sous.h says why

#if defined(_OPENMP) && !defined(SOUS_TEAM_APART)
// The program's own. What is loaded while it runs is measured as what programs have that are built with it: alone.
SOUS_ONCE inline bool has_openmp() {
#ifdef SOUS_LOADED
  return false;
#else
  return omp_get_max_threads != nullptr && omp_get_num_threads != nullptr && omp_get_thread_num != nullptr &&
         omp_in_parallel != nullptr && GOMP_parallel != nullptr && GOMP_barrier != nullptr;
#endif
}
#endif

inline int64_t thread() {
#ifdef _OPENMP
  return thread_state().number;
#else
  return 0;
#endif
}
inline int64_t team_size() {
#ifdef _OPENMP
  return thread_state().others + 1;
#else
  return 1;
#endif
}
#ifndef SOUS_TEAM_APART
SOUS_ONCE inline int threads([[maybe_unused]] int wanted) {
#ifdef _OPENMP
  if (has_openmp()) return wanted > 0 ? wanted : omp_get_max_threads();
  return wanted > 0 ? Team::at_most(wanted) : Team::most();
#else
  return 1;
#endif
}
#endif

// How this thread rounds, and what it does with denormals: as what entered the region does it, so do its threads. And,
// of the bits of `float_flags`, which exceptions it has raised: flags, which stay until they are cleared.
#if defined(__aarch64__)
constexpr uint64_t float_flags = 0x9f;
#else
constexpr uint64_t float_flags = 0x3f;
#endif
inline uint64_t float_state() {
#if defined(__x86_64__)
  return __builtin_ia32_stmxcsr();
#elif defined(__aarch64__)
  uint64_t control, status;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  __asm__ volatile("mrs %0, fpsr" : "=r"(status));
  return control << 8 | (status & float_flags);
#else
  return 0;
#endif
}
// From what it is now.
inline void set_float_state([[maybe_unused]] uint64_t now, [[maybe_unused]] uint64_t state) {
  if (now == state) return;
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr(static_cast<unsigned>(state));
#elif defined(__aarch64__)
  uint64_t status;
  __asm__ volatile("mrs %0, fpsr" : "=r"(status));
  __asm__ volatile("msr fpcr, %0" : : "r"(state >> 8) : "memory");
  __asm__ volatile("msr fpsr, %0" : : "r"((status & ~float_flags) | (state & float_flags)) : "memory");
#endif
}

#if defined(_OPENMP) && !defined(SOUS_TEAM_APART)
// What the threads of a region run; the floating-point state of who entered it; what they raise beside its flags, which
// is its own behind the region.
struct Region {
  void (*run)(const void*);
  const void* body;
  uint64_t floats, raised;
};
SOUS_ONCE inline void run_body(void* what) {
  Region& region = *static_cast<Region*>(what);
  const uint64_t before = float_state(), known = region.floats & float_flags;
  set_float_state(before, (region.floats & ~float_flags) | (before & known));
  region.run(region.body);
  const uint64_t after = float_state();
  if ((after & float_flags & ~known) != 0) __atomic_fetch_or(&region.raised, after & float_flags, __ATOMIC_RELAXED);
  set_float_state(after, before | (after & float_flags));
}
SOUS_ONCE inline void run_numbered(void* region) {
  Team::run_as(thread_state(), omp_get_thread_num(), omp_get_num_threads(), run_body, region);
}
SOUS_ONCE inline void run_region(bool pays, int wanted, void (*run)(const void*), const void* body) {
  // Who asked ahead may have been told of threads that are gone since.
  ThreadState& state = thread_state();
  pays = pays && state.busy != 0;
  Region region{run, body, float_state(), 0};
  if (has_openmp()) {
    GOMP_parallel(run_numbered, &region, pays ? static_cast<unsigned>(wanted) : 1U, 0);
  } else {
    // Others may have wanted more threads; of what each has a copy of, there are so many.
    const int there = pays && state.has_team ? Team::size() : 1;
    const int most = threads(wanted), size = most < there ? most : there;
    size > 1 ? Team::run(state, size, run_body, &region) : Team::run_as(state, 0, 1, run_body, &region);
  }
  if (region.raised != 0) set_float_state(float_state(), float_state() | region.raised);
}
#endif

// What the body has by value, each thread has of its own, in registers: whatever a vector is stored to might be what
// threads share.
template <class Body>
void run_own(const void* what) {
  const Body own = *static_cast<const Body*>(what);
  own();
}
// Of a loop that is shared out evenly, how many of its pieces are taken of each thread's part (EvenShares).
struct Pieces {
  static constexpr int most_threads = 32;
  struct alignas(64) Part {
    int64_t taken;
  } parts[most_threads];
  void reset() {
    for (Part& part : parts) part.taken = 0;
  }
};

// Runs the body on each thread of a team, and waits for all: of `wanted` threads, 0: as many as there are; of one,
// where more do not pay, and where another thread of the program has the team.
template <class Body>
inline void parallel([[maybe_unused]] bool pays, [[maybe_unused]] int wanted, const Body& body) {
#ifdef _OPENMP
  run_region(pays, wanted, run_own<Body>, &body);
#else
  body();
#endif
}

// The same of one whose threads take pieces of each other's parts.
template <class Body>
inline void parallel(bool pays, int wanted, Pieces& pieces, const Body& body) {
  if (pays) pieces.reset();  // else there is one thread
  parallel(pays, wanted, body);
}

// Inside of a region: one thread after the other.
template <class Body>
inline void one_at_a_time(const Body& body) {
#ifdef _OPENMP
  Team::lock();
  body();
  Team::unlock();
#else
  body();
#endif
}

// Iterations that are handed out at a time where no number is given: pieces enough to even out what they take, few
// enough that handing them out costs nothing.
inline int64_t dynamic_share(int64_t iterations) { return iterations < 256 ? 1 : iterations / 128; }

// A loop from `begin` in steps of `step` as long as `end` is not reached, and what of it a thread runs next: the same
// from `begin` to `end`.
template <int64_t step>
struct Share {
  int64_t begin, end;

  static int64_t trips(int64_t begin, int64_t end) {
    if (step > 0 ? begin >= end : begin <= end) return 0;
    return (end - begin + (step > 0 ? -1 : 1)) / step + 1;
  }
  // Of a loop with these bounds, the iterations numbered from `first` to below `last`.
  static Share of(int64_t begin, int64_t end, int64_t first, int64_t last) {
    const int64_t until = begin + last * step;
    return {begin + first * step, (step > 0 ? until < end : until > end) ? until : end};
  }
};

// The iterations of loops in each other, of which each runs so often.
template <class... Trips>
inline int64_t trips_together(Trips... trips) {
  return ((trips == 0) || ...) ? 0 : (trips * ...);
}

// Each thread runs as many as the others, but for one, that follow each other; the first thread the first ones.
template <int64_t step>
inline Share<step> even_share(int64_t begin, int64_t end) {
  const int64_t trips = Share<step>::trips(begin, end), team = team_size(), own = thread();
  const int64_t each = trips / team, more = trips % team;
  const int64_t first = each * own + (own < more ? own : more);
  return Share<step>::of(begin, end, first, first + each + (own < more ? 1 : 0));
}

// The same parts, but taken in pieces, each half as long as the one before it; and when a thread has run all of its
// own, those that are left of others: processors that other programs use as well, or threads that come late, would have
// the last word otherwise. Where nothing is in the way each thread runs what even_share gives it.
class EvenPieces {
 public:
  EvenPieces(int64_t trips, Pieces& pieces)
      : pieces_(pieces), team_(team_size()), whose_(thread()), parts_left_(team_) {
    each_ = trips / team_;
    more_ = trips % team_;
  }
  // The iterations from `first` to below `last` are this thread's.
  __attribute__((noinline)) bool next() {
    const bool alone = team_ == 1 || team_ > Pieces::most_threads;
    for (; parts_left_ > 0; --parts_left_, whose_ = whose_ + 1 == team_ ? 0 : whose_ + 1) {
      const int64_t begin = each_ * whose_ + (whose_ < more_ ? whose_ : more_);
      const int64_t count = each_ + (whose_ < more_ ? 1 : 0);
      if (alone) {
        parts_left_ = 0;
        first = begin;
        last = begin + count;
        return count > 0;
      }
      int64_t& taken = pieces_.parts[whose_].taken;
      while (__atomic_load_n(&taken, __ATOMIC_RELAXED) < halves + 1) {
        const int64_t piece = __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED);
        if (piece > halves) break;
        first = begin + count - rest(count, piece);
        last = begin + count - (piece < halves ? rest(count, piece + 1) : 0);
        if (first < last) return true;
      }
    }
    return false;
  }
  int64_t first = 0, last = 0;

 private:
  static constexpr int64_t halves = 4;
  // What so many pieces leave of a part.
  static int64_t rest(int64_t count, int64_t pieces) { return (count + (int64_t{1} << pieces) - 1) >> pieces; }

  Pieces& pieces_;
  const int64_t team_;
  int64_t whose_, parts_left_, each_ = 0, more_ = 0;
};
template <int64_t step>
class EvenShares {
 public:
  EvenShares(int64_t begin, int64_t end, Pieces& pieces)
      : begin_(begin), end_(end), pieces_(Share<step>::trips(begin, end), pieces) {}
  bool next() {
    if (!pieces_.next()) return false;
    share = Share<step>::of(begin_, end_, pieces_.first, pieces_.last);
    return true;
  }
  Share<step> share{};

 private:
  const int64_t begin_, end_;
  EvenPieces pieces_;
};

// Threads run `chunk` at a time, in turns.
template <int64_t step>
class TurnShares {
 public:
  TurnShares(int64_t begin, int64_t end, int64_t chunk)
      : begin_(begin),
        end_(end),
        chunk_(chunk),
        trips_(Share<step>::trips(begin, end)),
        next_(thread() * chunk),
        turn_(team_size() * chunk) {}
  bool next() {
    if (next_ >= trips_) return false;
    share = Share<step>::of(begin_, end_, next_, trips_ - next_ < chunk_ ? trips_ : next_ + chunk_);
    next_ += turn_;
    return true;
  }
  Share<step> share{};

 private:
  const int64_t begin_, end_, chunk_, trips_;
  int64_t next_;
  const int64_t turn_;
};

// Threads run `chunk` at a time, whoever comes first; `taken`, 0 at first, is what they share. The first ones first, or
// the last ones.
template <int64_t step>
class QueuedShares {
 public:
  QueuedShares(int64_t begin, int64_t end, int64_t chunk, int64_t& taken, bool last_first)
      : begin_(begin),
        end_(end),
        chunk_(chunk),
        trips_(Share<step>::trips(begin, end)),
        last_first_(last_first),
        taken_(taken) {}
  bool next() {
    const int64_t first = __atomic_fetch_add(&taken_, chunk_, __ATOMIC_RELAXED);
    if (first >= trips_) return false;
    const int64_t last = trips_ - first < chunk_ ? trips_ : first + chunk_;
    share = last_first_ ? Share<step>::of(begin_, end_, trips_ - last, trips_ - first)
                        : Share<step>::of(begin_, end_, first, last);
    return true;
  }
  Share<step> share{};

 private:
  const int64_t begin_, end_, chunk_, trips_;
  const bool last_first_;
  int64_t& taken_;
};

// --- Reductions -----------------------------------------------------------------------------------------------------

// What each thread starts from: a value that changes no other one by the operator.
template <class T>
constexpr T all_bits = static_cast<T>(~T(0));
template <class T>
constexpr T neutral_sum = T(0);
template <class T>
constexpr T neutral_product = T(1);
template <class T>
constexpr T neutral_and = all_bits<T>;
template <class T>
constexpr T neutral_or = T(0);
template <class T>
constexpr T greatest() {
  if constexpr (T(2) == T(1)) {  // bool
    return true;
  } else if constexpr (T(0.5) != T(0)) {
    return static_cast<T>(__builtin_inff());
  } else if constexpr (T(-1) < T(0)) {
    return static_cast<T>((uint64_t{1} << (8 * sizeof(T) - 1)) - 1);
  } else {
    return all_bits<T>;
  }
}
template <class T>
constexpr T least() {
  if constexpr (T(2) == T(1)) {
    return false;
  } else if constexpr (T(0.5) != T(0)) {
    return static_cast<T>(-__builtin_inff());
  } else {
    return static_cast<T>(~greatest<T>());
  }
}
template <class T>
constexpr T neutral_min = greatest<T>();
template <class T>
constexpr T neutral_max = least<T>();

// By their bits: infinities are compared, of which compilers know with -ffast-math that there are none.
template <class T>
bool differs(T a, T b) {
  return __builtin_memcmp(&a, &b, sizeof a) != 0;
}

// The least or greatest value, and the thread that has met it (-1: it was there before): of equal values that of the
// first thread stays, which has the first iterations.
template <class T>
struct First {
  T value;
  int64_t from;
};
template <class T>
First<T> first(const First<T>& a, const First<T>& b, bool a_wins, bool b_wins) {
  return a_wins || (!b_wins && a.from < b.from) ? a : b;
}
template <class T>
First<T> first_max(const First<T>& a, const First<T>& b) {
  return first(a, b, a.value > b.value, b.value > a.value);
}
template <class T>
First<T> first_min(const First<T>& a, const First<T>& b) {
  return first(a, b, a.value < b.value, b.value < a.value);
}

}  // namespace
}  // namespace sous
