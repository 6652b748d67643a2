#include "client/doubts.h"

#include "client/promise.h"
#include "client/report.h"
#include "sdfg/planted_fault.h"
#include "transforms/normal_form.h"
#include "tuning-db/schedule_features.h"
#include "tuning-db/shape.h"

namespace sous::client {

using std::string;

string too_small(const Unit& unit, const transforms::Match& match) {
  const string why = tuning_db::too_small(unit.nest, unit.sizes, least_shape(unit.nest, match));
  return why.empty() ? "" : "no evidence for this shape: " + why;
}

string crowded(const tuning_db::Hardware& hardware, const Unit& unit, const Choice& choice) {
  const auto cache = cache_for(choice.match.evidence, hardware);
  const string why = tuning_db::crowded(unit.nest, choice.applied, unit.sizes, cache);
  return why.empty() ? "" : "no evidence for this shape: " + why;
}

string shared_sets(const tuning_db::Hardware& hardware, const Unit& unit, const sdfg::Sdfg& theirs,
                   const Choice& choice) {
  const auto& e = choice.match.evidence;
  const bool measured = choice.match.distance == 0 && e.extents == tuning_db::extents(unit.nest, unit.sizes) &&
                        transforms::structural_hash(theirs) == unit.structural_hash;
  return measured ? "" : crowded(hardware, unit, choice);
}

string predicted_loss(const tuning_db::Hardware& hardware, const Unit& unit, const Choice& choice,
                      tuning_db::FindGainModel find_model) {
  const bool asks = choice.match.distance > 0 && !planted(Fault::prediction_ignored);
  const auto* model = asks ? find_model() : nullptr;
  if (model == nullptr) return "";
  const auto terms = [&](const sdfg::Sdfg& nest) {
    return tuning_db::schedule_features(nest, unit.sizes, hardware, hardware.cores);
  };
  const auto features = tuning_db::gain_features(terms(unit.nest), terms(choice.applied));
  const double gain = model->predict(features), surely = model->surely(features);
  if (gain < tuning_db::GainModel::least_predicted) return "too little is predicted for this nest: " + speed(gain);
  if (surely < 1) return "this nest may become slower: one in ten such is predicted below " + speed(surely);
  return "";
}

bool leaves_lanes_empty(const Unit& unit, const Choice& choice) {
  if (choice.match.distance == 0 || !tuning_db::has_whiles(unit.nest)) return false;
  bool lanes = false;
  sdfg::visit(choice.applied.root, [&](const sdfg::Node& node) {
    const auto* loop = std::get_if<sdfg::Loop>(&node.value);
    lanes = lanes || (loop != nullptr && std::holds_alternative<sdfg::Simd>(loop->schedule));
  });
  return !lanes;
}

}  // namespace sous::client
