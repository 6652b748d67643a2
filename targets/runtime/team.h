// The threads that regions run on where the program has no OpenMP runtime of its own: started when a region first pays,
// asleep when there is nothing to do, gone with the process or the library. Starting one takes 20 to 30 us
// (docs/decisions/039).
#pragma once

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

// Of what runs once in a program, or waits for other threads anyway, each object has its copy, and building it is what
// it costs: it is not optimized, and not copied to where it is called.
#if defined(__clang__)
#define SOUS_SELDOM __attribute__((noinline, cold, optnone))
#else
#define SOUS_SELDOM __attribute__((noinline, cold))
#endif
// What a call costs nobody feels: once in an object is enough.
#define SOUS_ONCE __attribute__((noinline))

#ifdef _OPENMP
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "targets/runtime/thread_state.h"

extern "C" {
// Programs that are linked statically need not have these, nor any where glibc before 2.34 has them in a library of
// their own. What names dlopen itself is warned of by static links.
__attribute__((weak)) void* dlsym(void*, const char*) noexcept;
__attribute__((weak)) int dladdr(const void*, Dl_info*) noexcept;
// Only glibc before 2.34 has these in libraries of their own, which a link need not name.
__attribute__((weak)) int pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
__attribute__((weak)) int pthread_attr_setaffinity_np(pthread_attr_t*, size_t, const cpu_set_t*);
#if !__GLIBC_PREREQ(2, 34)
__attribute__((weak)) int pthread_setcancelstate(int, int*);
__attribute__((weak)) int pthread_join(pthread_t, void**);
__attribute__((weak)) int pthread_key_create(pthread_key_t*, void (*)(void*));
__attribute__((weak)) int pthread_key_delete(pthread_key_t);
__attribute__((weak)) int pthread_setspecific(pthread_key_t, const void*);
#endif
}

namespace sous {

// What there is one of in a program or library, whatever each of its files is compiled with.
struct SOUS_HIDDEN TeamState {
  using Run = void (*)(void*);

 protected:
  static constexpr int limit = 256;
  struct Region {
    int size;
    Run run;
    void* shared;
  };
  // What they wait for, and what is waited for: each in a line of the cache of its own.
  struct alignas(64) Call {
    uint32_t round, asleep;
  };
  struct alignas(64) Done {
    uint32_t round;
  };
  SOUS_HIDDEN inline static int taken_ = 0, watches_forks_ = 0, workers_ = 0, most_ = 0, thread_limit_ = 0;
  SOUS_HIDDEN inline static int users_ = 0, has_key_ = 0;
  SOUS_HIDDEN inline static pthread_key_t key_{};
  SOUS_HIDDEN inline static cpu_set_t allowed_{};
  SOUS_HIDDEN inline static pthread_t threads_[limit]{};
  SOUS_HIDDEN inline static Region region_{};
  SOUS_HIDDEN inline static Call calls_[limit]{};
  SOUS_HIDDEN inline static Done done_[limit]{};
  alignas(64) SOUS_HIDDEN inline static uint32_t sleeps_ = 0;
  SOUS_HIDDEN inline static int locked_ = 0;
};

namespace {  // targets/runtime/sous.h says why

// One thread of the program at a time may send it out.
class Team : public TeamState {
 public:
  static bool possible() { return pthread_create != nullptr; }
  static bool take() { return __atomic_exchange_n(&taken_, 1, __ATOMIC_ACQUIRE) == 0; }
  static bool taken() { return __atomic_load_n(&taken_, __ATOMIC_RELAXED) != 0; }
  static void give() { __atomic_store_n(&taken_, 0, __ATOMIC_RELEASE); }
  // The one who has it included.
  static int size() { return 1 + __atomic_load_n(&workers_, __ATOMIC_RELAXED); }

  // Takes threads until there are so many, or as many as there can be. Signals are blocked meanwhile: new threads
  // inherit that, and take none.
  SOUS_SELDOM static void grow(int size) {
    size = size < limit ? size : limit;
    if (size <= Team::size()) return;
    if (has_key_ == 0 && pthread_key_create(&key_, leave) == 0) has_key_ = 1;
    if (__atomic_exchange_n(&watches_forks_, 1, __ATOMIC_RELAXED) == 0) pthread_atfork(nullptr, nullptr, forget);
    cpu_set_t one;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return;
    // A thread begins where the one that starts it runs, and may stay there for 20 ms before Linux moves it to an idle
    // processor: it is given one to begin on, and is free as soon as it runs.
    bool placed = pthread_attr_setaffinity_np != nullptr && sched_getaffinity(0, sizeof allowed_, &allowed_) == 0 &&
                  CPU_COUNT(&allowed_) > 0;
    int processor = placed ? sched_getcpu() : 0;
    while (Team::size() < size) {
      if (placed) {
        do {
          processor = (processor + 1) % CPU_SETSIZE;
        } while (!CPU_ISSET(processor, &allowed_));
        CPU_ZERO(&one);
        CPU_SET(processor, &one);
        pthread_attr_setaffinity_np(&attributes, sizeof one, &one);
      }
      // Its number, and the round that it has not to run any more.
      const int own = workers_ + 1;
      const uintptr_t birth = static_cast<uintptr_t>(own) << 32 | calls_[own].round;
      calls_[own].asleep = 0;
      done_[own].round = calls_[own].round;
      if (pthread_create(&threads_[workers_], &attributes, placed ? work_anywhere : work,
                         reinterpret_cast<void*>(birth)) != 0) {
        if (!placed) break;
        // It may be that it cannot be placed, by a sandbox or as that processor has gone: anywhere, then.
        placed = false;
        pthread_attr_destroy(&attributes);
        if (pthread_attr_init(&attributes) != 0) return;
        continue;
      }
      __atomic_store_n(&workers_, workers_ + 1, __ATOMIC_RELAXED);
    }
    pthread_attr_destroy(&attributes);
  }

  // As many as the program's environment says that OpenMP has, else one for each processor that it may use.
  static int most() {
    const int all = __atomic_load_n(&most_, __ATOMIC_RELAXED);
    return all > 0 ? all : find_most();
  }
  // What a nest wants, as far as the environment allows it.
  static int at_most(int wanted) {
    int most = __atomic_load_n(&thread_limit_, __ATOMIC_RELAXED);
    if (most == 0) most = find_limit();
    return wanted < most ? wanted : most;
  }
  // Who has it, with threads: they go when the last thread that had it ends, since a program whose first thread ends by
  // pthread_exit lives as long as any of its threads does.
  static void count(ThreadState& state) {
    if (!state.counted && has_key_ != 0 && workers_ != 0) count_now(state);
  }

  // On `size` of its threads, the caller included, which has taken it and is the first. The others know nothing of it.
  SOUS_ONCE static void run(ThreadState& own_state, int size, Run run, void* shared) {
    region_ = {size, run, shared};
    call(size);
    run_as(own_state, 0, size, run, shared);
    for (int own = 1; own < size; ++own) {
      const uint32_t *done = &done_[own].round, before = calls_[own].round - 1;
      if (!stays(done, before)) continue;
      __atomic_store_n(&sleeps_, 1, __ATOMIC_SEQ_CST);
      while (__atomic_load_n(done, __ATOMIC_SEQ_CST) == before) sleep_while(done, before);
      __atomic_store_n(&sleeps_, 0, __ATOMIC_RELAXED);
    }
  }
  // How often the thread with this number was.
  static uint32_t called(int number) { return calls_[number].round; }
  // Inside of a region: one of its threads after the other.
  static void lock() {
    while (__atomic_exchange_n(&locked_, 1, __ATOMIC_ACQUIRE) != 0) sched_yield();
  }
  static void unlock() { __atomic_store_n(&locked_, 0, __ATOMIC_RELEASE); }
  // In a child of `fork`, where whoever had it is not.
  static void forget_lock() { locked_ = 0; }

  // Before the code goes that they run. Nobody starts any afterwards: the library's own destructors may still come
  // here.
  SOUS_SELDOM static void end() {
    // Once, though each object of the library comes here: the next one to ask gets the same key.
    if (__atomic_exchange_n(&has_key_, 0, __ATOMIC_RELAXED) != 0) pthread_key_delete(key_);
    if (take()) dismiss();  // for good
  }

  // What it runs knows its number in the team, and how many they are.
  SOUS_ONCE static void run_as(ThreadState& state, int number, int size, Run run, void* shared) {
    const int number_before = state.number, others_before = state.others;  // of what a signal handler interrupts
    state.number = number;
    state.others = size - 1;
    run(shared);
    state.number = number_before;
    state.others = others_before;
  }

 private:
  SOUS_SELDOM static int find_most() {
    const int errno_before = errno;
    cpu_set_t allowed;
    int all = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed)
                                                                  : static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    all = said("OMP_NUM_THREADS", all);
    all = at_most(all < 1 ? 1 : all);
    __atomic_store_n(&most_, all, __ATOMIC_RELAXED);
    errno = errno_before;
    return all;
  }
  SOUS_SELDOM static int find_limit() {
    const int errno_before = errno;
    const int most = said("OMP_THREAD_LIMIT", limit);
    errno = errno_before;
    __atomic_store_n(&thread_limit_, most, __ATOMIC_RELAXED);
    return most;
  }
  SOUS_SELDOM static int said(const char* name, int otherwise) {
    const char* text = getenv(name);
    const long value = text != nullptr ? strtol(text, nullptr, 10) : 0;
    return value < 1 ? otherwise : value > limit ? limit : static_cast<int>(value);
  }

  SOUS_SELDOM static void count_now(ThreadState& state) {
    if (pthread_setspecific(key_, &state) != 0) return;
    state.counted = true;
    __atomic_add_fetch(&users_, 1, __ATOMIC_SEQ_CST);
  }
  SOUS_SELDOM static void dismiss() {
    region_ = {0, nullptr, nullptr};
    call(size());
    for (; workers_ > 0; --workers_) pthread_join(threads_[workers_ - 1], nullptr);
  }
  SOUS_SELDOM static void leave(void*) {
    thread_state().counted = false;
    thread_state().started = 0;
    if (__atomic_sub_fetch(&users_, 1, __ATOMIC_SEQ_CST) > 0 || !take()) return;
    dismiss();
    give();
  }

  // Lets the first ones of the team look at the region. Who waits for a word of its own is not disturbed by a region
  // of others, and nobody sleeps through one.
  SOUS_ONCE static void call(int size) {
    for (int own = 1; own < size; ++own) __atomic_store_n(&calls_[own].round, calls_[own].round + 1, __ATOMIC_RELEASE);
    // Either it is seen here that a thread sleeps, or there that it is called.
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (int own = 1; own < size; ++own)
      if (__atomic_load_n(&calls_[own].asleep, __ATOMIC_RELAXED) != 0) wake(&calls_[own].round);
  }

  SOUS_SELDOM static void* work_anywhere(void* birth) {
    sched_setaffinity(0, sizeof allowed_, &allowed_);
    return work(birth);
  }
  SOUS_SELDOM static void* work(void* birth) {
    const auto packed = reinterpret_cast<uintptr_t>(birth);
    const int own = static_cast<int>(packed >> 32);
    ThreadState& state = thread_state();
    state.busy = 1;  // for handlers of what it raises itself
    Call& mine = calls_[own];
    for (auto round = static_cast<uint32_t>(packed);;) {
      if (stays(&mine.round, round)) {
        __atomic_store_n(&mine.asleep, 1, __ATOMIC_SEQ_CST);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        while (__atomic_load_n(&mine.round, __ATOMIC_ACQUIRE) == round) sleep_while(&mine.round, round);
        __atomic_store_n(&mine.asleep, 0, __ATOMIC_RELAXED);
      }
      if (region_.run == nullptr) return nullptr;
      run_as(state, own, region_.size, region_.run, region_.shared);
      __atomic_store_n(&done_[own].round, ++round, __ATOMIC_SEQ_CST);
      if (__atomic_load_n(&sleeps_, __ATOMIC_SEQ_CST) != 0) wake(&done_[own].round);
    }
  }

  // Whether the value stays the same for a millisecond. First at work, since most waits are short; then letting others
  // have the processor, on a busy machine the thread among them that is waited for.
  SOUS_ONCE static bool stays(const uint32_t* value, uint32_t same) {
    constexpr int64_t at_work = 20'000, at_all = 1'000'000;  // ns
    int64_t begin = 0;
    while (true) {
      for (int k = 0; k < 64; ++k) {
        if (__atomic_load_n(value, __ATOMIC_ACQUIRE) != same) return false;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
      }
      timespec now;
      clock_gettime(CLOCK_MONOTONIC, &now);
      const int64_t time = now.tv_sec * INT64_C(1'000'000'000) + now.tv_nsec;
      if (begin == 0) begin = time;
      if (time - begin > at_all) return true;
      if (time - begin > at_work) sched_yield();
    }
  }
  SOUS_SELDOM static void sleep_while(const uint32_t* value, uint32_t is) { futex(value, FUTEX_WAIT_PRIVATE, is); }
  SOUS_SELDOM static void wake(const uint32_t* value) { futex(value, FUTEX_WAKE_PRIVATE, INT32_MAX); }
  // Without `syscall`, which C leaves to the program: it may have a function of that name.
  SOUS_SELDOM static void futex(const uint32_t* value, long operation, long number) {
#if defined(__x86_64__)
    long result = SYS_futex;
    register long timeout __asm__("r10") = 0;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(value), "S"(operation), "d"(number), "r"(timeout)
                     : "rcx", "r11", "memory");
#elif defined(__aarch64__)
    register const void* first __asm__("x0") = value;
    register long second __asm__("x1") = operation, third __asm__("x2") = number, fourth __asm__("x3") = 0,
                         call __asm__("x8") = SYS_futex;
    __asm__ volatile("svc 0" : "+r"(first) : "r"(second), "r"(third), "r"(fourth), "r"(call) : "memory");
#else
    const int errno_before = errno;
    syscall(SYS_futex, value, operation, number, nullptr, nullptr, 0);
    errno = errno_before;
#endif
  }

  // A child has but the thread that made it.
  SOUS_SELDOM static void forget() {
    thread_state().started = 0;
    users_ = thread_state().counted ? 1 : 0;
    workers_ = 0;
    taken_ = 0;
    sleeps_ = 0;
    forget_lock();
  }
};

// With the program the threads end by themselves. What was compiled for one may be in a library all the same: its head
// is not the program's then.
#ifdef __PIC__
extern "C" __attribute__((weak)) SOUS_HIDDEN const char __ehdr_start[];
inline bool of_program() {
  constexpr uintptr_t page = 4096;
  return __ehdr_start != nullptr && getauxval(AT_PHDR) - reinterpret_cast<uintptr_t>(__ehdr_start) < page;
}
__attribute__((destructor, used)) static void end_team() {
  if (!of_program()) Team::end();
}
#endif

}  // namespace
}  // namespace sous
#endif
