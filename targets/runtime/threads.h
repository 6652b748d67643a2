// Threads: the team that parallel loops of generated code run on, where it is compiled for OpenMP.
#pragma once

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "targets/runtime/parallel.h"

#if defined(_OPENMP) && !defined(SOUS_TEAM_APART)
extern "C" __attribute__((weak)) void kmp_set_blocktime(int);
#endif

namespace sous {

#if defined(_OPENMP) && !defined(SOUS_TEAM_APART)
// As TeamState, of a program that has an OpenMP runtime.
struct SOUS_HIDDEN RuntimeState {
 protected:
  SOUS_HIDDEN inline static int watches_forks_ = 0;
  SOUS_HIDDEN inline static bool gccs_ = false;  // once a team was started
  SOUS_HIDDEN inline static bool lost_ = false;
};
#endif

namespace {  // targets/runtime/sous.h says why

#ifdef _OPENMP
// Below so many statement executions a parallel region costs more than it gains: starting and joining a team takes a
// few microseconds, the time of about as many thousand statements. Tests of small nests define it as 0.
#ifndef SOUS_PARALLEL_FROM
#define SOUS_PARALLEL_FROM 10000
#endif
inline constexpr int64_t parallel_from = SOUS_PARALLEL_FROM;

#ifndef SOUS_TEAM_APART
// What Threads does on the way in and out.
//
// Threads take no signals: those are for the program's own, which may have blocked them. They inherit the mask of who
// starts them, so a team is started with all signals blocked before it is needed.
class Entrance : RuntimeState {
 public:
  SOUS_ONCE static bool enter(int wanted, int least, double gain) {
    ThreadState& state = thread_state();
    if (state.busy != 0) return false;
    state.busy = 1;
    const bool usable = possible() && pays(state, gain, 2) && begin(state, wanted, least);
    if (!usable) end(state);
    return usable;
  }
  SOUS_ONCE static void leave(int wanted) {
    ThreadState& state = thread_state();
    const int cancel = state.cancel;
    end(state);
    if (wanted > 0 && gccs_) state.started = 0;  // it dismisses threads that a smaller team does not need
    set_cancel(cancel, nullptr);
  }
  SOUS_ONCE static bool pay(int wanted, int least, double gain) {
    ThreadState& state = thread_state();
    if (state.busy != 0 || !possible() || !pays(state, gain, 2)) return false;
    const bool alone = has_openmp() ? omp_in_parallel() != 0 : Team::taken();
    return fits(state, alone, threads(wanted), least);
  }

 private:
  static constexpr int wait_at_work = 1;  // ms
  static void end(ThreadState& state) {
    if (state.has_team) Team::give();
    state.has_team = false;
    state.busy = 0;
  }
  // Where a thread waits in LLVM's runtime it can be cancelled, and the others of its team would wait for it for ever.
  // In ours it cannot.
  static void set_cancel(int to, int* before) {
    if (!has_openmp()) return;
#if !__GLIBC_PREREQ(2, 34)
    if (pthread_setcancelstate == nullptr) return;
#endif
    pthread_setcancelstate(to, before);
  }
  static bool possible() { return has_openmp() ? !lost_ : Team::possible(); }
  static bool fits(ThreadState& state, bool alone, int size, int least) {
    return (alone ? 1 : size) >= least && (alone || pays(state, 0, size));
  }
  // Regions in regions run on one thread, and so does who comes while another thread has the team.
  static bool begin(ThreadState& state, int wanted, int least) {
    state.has_team = !has_openmp() && Team::take();
    const bool alone = has_openmp() ? omp_in_parallel() != 0 : !state.has_team;
    const int size = threads(wanted);
    if (!fits(state, alone, size, least)) return false;
    set_cancel(PTHREAD_CANCEL_DISABLE, &state.cancel);
    if (!alone && size > (has_openmp() ? state.started : Team::size())) start(state, size);
    if (state.has_team) Team::count(state);
    return true;
  }
  // Once the sum is reached it stays so. What the first region takes was measured (docs/decisions/007 and 039).
  SOUS_ONCE static bool pays(ThreadState& state, double gain, int size) {
    if (state.started > 0) return true;
    state.gained += gain;
    double start = 0.05e-3, each = 0.03e-3;
    if (has_openmp()) {
      const bool llvms = kmp_set_blocktime != nullptr;
      start = llvms ? 1.5e-3 : 0.05e-3;
      each = llvms ? 0.22e-3 : 0.09e-3;
    }
    return state.gained >= start + each * size;
  }
  SOUS_SELDOM static void start(ThreadState& state, int size) {
    const int errno_before = errno;
    sigset_t all, before;
    sigfillset(&all);
    // But for those that a thread raises by what it does: blocked, they would end the process.
    constexpr int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    for (const int signal : own) sigdelset(&all, signal);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    has_openmp() ? start_openmp(size) : Team::grow(size);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    state.started = size;
    errno = errno_before;
  }
  SOUS_SELDOM static void start_openmp(int size) {
    Dl_info runtime, llvms;
    gccs_ = kmp_set_blocktime == nullptr;
    if (dlsym != nullptr && dladdr != nullptr && dladdr(reinterpret_cast<void*>(GOMP_parallel), &runtime) != 0) {
      // Its threads live as long as the process: the runtime must not go with a library that is unloaded.
      const auto open = reinterpret_cast<void* (*)(const char*, int)>(dlsym(RTLD_DEFAULT, "dlopen"));
      if (open != nullptr) open(runtime.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
      if (!gccs_ && dladdr(reinterpret_cast<void*>(kmp_set_blocktime), &llvms) != 0)
        gccs_ = llvms.dli_fbase != runtime.dli_fbase;
    }
    if (__atomic_exchange_n(&watches_forks_, 1, __ATOMIC_RELAXED) == 0) pthread_atfork(nullptr, nullptr, in_child);
    // LLVM's threads would wait for the next region at work for 200 ms, which others could use.
    if (kmp_set_blocktime != nullptr && getenv("KMP_BLOCKTIME") == nullptr && getenv("OMP_WAIT_POLICY") == nullptr)
      kmp_set_blocktime(wait_at_work);
    constexpr int most = 256;
    int places[most];
    parallel(true, size, [&places] {
      const int own = static_cast<int>(thread()), team = static_cast<int>(team_size());
      if (team <= most) places[own] = sched_getcpu();
      GOMP_barrier();
      if (team <= most) move_apart(places, own, team);
    });
  }
  // A thread begins where the one that started it runs, and may stay there for 20 ms before Linux moves it to an idle
  // processor. A thread of the team that shares its processor with one before it goes to one that has none of them, if
  // it may; where it runs afterwards is again the system's choice. (Threads that OMP_PROC_BIND places are apart.)
  SOUS_SELDOM static void move_apart(const int* places, int own, int team) {
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
  SOUS_SELDOM static void in_child() {
    thread_state().started = 0;
    lost_ = gccs_;
    Team::forget_lock();
  }
};
#endif

// What an entry holds around its parallel regions. Usable, if no such region of this thread is under way (a signal
// handler that came in between must not send a team out), and the process is no child in which gcc's OpenMP runtime
// would wait for the threads of the parent. Nor is it usable with fewer threads than `least`, or before the calls so
// far would have gained (`gain`, in seconds) what starting threads costs: whoever waits so long pays at most twice what
// the best choice in hindsight would have cost, whether many calls come or few (the ski-rental rule).
class Threads {
 public:
  explicit Threads(int wanted, int least = 1, double gain = 1)
      : wanted_(wanted), usable_(Entrance::enter(wanted, least, gain)) {}
  ~Threads() {
    if (usable_) Entrance::leave(wanted_);
  }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  bool usable() const { return usable_; }

  // Whether that would be so: asked ahead of the entry by its caller, it takes and starts nothing. What the call gains
  // counts here, and the one who holds the threads then gives none.
  static bool pay(int wanted, int least = 1, double gain = 1) { return Entrance::pay(wanted, least, gain); }

 private:
  const int wanted_;
  const bool usable_;
};
#endif

}  // namespace
}  // namespace sous
