// Measurements as lines of JSON: what --out writes, and what --resume, report, compare and keep read.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/statistics.h"
#include "sdfg/result.h"
#include "tuning-db/hardware.h"

namespace sous::benchmarks {

// One build of one program at one size and type, in one session.
struct Line {
  std::string suite, program, size, type;
  std::string compiler;  // the column: "sous@1"
  std::string commands;  // that built it, as JSON; paths of the session's own folder are not in it
  std::string identity;  // what the compiler says about itself
  std::string library;   // what the program said that it calls, with its version
  std::string session;   // when the session began: only times of one session may be compared
  std::string date;
  int threads = 0;  // 0: as the environment said
  bool fast_math = false;
  tuning_db::Hardware machine;  // with the peaks measured right before this program
  // Of a build that failed, the error and, where it was stopped for taking too long, how long it was given.
  std::optional<Error> error;
  double limit_seconds = 0;
  // Of one that did not:
  std::vector<double> runs;  // seconds
  std::vector<double> user;  // the processor's seconds of the same runs; only of whole programs
  int wanted_runs = 0;
  bool warmup_counted = false;  // the first of `runs` is the warm-up
  bool complete = true;         // false: the session was stopped before all its runs
  double build_seconds = 0;     // beside other builds: `sous bench compile-time` measures it
  double difference = 0;        // of the outputs from the unoptimized build's
  bool bit_equal = false;
  bool right = false;
  std::vector<std::string> recipes;    // of Sous: the entries whose recipes were used in the timed functions
  std::vector<std::string> functions;  // of Sous: the timed functions of which nests were served

  bool timed() const { return !error && !runs.empty(); }
  // The case that it belongs to.
  std::string label() const { return program + " " + size + " " + type; }
};

std::string to_json_line(const Line& line);
// Errors: results.json, results.budget, results.field, and those of the machine.
Result<Line> parse_line(std::string_view json);

// All lines of a text. What stands behind the last newline is dropped if it is no whole line: a session may have been
// killed while it wrote. Of lines for the same compiler and case the last holds. Errors: as parse_line, with the number
// of the line.
Result<std::vector<Line>> parse_lines(std::string_view text);
// Errors: as above, client.read.
Result<std::vector<Line>> read_lines(const std::string& path);

// Makes the file end behind its last whole line, so that more can be appended. A file that is not there is left so.
// Error: bench.out.
Result<void> drop_half_line(const std::string& path);

}  // namespace sous::benchmarks
