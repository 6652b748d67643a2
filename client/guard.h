// The last line of defence of a build: where Sous itself faults, aborts or hangs while it looks at a file, this process
// becomes the original compiler command, as if there were no Sous. Every such case is a bug of Sous: it is said on
// standard error and in $SOUS_REPORT.
//
// SOUS_GUARD=0 takes the guard away, for tests and debuggers: a fault is then a fault. Builds with sanitizers have
// none.
#pragma once

#include <string>
#include <vector>

namespace sous::client {

// Processor seconds of Sous itself (not of the compilers that it runs) after which it counts as hanging. Far above what
// any file takes (the largest known, an amalgamation of 240,000 lines, needs some seconds), and so never reached by a
// sound build: no result depends on the clock.
inline constexpr int guard_seconds = 60;

// Whether guard_with does anything in this build: sanitizers are to see the fault.
bool guards();

// From here on until the process ends or stop_guarding. `command`: the original; `file`: what is looked at.
// Both are copied. At most one guard in a process.
void guard_with(const std::vector<std::string>& command, const std::string& file);
// What a guard that acts writes besides, in place of what the file at the path holds: who sees it knows what the
// process was at.
struct LeftBehind {
  std::string path, text;
};
// From now on; null: nothing. It stays where it is until it is replaced.
void leave_behind(const LeftBehind* what);
// Before this process becomes another program, to which a timer would go over.
void stop_guarding();

}  // namespace sous::client
