// What the launcher writes with --report, as far as the harness shows it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sdfg/result.h"

namespace sous::benchmarks {

struct ServedRecipe {
  std::string name;    // what the entry was measured on
  std::string recipe;  // as text
  double distance = 0;
  std::string hardware;  // the class that it was measured on
};
struct NestSummary {
  std::string function;
  int line = 0;
  bool served = false;
  std::string why;
  std::string target;
  int threads = 0;
  std::vector<ServedRecipe> used;
  int applied_steps = 0;
};
struct LauncherReport {
  std::vector<NestSummary> nests;
  std::vector<std::string> reasons;                    // "function: why [code]": what was not lifted
  std::vector<std::pair<std::string, double>> phases;  // seconds

  int served() const;
};

// Fields that it does not know are passed over. Errors: bench.report (malformed, or a field of the wrong type).
Result<LauncherReport> parse_report(std::string_view json);

}  // namespace sous::benchmarks
