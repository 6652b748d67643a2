#include "benchmarks/schedule.h"

#include <algorithm>

namespace sous::benchmarks {
namespace {

int wanted(const Cost& cost, int runs) { return std::max(1, runs - (cost.counted ? 1 : 0)); }

// The further runs of a build that is granted so many seconds.
int granted(const Cost& cost, int runs, double seconds) {
  const double fitting = cost.wall > 0 ? seconds / cost.wall : runs;
  return std::clamp(static_cast<int>(std::min(fitting, 1e6)), 1, wanted(cost, runs));
}

double total(const std::vector<Cost>& costs, int runs, double grant) {
  double sum = 0;
  for (const Cost& cost : costs) sum += granted(cost, runs, grant) * cost.wall;
  return sum;
}

}  // namespace

std::vector<int> further_runs(const std::vector<Cost>& costs, int runs, double seconds) {
  double grant = 0;
  for (const Cost& cost : costs) grant = std::max(grant, cost.wall * runs);
  if (seconds >= 0 && total(costs, runs, grant) > seconds) {
    double low = 0, high = grant;
    constexpr int halvings = 50;
    for (int k = 0; k < halvings; ++k) {
      const double middle = (low + high) / 2;
      (total(costs, runs, middle) <= seconds ? low : high) = middle;
    }
    grant = low;
  }
  std::vector<int> out;
  for (const Cost& cost : costs) out.push_back(granted(cost, runs, grant));
  return out;
}

}  // namespace sous::benchmarks
