#include "benchmarks/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>

#include "sdfg/result.h"

namespace sous::benchmarks {
namespace {

constexpr int draws = 2000;
constexpr double half_outside = 0.025;  // of 95 %
constexpr std::uint32_t seed = 20;

// With replacement. Not std::uniform_int_distribution, whose draws differ between libraries.
std::vector<double> drawn_again(const std::vector<double>& values, std::mt19937& random) {
  std::vector<double> out(values.size());
  for (double& value : out) value = values[random() % values.size()];
  return out;
}

Interval bootstrap(double value, const std::function<double(std::mt19937&)>& figure_of_a_draw) {
  std::mt19937 random(seed);
  std::vector<double> figures(draws);
  for (double& figure : figures) figure = figure_of_a_draw(random);
  return {value, quantile(figures, half_outside), quantile(figures, 1 - half_outside)};
}

}  // namespace

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

Interval median_ratio(const std::vector<double>& of, const std::vector<double>& to) {
  return bootstrap(median(of) / median(to), [&](std::mt19937& random) {
    const double above = median(drawn_again(of, random));
    return above / median(drawn_again(to, random));
  });
}

Interval geometric_mean_interval(const std::vector<double>& values) {
  if (values.empty()) return {1, 1, 1};
  return bootstrap(geometric_mean(values),
                   [&](std::mt19937& random) { return geometric_mean(drawn_again(values, random)); });
}

}  // namespace sous::benchmarks
