// Summaries of repeated measurements. Medians and quartiles, because timings have outliers on one side only.
//
// Intervals are percentile bootstraps (B. Efron, R. Tibshirani: An Introduction to the Bootstrap, 1993, chapter 13):
// what was measured is drawn again, with replacement, and the middle 95 % of the figure of these draws is the interval.
// The draws are seeded by a constant, so that the same data give the same interval.
#pragma once

#include <vector>

namespace sous::benchmarks {

// The value at fraction q (0 to 1) of the sorted values, linear between neighbours (Hyndman and Fan, type 7).
// `values` must not be empty.
double quantile(std::vector<double> values, double q);
double median(const std::vector<double>& values);
// Half the interquartile range: what a figure is printed with as its spread.
double half_iqr(const std::vector<double>& values);
// Of positive values; 1 of none.
double geometric_mean(const std::vector<double>& values);

struct Interval {
  double value = 0, low = 0, high = 0;

  bool operator==(const Interval&) const = default;
};
// median(of) / median(to) and its interval; neither is empty, and all are positive. Of a single pair nothing is known
// about the spread: the interval is then the value alone.
Interval median_ratio(const std::vector<double>& of, const std::vector<double>& to);
// The geometric mean of positive values, as of a sample of programs. {1, 1, 1} of none.
Interval geometric_mean_interval(const std::vector<double>& values);

}  // namespace sous::benchmarks
