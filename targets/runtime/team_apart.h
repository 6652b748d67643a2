// What parallel regions need of the team where it is compiled by itself (team_object.h), once for many files: it is the
// same in all of them, and takes a compiler twice as long as most nests do.
#pragma once

#include <stdint.h>

#include "targets/runtime/thread_state.h"

#ifndef _OPENMP
#error "without OpenMP there is no team"
#endif

// Of the object that is joined with this file's: no other sees them.
extern "C" {
SOUS_HIDDEN bool sous_team_enter(int wanted, int least, double gain);
SOUS_HIDDEN bool sous_team_pay(int wanted, int least, double gain);
SOUS_HIDDEN void sous_team_leave(int wanted);
SOUS_HIDDEN int sous_team_threads(int wanted);
SOUS_HIDDEN void sous_team_run(bool pays, int wanted, void (*run)(const void*), const void* body);
SOUS_HIDDEN void sous_team_lock();
SOUS_HIDDEN void sous_team_unlock();
}

namespace sous {
namespace {  // targets/runtime/sous.h says why

struct Entrance {
  static bool enter(int wanted, int least, double gain) { return sous_team_enter(wanted, least, gain); }
  static bool pay(int wanted, int least, double gain) { return sous_team_pay(wanted, least, gain); }
  static void leave(int wanted) { sous_team_leave(wanted); }
};

struct Team {
  static void lock() { sous_team_lock(); }
  static void unlock() { sous_team_unlock(); }
};

inline int threads(int wanted) { return sous_team_threads(wanted); }
inline void run_region(bool pays, int wanted, void (*run)(const void*), const void* body) {
  sous_team_run(pays, wanted, run, body);
}

}  // namespace
}  // namespace sous
