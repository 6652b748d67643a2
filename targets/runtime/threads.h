// Threads: the team that parallel loops of generated code run on, where it is compiled for OpenMP.
#pragma once

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

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
extern "C" __attribute__((weak)) void kmp_set_blocktime(int);
extern "C" int omp_get_num_threads(void);
extern "C" int omp_get_thread_num(void);
#endif

namespace sous {

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
// Iterations that are handed out at a time where no number is given: pieces enough to even out what they take, few
// enough that handing them out costs nothing.
inline int64_t dynamic_share(int64_t iterations) { return iterations < 256 ? 1 : iterations / 128; }

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
      : wanted_(wanted), usable_(has_runtime() && state().busy == 0 && !lost_ && pays(gain, 2)) {
    if (!usable_) return;
    const bool nested = omp_in_parallel() != 0;
    const int size = threads(wanted);
    usable_ = (nested ? 1 : size) >= least && (nested || pays(0, size));
    if (!usable_) return;
    state().busy = 1;
    if (size > state().started && !nested) start(size);
  }
  ~Threads() {
    if (!usable_) return;
    state().busy = 0;
#ifndef __clang__
    if (wanted_ > 0) state().started = 0;  // gcc's runtime dismisses threads that a smaller team does not need
#endif
  }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  bool usable() const { return usable_; }

 private:
  static constexpr int wait_at_work = 1;  // ms
  // Once the sum is reached it stays so. What the first region takes was measured: docs/decisions/007, and 5 ms with 16
  // threads of libomp, 1.5 of libgomp.
  static bool pays(double gain, int size) {
#ifdef __clang__
    constexpr double start = 1.5e-3, each = 0.22e-3;
#else
    constexpr double start = 0.05e-3, each = 0.09e-3;
#endif
    if (state().started > 0) return true;
    state().gained += gain;
    return state().gained >= start + each * size;
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
    // libomp's threads would wait for the next region at work for 200 ms, which others could use.
    if (kmp_set_blocktime != nullptr && getenv("KMP_BLOCKTIME") == nullptr && getenv("OMP_WAIT_POLICY") == nullptr)
      kmp_set_blocktime(wait_at_work);
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
    state().started = size;
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
    state().started = 0;
#ifndef __clang__
    lost_ = true;
#endif
  }

#define SOUS_HIDDEN __attribute__((visibility("hidden")))
  // What each thread of the program has, zero at first.
  struct State {
    volatile int busy;
    int started;
    double gained;
  };
#ifdef SOUS_LOADED
  // Libraries that are loaded later soon use up what a program has of such memory when it starts: theirs is found by a
  // call, which allocates it the first time. clang 19 takes for granted that this call leaves the vector registers 16
  // to 31 as they are, and an allocation need not: in a function of its own it is a call like any other.
  SOUS_HIDDEN __attribute__((noinline)) static State& state() {
    static thread_local State state;
    return state;
  }
#else
  SOUS_HIDDEN __attribute__((tls_model("initial-exec"))) inline static thread_local State state_;
  static State& state() { return state_; }
#endif
  SOUS_HIDDEN inline static int watches_forks_ = 0;
  SOUS_HIDDEN inline static bool lost_ = false;
#undef SOUS_HIDDEN
  [[maybe_unused]] const int wanted_;
  bool usable_;
};
#endif

// The least or greatest value, and the thread that has met it (-1: it was there before): of equal values that of the
// first thread stays, which has the first iterations.
template <class T>
struct First {
  T value;
  int64_t from;
};
#ifdef _OPENMP
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
template <class T>
First<T> nothing_yet(const First<T>&, float infinity) {
  return {infinity, omp_get_thread_num()};
}
#endif

inline int64_t thread() {
#ifdef _OPENMP
  return omp_get_thread_num();
#else
  return 0;
#endif
}

}  // namespace sous

#ifdef _OPENMP
#pragma omp declare reduction(sous_first_max : sous::First<double>,                                \
                                  sous::First<float> : omp_out = sous::first_max(omp_out, omp_in)) \
    initializer(omp_priv = sous::nothing_yet(omp_orig, -__builtin_inff()))
#pragma omp declare reduction(sous_first_min : sous::First<double>,                                \
                                  sous::First<float> : omp_out = sous::first_min(omp_out, omp_in)) \
    initializer(omp_priv = sous::nothing_yet(omp_orig, __builtin_inff()))
#endif
