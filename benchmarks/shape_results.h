// Measurements of shapes: which were slower, and from which extents on a recipe gains.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sdfg/result.h"
#include "tuning-db/entry.h"

namespace sous::benchmarks {

inline constexpr double default_shape_noise = 0.03;

// A line that a program of shape_programs.h prints. Seconds are medians; spreads half the interquartile range,
// relative.
struct ShapeResult {
  std::string nest, entry;
  int threads = 1, least_threads = 1;
  std::size_t shapes = 0;  // of its program, measured or not
  std::map<std::string, std::int64_t> shape;
  bool generated = false;  // the guard let the generated code run
  double difference = 0;   // of its results, relative to the largest element
  double own = 0;          // the same of the original without contraction: what the problem makes of rounding
  double original = 0, guarded = 0, recipe = 0;
  double original_spread = 0, guarded_spread = 0, recipe_spread = 0;
  double first_original = 0, first_guarded = 0;

  // Slower than the original by more than `noise`, both spreads and what the check of an entry costs.
  bool is_slower(double noise) const;
  // The recipe alone is so many times as fast, beyond the spreads.
  bool recipe_gains(double times) const;
  // The results differ by more than reordering does, and by far more than contraction alone does here.
  bool is_wrong() const;
};
// Errors: bench.results (file and line).
Result<std::vector<ShapeResult>> shape_results(std::string_view text, const std::string& file);

struct ShapeSummary {
  int slower = 0, wrong = 0;
  std::string text;
};
ShapeSummary summarize(const std::vector<ShapeResult>& results, double noise);

// Gives the entry the thresholds under which most shapes gain and none of those measured loses: an extent for each
// symbol of its nest, among those measured, and a least work. False, and the entry as it was, where not all shapes of
// its program were measured or none gains.
bool set_thresholds(tuning_db::Entry& entry, const std::vector<ShapeResult>& results);

}  // namespace sous::benchmarks
