// What the gain model (tuning-db/gain_model.h) is trained on, and how well it does on families of nests that it has not
// seen.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuning-db/entry.h"
#include "tuning-db/gain_model.h"

namespace sous::benchmarks {

inline constexpr double slower = 0.97;  // gains below are losses, beyond noise

// A measurement with the terms of its schedules.
struct MeasuredGain {
  std::string name;  // of the entry
  std::string from;  // a strategy, or the entry that the recipe is of
  tuning_db::GainMachine machine;
  tuning_db::GainSample sample;
  // Of recipes that send out threads and leave all else as it is: what a build counts on (tuning_db::threads_gain); 0:
  // it would not use them.
  std::optional<double> threads_gain = {};
};

// Applies the recipe once more. Errors: a step's refusal.
Result<MeasuredGain> gain_of(const tuning_db::Entry& entry);
std::string to_json(const MeasuredGain& gain);
// Errors: gains.json, gains.field.
Result<MeasuredGain> gain_from_json(std::string_view line, const std::string& where);

// Which entry or strategy a sample's recipe came from; what kind of nest its name speaks of: "product" of
// "drawn-1.product_12#0", "rows" of "rows-float.transpose#0".
std::string origin_of(const tuning_db::Entry& sample);
std::string family_of(const std::string& name);

// What a model says that was trained without the gain's family.
struct HeldOut {
  double expected = 1, surely = 1;  // GainModel::predict, surely
};
// Errors: gains.machines (a model is of one).
Result<std::vector<HeldOut>> held_out(const std::vector<MeasuredGain>& gains);
// Where the model says so many times at least: how many were slower than the original, and what they gained.
std::string gains_report(const std::vector<MeasuredGain>& gains, const std::vector<HeldOut>& predictions);
// The same for a build that has the strategies and the model, and nothing else: of each nest, at the largest size that
// it was measured at, the recipe of a strategy with the highest tenth percentile.
std::string strategies_report(const std::vector<MeasuredGain>& gains, const std::vector<HeldOut>& predictions);
// What threads alone gain where they would be served, by what is counted on, and where not.
std::string threads_report(const std::vector<MeasuredGain>& gains);

}  // namespace sous::benchmarks
