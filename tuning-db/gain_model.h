// How many times as fast a nest runs with a recipe: predicted from both of its schedules, before anything is measured.
//
// Gradient-boosted regression trees (J. H. Friedman: Greedy Function Approximation, 2001) on the terms of
// tuning-db/schedule_features.h, before and after, trained on what `sous tune --samples` measured. Two forests: what is
// expected, and the tenth percentile (R. Koenker, G. Bassett: Regression Quantiles, 1978), which nine of ten gains
// exceed. The first holds evidence of another nest against this one (docs/decisions/019-gain-model.md), the second
// serves what strategies write where no evidence is near (021-recipes-by-prediction.md).
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

// What the samples were measured on: a prediction speaks for such a machine, and for others as a measurement would
// (tuning-db/belief.h).
struct GainMachine {
  std::string hardware;  // class
  int threads = 1;
  bool operator==(const GainMachine&) const = default;
};

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
  // A strategy's recipe is used where its tenth percentile is this much.
  static constexpr double least_sure = 2;
  // None is looked for where a nest has less potential.
  static constexpr double least_potential = 2;

  // Times as fast; the mean of the logarithm is what is learned.
  double predict(const GainFeatures& features) const;
  // Times as fast that nine of ten such gains exceed.
  double surely(const GainFeatures& features) const;
  // Times as fast that the best recipe for such a nest may be expected to be: a question of microseconds, before there
  // is any recipe.
  double potential(const ScheduleFeatures& before) const;
  const GainMachine& machine() const { return machine_; }

  // Deterministic. `samples` is not empty, all of one machine.
  static GainModel train(const std::vector<GainSample>& samples, const GainMachine& machine);

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
  struct Forest {
    double base = 0;
    std::vector<Tree> trees;
    double value(const GainFeatures& features) const;  // log2 of times as fast
  };
  class Trainer;
  class Reader;
  class AsWritten;

  Forest mean_, low_, potential_;
  GainMachine machine_;
};

// The model that Sous brings along, read once; null if it cannot be read.
const GainModel* shipped_gain_model();
// Reading it costs milliseconds that most builds need not spend. Null: there is no model.
using FindGainModel = const GainModel* (*)();

}  // namespace sous::tuning_db
