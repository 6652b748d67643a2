// Options of `sous bench`: one table gives parsing and help.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "benchmarks/suite.h"
#include "sdfg/result.h"

namespace sous::benchmarks {

struct Options {
  std::string kernels;  // comma-separated names and groups; empty: all
  Words sizes;          // empty: the command's own default
  Words types;
  std::string compilers;  // of compilers.h; empty: the suite's
  std::string flags = "-O3 -march=native";
  std::string reference = "-O0 -ffp-contract=off";
  std::string recipes;  // folder of seed files for verify; empty: those that come with Sous; "none"
  std::string targets;  // for verify
  std::string out;
  std::string config;                    // a file of compilers
  std::string suite = "polybench";       // for verify
  std::string baseline;                  // for report, compare and keep; empty: the first compiler of the file
  std::string build_only;                // for shapes: a folder for the programs
  std::string results;                   // for keep: folder of the kept ratios; empty: the one in the sources
  double budget = 0;                     // seconds; 0: none
  double entries = 100'000, rate = 200;  // for serve: of the database; requests a second
  int servers = 1;                       // for serve
  std::optional<double> noise;           // for compare and spellings
  bool resume = false;
  bool json = false;
  int runs = 5;
  int threads = 0;
  int jobs = 0;
  bool check = true;
  Words words;  // what is no option
};

// Errors: cli.unknown-option, cli.value.
Result<Options> parse_options(const Words& arguments);
// The table as text.
std::string options_help();

}  // namespace sous::benchmarks
