// What the threads of regions know of themselves.
#pragma once

#include <stdint.h>

#ifdef _OPENMP
namespace sous {

#define SOUS_HIDDEN __attribute__((visibility("hidden")))

// What each thread of the program has, zero at first.
struct ThreadState {
  volatile int busy;
  int started;
  bool has_team;  // ours
  bool counted;   // among those who have had it
  double gained;
  int number, others;  // in the region that it runs; the threads beside it
};
#ifdef SOUS_LOADED
// Libraries that are loaded later soon use up what a program has of such memory when it starts: theirs is found by a
// call, which allocates it the first time. clang 19 takes for granted that this call leaves the vector registers 16
// to 31 as they are, and an allocation need not: in a function of its own it is a call like any other.
SOUS_HIDDEN __attribute__((noinline)) inline ThreadState& thread_state() {
  static thread_local ThreadState state;
  return state;
}
#else
SOUS_HIDDEN __attribute__((tls_model("initial-exec"))) inline thread_local ThreadState thread_state_;
static inline ThreadState& thread_state() { return thread_state_; }
#endif

}  // namespace sous
#endif
