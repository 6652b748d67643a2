// Measuring the programs of a suite with several compilers, in one interleaved session.
//
// Times of a shared machine drift, so only ratios within one session mean something: for each program all builds are
// made first, each runs once as warm-up (and is checked against the reference build), then they take turns, A B C A B
// C, until each has its runs. The median is the figure, half the interquartile range its spread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "benchmarks/build.h"
#include "benchmarks/launcher_report.h"
#include "benchmarks/outputs.h"
#include "benchmarks/progress.h"
#include "benchmarks/schedule.h"
#include "benchmarks/suite.h"

namespace sous::benchmarks {

struct Plan {
  std::vector<Case> cases;
  std::vector<Compiler> compilers;  // the first is what the others are held against
  Words flags;                      // for every compiler
  Words reference_flags;            // of the build that outputs are checked against (clang-19)
  bool reference = true;            // false: outputs are checked against the first compiler's
  int runs = 5;
  int threads = 0;      // of compilers that do not say; 0: as the environment says
  double seconds = -1;  // for the runs of one case, as of further_runs
};

// What one compiler gave for one case.
struct Measurement {
  std::string compiler;
  bool applies = true;         // false: the compiler has no sources for this program, and nothing below holds
  std::optional<Error> error;  // it could not be built, run or compared: nothing below holds, but the limit
  double limit_seconds = 0;    // how long the program was given, where it was stopped
  std::vector<double> seconds;
  std::vector<double> user;  // the processor's seconds of the same runs; only of whole programs
  Cost cost;                 // of a run
  int wanted_runs = 0;
  bool complete = true;  // false: the session was stopped before all runs
  double build_seconds = 0;
  std::string library;
  Comparison check;
  std::optional<LauncherReport> report;  // of a build through Sous

  double median_seconds() const;
  double spread() const;
};
struct CaseResult {
  Case test;
  std::vector<Measurement> measurements;  // in the order of the plan's compilers
};

// The largest difference that counts as right: reassociation and contraction round differently, other values mean a
// wrong program. Integers must be equal. A program that magnifies rounding has a tolerance of its own; and whatever it
// magnifies, floats that differ no more than `own` are as right as those of the yardstick, plain clang in the session.
double tolerance(Element element);
bool is_right(const Measurement& measurement, const Program& program, Element element, double own = 0);
inline constexpr const char* yardstick = "clang";  // a column's name
// 0: the yardstick is not in the session, or failed, or is none.
double own_difference(const CaseResult& result);

// A case whose builds are made, checked and warm.
struct Prepared {
  CaseResult result;
  std::vector<std::string> binaries;  // of the plan's compilers
};
// Builds lie in `folder`. A build that takes over four times as long as the first compiler's, and ten seconds, is
// stopped. Only the reference can fail as a whole, and the user can stop it (client.stopped); the rest is in the
// measurements. Errors: as of build and run_and_dump.
Result<Prepared> prepare(const Suite& suite, const Case& test, const Plan& plan, const std::string& folder,
                         Progress& progress);

// The runs in turns: `further` for each compiler. Where the user stops it, what was measured is kept.
CaseResult take_turns(const Suite& suite, Prepared prepared, const Plan& plan, const std::vector<int>& further,
                      Progress& progress);

// Both, with as many runs as the plan says, or fit into its seconds.
Result<CaseResult> measure(const Suite& suite, const Case& test, const Plan& plan, const std::string& folder,
                           Progress& progress);

}  // namespace sous::benchmarks
