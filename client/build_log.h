// What the launcher did in a whole build, for programs that read it: one JSON line per C input (or per command that
// passes through), appended to one file by all processes of the build. $SOUS_REPORT names it.
//
// A line is written with one write() on a descriptor opened with O_APPEND: lines of processes that run at the same time
// do not mix. stats.h has the short form of it, which is kept by default.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sous::client {

// What became of an input.
enum class Fate {
  Pass,    // not looked at: no C at -O2 or above, an option that is not understood
  Link,    // nothing to compile
  Left,    // looked at, and compiled as it is
  Served,  // joined with generated code
  Crash,   // a fault or a hang of ours; the compiler ran as if there were no Sous
};
std::string_view to_string(Fate fate);

struct LogEntry {
  Fate fate = Fate::Pass;
  std::string why = {};
  std::string compiler = {};
  std::vector<std::string> options = {};  // of the compile: neither inputs nor outputs
  std::string file = {};                  // as given; for Pass the first input
  std::string object = {};                // what is written
  // Where the file was looked into: the report as JSON, and what stats_facts makes of it.
  std::string report = {}, facts = {};
  bool cached = false;  // both are of an earlier compile, a hit in the result cache
};

// The line, with its line break. Times are those of this process: `seconds_own` is processor time of Sous itself,
// `seconds_children` that of the compilers that it ran and waited for.
std::string to_line(const LogEntry& entry, std::string_view folder, double seconds_own, double seconds_children);

// Appends the entry to $SOUS_REPORT, and its short form to the log of `sous stats`; a failure of the first is said on
// standard error and is no failure of the build.
void append_to_build_log(const LogEntry& entry);

}  // namespace sous::client
