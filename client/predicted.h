// Recipes for a nest that no source knows one for: what the strategies write (transforms/strategies/), where the gain
// model is sure enough of it. The tenth percentile of its prediction counts, as evidence of the machine that the model
// was trained on would (tuning-db/belief.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/effort.h"
#include "client/nest.h"
#include "tuning-db/gain_model.h"
#include "tuning-db/hardware.h"

namespace sous::client {

struct Predicted {
  Choice choice;    // applied; its evidence is what is predicted, with the least shape that it is predicted for
  double gain = 0;  // the percentile, as believed here
};

// `effort`: what the predictions of one nest may cost together. Where it is spent, what was found by then counts. (But
// threads alone in the program's own order, without workspaces, are looked at in any case.)
//
// The surest recipe for the unit, if it is sure to gain `least` times at the sizes that are known, and otherwise at
// some sizes: its evidence then says from which extents on. Nullopt: none is.
std::optional<Predicted> predict(const PreparedNest& nest, const Unit& unit, const tuning_db::GainModel& model,
                                 const Effort& effort, double least = tuning_db::GainModel::least_sure);
// What threads alone gain of the whole in the program's own order (PreparedNest::written, which is there): where the
// normal form takes apart, for arrays, what no fusion brings together again. First on the outermost loops; then on
// those inside, for shapes in which these are short. At most three.
std::vector<Predicted> predict_as_written(const PreparedNest& nest, const tuning_db::GainModel& model,
                                          const Effort& effort);
// What gains on one thread by vectors, for shapes that the match is not for: its own recipe, where a strategy wrote it
// and its threads do not pay there; else what strategies write that fill lanes (StrategyInfo::fills_lanes).
std::optional<Predicted> predict_vectors(const PreparedNest& nest, const Unit& unit, const tuning_db::GainModel& model,
                                         const Effort& effort, const transforms::Match& match);
// What threads alone gain, the loops fused where the unit is a whole of several, and from which extents on.
std::optional<Predicted> predict_threads(const PreparedNest& nest, const Unit& unit, const tuning_db::GainModel& model,
                                         const Effort& effort);

}  // namespace sous::client
