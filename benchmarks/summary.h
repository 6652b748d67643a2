// What a set of measurements says: for each program the ratios against one compiler of the same session, and their
// geometric means.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "benchmarks/results.h"
#include "benchmarks/statistics.h"

namespace sous::benchmarks {

struct Cell {
  std::optional<Line> line;       // nothing: not measured, or the compiler has no sources for the program
  std::optional<Interval> ratio;  // baseline's time / this one's, larger is faster; only of a right result
  // Of a build that was stopped for taking too long: its ratio is below this.
  std::optional<double> ratio_below;
};
struct Row {
  std::string program, size, type;
  std::vector<Cell> cells;  // in the order of the summary's compilers

  std::string label() const { return program + " " + size + " " + type; }
};
struct SuiteSummary {
  std::string suite, baseline;
  std::vector<std::string> compilers;
  std::vector<Row> rows;
  std::vector<std::optional<Interval>> means;  // of each compiler's ratios, over its programs
};

// Programs and compilers in the order in which they appear. An empty baseline stands for the first compiler.
SuiteSummary summarize(const std::vector<Line>& lines, const std::string& baseline);

// For a terminal: the baseline's seconds and the others' ratios; below, the means with their intervals.
std::string to_table(const SuiteSummary& summary);
// For programs that draw: one object.
std::string to_json(const SuiteSummary& summary);

}  // namespace sous::benchmarks
