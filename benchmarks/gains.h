// What the gain model (tuning-db/gain_model.h) is trained on, and how well it does on families of nests that it has not
// seen.
#pragma once

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
  tuning_db::GainSample sample;
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

// For each gain the prediction of a model that was trained without its family.
std::vector<double> held_out(const std::vector<MeasuredGain>& gains);
// Where the model says so many times at least: how many were slower than the original, and what they gained.
std::string gains_report(const std::vector<MeasuredGain>& gains, const std::vector<double>& predictions);

}  // namespace sous::benchmarks
