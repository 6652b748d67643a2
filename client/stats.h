// What a whole build got: one short JSON line per C input in a log that all compilers of all builds append to, and what
// `sous stats` and SOUS_SUMMARY=1 make of it.
//
// The log is $SOUS_LOG (a file, or "none"), by default build.log in the user's cache folder: like a compiler cache's
// counters it is there when one asks. Lines are appended with one write() each; past `longest_log` the file becomes
// build.log.old, in the place of the one before it. Nothing of it reaches an output of a build.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/build_log.h"
#include "sdfg/result.h"

namespace sous::client {

inline constexpr std::int64_t longest_log = 8 << 20;
inline constexpr std::size_t longest_logged_reason = 200;  // bytes

// Empty: none is kept.
std::filesystem::path stats_log_path();

struct Report;
// What a line says of the file's nests, as a JSON object.
std::string stats_facts(const Report& report);
// The line, with its line break. The times are as of to_line.
std::string to_stats_line(const LogEntry& entry, std::string_view folder, double seconds_own, double seconds_children);
// A log that cannot be written is no concern of the build.
void append_to_stats_log(const std::filesystem::path& path, const std::string& line);

struct LoggedNest {
  std::string file, function;
  int line = 0;
  bool served = false;
  double ratio = 0, work = 0;  // 0: unknown
  std::string why;
};
struct Logged {
  std::string fate, why, folder, file, object;
  std::string compiler;              // this and its options: where a nest was left as it is
  std::vector<std::string> options;  // neither inputs nor outputs
  double seconds_own = 0, seconds_children = 0;
  int lifted = 0, served = 0;
  std::map<std::string, int> unlifted;  // by code
  std::vector<LoggedNest> nests;        // the hottest
};
// Nothing for a line that is none of ours (cut off, or edited).
std::optional<Logged> parse_stats_line(std::string_view line);

// Of each object the last entry, in the log's order, where its source, its object or the folder that it was compiled in
// is below `folder`.
std::vector<Logged> latest_below(std::string_view log, const std::filesystem::path& folder);

// The nests that got nothing, hottest first, each once though several objects hold it (a header's, a file compiled
// twice).
struct Unserved {
  const Logged* entry;  // of `entries`
  const LoggedNest* nest;
};
std::vector<Unserved> unserved(const std::vector<Logged>& entries);

// What the log says of builds below a folder. `log`: empty for the default one. Errors: stats.no-log, stats.none.
Result<std::vector<Logged>> read_log(const std::filesystem::path& log, const std::filesystem::path& folder);

std::string stats_text(const std::vector<Logged>& entries);
// One line: "12 C files, 41 nests, 30 lifted, 4 served (promised 2.1 to 7.4 times as fast); Sous took 3.2 s".
std::string summary_line(const std::vector<Logged>& entries);

// Entries of what goes into a link: objects, members of archives, and sources that the command compiles itself.
std::vector<Logged> entries_of_link(const std::vector<std::string>& inputs);

}  // namespace sous::client
