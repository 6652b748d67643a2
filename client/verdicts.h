// What earlier compiles found out about files that are the compiler's alone, kept in the result cache: the next compile
// leaves them as they are without preprocessing them. A verdict that is out of date costs a nest its recipe for one
// build, never a result: so times and sizes of files are enough.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/command_line.h"
#include "client/result_cache.h"
#include "frontends/c/loop_bound.h"
#include "transforms/source.h"

namespace sous::client {

// What becomes of an input depends on this and on its preprocessed text.
std::vector<std::string> compile_state(const Options& options, const CommandLine& line, const Input& input,
                                       const std::string& compiler);

// Of what the sources of recipes know; files that have none of it are left as they are. Nullopt: nobody asked the
// sources yet, in their present state.
std::optional<transforms::Reach> known_reach(const ResultCache& cache, const Options& options);
void keep_reach(const ResultCache& cache, const Options& options, const transforms::Reach& reach);
// Why no source knows a nest of the file; nullopt: one may.
std::optional<std::string> beyond(const transforms::Reach& reach, const frontends::c::LoopBound& bound);

// Of a file that was looked into for nothing.
inline constexpr const char* nothing_served = "nothing is served";

// Why an input was left as it is, and the report and its facts where it was looked into.
struct Left {
  std::string why, report, facts;
  std::vector<Asked> asked = {};  // what that rests on
};
// `input` was left as it is, and nothing that it is made of has changed since.
std::optional<Left> unchanged(const ResultCache& cache, const Options& options, const CommandLine& line,
                              const Input& input, const std::string& compiler);
// `preprocessed`: its line markers name the files.
void keep_unchanged(const ResultCache& cache, const Options& options, const CommandLine& line, const Input& input,
                    const std::string& compiler, const std::string& preprocessed, const Left& left);

// Where the command line lets the compiler's preprocessor look. Nullopt: not told by the command line alone.
std::optional<frontends::c::IncludeSearch> include_search(const CommandLine& line, const std::string& compiler);

}  // namespace sous::client
