// Summaries of repeated measurements. Medians and quartiles, because timings have outliers on one side only.
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

}  // namespace sous::benchmarks
