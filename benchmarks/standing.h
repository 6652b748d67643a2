// Whether Sous pays, for whole programs: held not against one compiler but, program by program, against the best of
// all others of the session.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "benchmarks/summary.h"

namespace sous::benchmarks {

// One column of Sous in one row of a summary.
struct Standing {
  std::string program;
  std::string best;                     // the other compiler whose right result came soonest
  Interval ratio;                       // its time / Sous's: larger is faster
  std::optional<Interval> to_baseline;  // the baseline's time / Sous's
  std::optional<double> user;           // processor time in user mode: Sous's / the baseline's
  bool same_output = true;              // to the byte, as the first compiler's
  std::vector<std::string> functions;   // with nests that were served
};

// Faster or slower is what the interval of the ratio says, slower by more than the noise of a quiet machine.
constexpr double slower_by = 0.03;
bool is_faster(const Interval& ratio);
bool is_slower(const Interval& ratio);

// Of `column`, a compiler of the summary, in each row where it and another one have right results.
std::vector<Standing> standings(const SuiteSummary& summary, const std::string& column);

// For a terminal: a table for each of Sous's columns, its means and counts. Empty where no line is of a whole program.
std::string against_the_best(const SuiteSummary& summary);

}  // namespace sous::benchmarks
