// Measuring the programs of a suite with several compilers, in one interleaved session.
//
// Times of a shared machine drift, so only ratios within one session mean something: for each program all builds are
// made first, each runs once as warm-up (and is checked against the reference build), then they take turns, A B C A B
// C, until each has `runs` times. The median is the figure, half the interquartile range its spread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/build.h"
#include "benchmarks/launcher_report.h"
#include "benchmarks/outputs.h"
#include "benchmarks/progress.h"
#include "benchmarks/suite.h"
#include "tuning-db/hardware.h"

namespace sous::benchmarks {

struct Plan {
  std::vector<Case> cases;
  std::vector<Compiler> compilers;
  Words flags;            // for every compiler
  Words reference_flags;  // of the build that outputs are checked against (clang-19)
  bool reference = true;  // false: outputs are checked against the first compiler's
  int runs = 5;
  int threads = 0;  // 0: as the environment says
};

// What one compiler gave for one case.
struct Measurement {
  std::string compiler;
  std::optional<Error> error;  // it could not be built, run or compared: nothing below holds
  std::vector<double> seconds;
  double build_seconds = 0;
  Comparison check;
  std::optional<LauncherReport> report;  // of a build through Sous

  double median_seconds() const;
  double spread() const;
};
struct CaseResult {
  Case test;
  std::vector<Measurement> measurements;  // in the order of the plan's compilers

  const Measurement* find(const std::string& compiler) const;  // that has times
};

// The largest difference that counts as right: reassociation and contraction round differently, other values mean a
// wrong program. Integers must be equal.
double tolerance(Element element);
bool is_right(const Measurement& measurement, Element element);

// Measures one case. Builds lie in `folder`. Only the reference can fail as a whole; the rest is in the measurements.
// Errors: as of build and run_and_dump.
Result<CaseResult> measure(const Suite& suite, const Case& test, const Plan& plan, const std::string& folder,
                           Progress& progress);

// One line of JSON per measurement, keys sorted.
std::string to_json_line(const Suite& suite, const Plan& plan, const CaseResult& result, const Measurement& measurement,
                         const tuning_db::Hardware& hardware);

// Median and spread per compiler, ratios against `baseline` (larger is faster), their geometric means.
std::string summary_table(const Suite& suite, const Plan& plan, const std::vector<CaseResult>& results,
                          const std::string& baseline);

}  // namespace sous::benchmarks
