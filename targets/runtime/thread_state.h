// What the threads of regions know of themselves.
#pragma once

#include <stdint.h>

#ifdef _OPENMP
namespace sous {

#define SOUS_HIDDEN __attribute__((visibility("hidden")))

// Code that may be in a library.
#if defined(SOUS_LOADED) || (defined(__PIC__) && !defined(__PIE__))
#define SOUS_LIBRARY
#endif

// What each thread of the program has, zero at first.
struct ThreadState {
  volatile int busy;
  int started;
  bool has_team;  // ours
  bool counted;   // among those who have had it
  double gained;
  int cancel;          // whether it could be cancelled before a region
  int number, others;  // in the region that it runs; the threads beside it
};
// In a library it is found by a call, which allocates it where the library was loaded by a program that runs: libraries
// soon use up what there is of such memory from the start. clang 19 takes for granted that this call leaves the vector
// registers 16 to 31 as they are, and an allocation need not: in a function of its own it is a call like any other.
#ifdef SOUS_LIBRARY
SOUS_HIDDEN inline thread_local ThreadState thread_state_;
namespace {  // targets/runtime/sous.h says why
__attribute__((noinline, const)) static ThreadState& thread_state() { return thread_state_; }
}  // namespace
#else
// What was compiled for a program may be put into a library all the same, where a link takes no access that only fits
// programs. clang makes such a one of what is hidden, whatever the attribute says.
SOUS_HIDDEN __attribute__((used, tls_model("initial-exec"))) inline thread_local ThreadState thread_state_;
namespace {
inline ThreadState& thread_state() {
#if defined(__clang__) && defined(__PIE__) && defined(__x86_64__)
  ThreadState* state;
  __asm__(
      "{movq %%fs:0, %0|mov %0, qword ptr fs:[0]}\n\t"
      "{addq _ZN4sous13thread_state_E@GOTTPOFF(%%rip), %0|add %0, qword ptr [rip + _ZN4sous13thread_state_E@GOTTPOFF]}"
      : "=r"(state));
  return *state;
#else
  return thread_state_;
#endif
}
}  // namespace
#endif

}  // namespace sous
#endif
