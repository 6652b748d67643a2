// How many times as fast a nest runs with a recipe: predicted from both of its schedules, before anything is measured.
//
// Gradient-boosted regression trees (J. H. Friedman: Greedy Function Approximation, 2001) on the terms of
// tuning-db/schedule_features.h, before and after, trained on what `sous tune --samples` measured. A prediction is no
// evidence: it may only say that evidence of another nest does not hold for this one. docs/decisions/019-gain-model.md
// has the numbers of `sous bench transfer`.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sdfg/result.h"
#include "tuning-db/schedule_features.h"

namespace sous::tuning_db {

inline constexpr std::size_t gain_feature_count = 2 * schedule_feature_count;
using GainFeatures = std::array<double, gain_feature_count>;

// Before, and the change.
GainFeatures gain_features(const ScheduleFeatures& before, const ScheduleFeatures& after);

// A measured gain to learn from.
struct GainSample {
  GainFeatures features{};
  double gain = 1;    // times as fast
  std::string group;  // a nest; whole groups are drawn for a tree
};

class GainModel {
 public:
  // Below this prediction a neighbour's recipe is not used: of those above it few are slower (`sous bench train`).
  static constexpr double least_predicted = 1.25;

  // Times as fast; the mean of the logarithm is what is learned.
  double predict(const GainFeatures& features) const;

  // Deterministic. `samples` is not empty.
  static GainModel train(const std::vector<GainSample>& samples);

  std::string to_json() const;
  // Errors: model.json, model.version (other features than this build's), model.field.
  static Result<GainModel> from_json(std::string_view text);

 private:
  struct Split {
    int feature = -1;         // -1: a leaf
    double threshold = 0;     // up to it: left; of a leaf: its value
    int left = 0, right = 0;  // places in the tree
  };
  using Tree = std::vector<Split>;
  class Trainer;

  double base_ = 0;
  std::vector<Tree> trees_;
};

// The model that Sous brings along, read once; null if it cannot be read.
const GainModel* shipped_gain_model();
// Reading it costs milliseconds that most builds need not spend. Null: there is no model.
using FindGainModel = const GainModel* (*)();

}  // namespace sous::tuning_db
