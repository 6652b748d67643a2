// The team, for files that are compiled with SOUS_TEAM_APART: compiled as a file of its own and joined with each of
// them, which then has a copy of its own, as it has where it is compiled with it.
#pragma once

#include "targets/runtime/threads.h"

extern "C" {
SOUS_HIDDEN bool sous_team_enter(int wanted, int least, double gain) {
  return sous::Entrance::enter(wanted, least, gain);
}
SOUS_HIDDEN bool sous_team_pay(int wanted, int least, double gain) { return sous::Entrance::pay(wanted, least, gain); }
SOUS_HIDDEN void sous_team_leave(int wanted) { sous::Entrance::leave(wanted); }
SOUS_HIDDEN int sous_team_threads(int wanted) { return sous::threads(wanted); }
SOUS_HIDDEN void sous_team_run(bool pays, int wanted, void (*run)(const void*), const void* body) {
  sous::run_region(pays, wanted, run, body);
}
SOUS_HIDDEN void sous_team_lock() { sous::Team::lock(); }
SOUS_HIDDEN void sous_team_unlock() { sous::Team::unlock(); }
}
