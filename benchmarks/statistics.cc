#include "benchmarks/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "sdfg/result.h"

namespace sous::benchmarks {

double quantile(std::vector<double> values, double q) {
  SOUS_ASSERT(!values.empty() && q >= 0 && q <= 1);
  std::sort(values.begin(), values.end());
  const double place = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

double median(const std::vector<double>& values) { return quantile(values, 0.5); }

double half_iqr(const std::vector<double>& values) { return (quantile(values, 0.75) - quantile(values, 0.25)) / 2; }

double geometric_mean(const std::vector<double>& values) {
  if (values.empty()) return 1;
  double logarithms = 0;  // a product would leave the range of double
  for (double value : values) {
    SOUS_ASSERT(value > 0);
    logarithms += std::log(value);
  }
  return std::exp(logarithms / static_cast<double>(values.size()));
}

}  // namespace sous::benchmarks
