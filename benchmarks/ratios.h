// Ratios against one compiler of the same session: what can be compared between sessions, and is kept for each class of
// machines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/statistics.h"
#include "benchmarks/summary.h"
#include "sdfg/result.h"

namespace sous::benchmarks {

struct Ratio {
  std::string suite, program, size, type, compiler, baseline;
  std::string machine;  // its class
  std::string date;
  Interval ratio;     // larger is faster; nothing of it holds where the result was not right
  bool right = true;  // false: wrong, or it could not be built or run

  std::string label() const { return program + " " + size + " " + type + ", " + compiler; }
  bool operator==(const Ratio&) const = default;
};

// Of each cell but the baseline's that has a ratio, failed, or was wrong.
std::vector<Ratio> ratios_of(const SuiteSummary& summary);

// JSON lines, sorted, so that a change shows as a change of its lines.
std::string to_json_lines(std::vector<Ratio> ratios);
// Error: results.json, results.field, with the number of the line.
Result<std::vector<Ratio>> parse_ratios(std::string_view text);
// A file of measurements or one of kept ratios. Errors: as above and of read_lines.
Result<std::vector<Ratio>> read_ratios(const std::string& path, const std::string& baseline);

// What is in `kept`, with what is in `fresh` in place of the same program, size, type and compiler.
std::vector<Ratio> merged(const std::vector<Ratio>& kept, const std::vector<Ratio>& fresh);

enum class Change : std::uint8_t { None, Faster, Slower, NowWrong, NowRight, Added, Gone };
struct Difference {
  Ratio before, after;  // of one that was added or is gone, only one of them holds
  Change change = Change::None;

  double factor() const { return after.ratio.value / before.ratio.value; }
};
// Each ratio of one of the two. Faster or slower is what differs by more than `noise` (0.03 for 3 %) and whose
// intervals do not overlap.
std::vector<Difference> differences(const std::vector<Ratio>& before, const std::vector<Ratio>& after, double noise);

}  // namespace sous::benchmarks
