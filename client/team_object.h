// The team that parallel regions run on, compiled once for all files of a build (targets/runtime/team_apart.h).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "client/generated_code.h"
#include "client/result_cache.h"

namespace sous::client {

// What the files are to be compiled with, to be joined with the object of team_object.
inline constexpr const char* team_apart_option = "-DSOUS_TEAM_APART";
// What it gives them, to which the joined object makes them local: a program may have names that begin alike.
inline constexpr std::array team_functions{"sous_team_enter", "sous_team_pay",  "sous_team_leave", "sous_team_threads",
                                           "sous_team_run",   "sous_team_lock", "sous_team_unlock"};

struct TeamObject {
  std::string path;
  std::string headers;  // that it was compiled with (header_states)
};

// An object in the folder, as it was kept of an earlier file with the same compiler, options and headers, or made and
// kept; it has no lines for debuggers, so that it is the same wherever it was made. Nullopt: the files bring the team
// themselves, as none has threads, or as one is CUDA's. `cache`: null where nothing is kept. Errors: those of
// compile_generated.
Result<std::optional<TeamObject>> team_object(const std::vector<targets::File>& files, GeneratedBuild build,
                                              const ResultCache* cache, const TemporaryFolder& folder);

}  // namespace sous::client
