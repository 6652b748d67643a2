// Runs a program that looks at a stranger's text: confined (server/confinement.h), with limits of time, memory and
// output, an environment of its own, and gone with all that it started when it is over.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "sdfg/result.h"

namespace sous::server {

struct ProcessLimits {
  std::chrono::seconds processor{5};          // all its threads together
  std::chrono::milliseconds time{10'000};     // on the wall
  std::size_t memory = std::size_t{2} << 30;  // addresses
  std::size_t output = std::size_t{8} << 20;  // both pipes together
};

inline constexpr int not_run = 126;  // exit status: the program was not begun. The same and one: `errors` say why

struct Ended {
  int status = 0;  // exit status, or 128 + the signal that ended it
  std::string output, errors;
};

// In `folder`, which it may read. Errors: confine.*; process.start, process.time, process.output.
Result<Ended> run_limited(const std::filesystem::path& program, const std::vector<std::string>& words,
                          const std::filesystem::path& folder, const ProcessLimits& limits = {});

}  // namespace sous::server
