#include "client/predicted.h"

#include <algorithm>
#include <cmath>

#include "sdfg/planted_fault.h"
#include "targets/target.h"
#include "tuning-db/belief.h"
#include "tuning-db/nest_facts.h"
#include "tuning-db/shape.h"
#include "tuning-db/size_class.h"
#include "tuning-db/tuner.h"

namespace sous::client {
namespace {

using std::string;
using tuning_db::computes;
using tuning_db::GainModel;
using Sizes = std::map<string, std::int64_t>;

// Operations (binary logarithm) of a nest that is worth threads and vectors, which the sizes that are not known are
// taken to bring: tenths of a second. Below the second figure nothing is looked at.
constexpr double usual_operations = 27, least_operations = 20;
// Sizes are made smaller by this in search of the least that is still predicted to gain; loops have to be so much
// longer than that, since the model has seen few thin shapes.
constexpr double step_down = 1.5, longer = 2;
constexpr std::int64_t least_size = 16, largest_size = std::int64_t{1} << 24;
// A lower bound, in seconds: what a start of threads may cost is held against it.
constexpr double seconds_of_operation = 0.1e-9;
// Of threads alone: how many are asked about, and what is counted on of each more than one.
constexpr int asked_threads = 2;
constexpr double counted_on = 0.5;
// A result that is set to zero first is written once more: that is paid for in the model's samples.
constexpr double most_apart = 1.6;

// A nest at sizes: those that are known, and one value for all others.
class Sized {
 public:
  Sized(const sdfg::Sdfg& nest, Sizes known, const tuning_db::Hardware& hardware, int most_threads)
      : nest_(nest), known_(std::move(known)), hardware_(hardware), threads_(std::min(hardware.cores, most_threads)) {
    for (const string& symbol : nest.symbols)
      if (!known_.contains(symbol)) open_.push_back(symbol);
    usual_ = known_;
    for (std::int64_t value = least_size; !open_.empty() && value <= largest_size; value += value / 4) {
      usual_ = at(value);
      value_ = value;
      if (operations(usual_) >= usual_operations) break;
    }
  }

  bool open() const { return !open_.empty(); }
  const Sizes& usual() const { return usual_; }
  std::int64_t value() const { return value_; }  // of the open ones
  Sizes at(std::int64_t value) const {
    Sizes sizes = known_;
    for (const string& symbol : open_) sizes[symbol] = value;
    return sizes;
  }

  // As the model was trained: on no more threads than it has seen.
  tuning_db::ScheduleFeatures terms(const sdfg::Sdfg& nest, const Sizes& sizes) const {
    return tuning_db::schedule_features(nest, sizes, hardware_, threads_);
  }
  tuning_db::ScheduleFeatures terms(const Sizes& sizes) const { return terms(nest_, sizes); }
  double operations(const Sizes& sizes) const {
    return terms(sizes)[static_cast<std::size_t>(tuning_db::ScheduleFeature::operations)];
  }
  tuning_db::CoreLoad load(const sdfg::Sdfg& nest, const Sizes& sizes) const {
    return tuning_db::core_load(nest, sizes, hardware_, threads_);
  }
  bool promising(const GainModel& model, double least) const {
    if (operations(usual_) < least_operations) return false;
    return promises_threads() || model.potential(terms(usual_)) >= least;
  }
  bool promises_threads() const { return threads_ > 1 && computes(load(nest_, usual_)); }
  int threads() const { return threads_; }

 private:
  const sdfg::Sdfg& nest_;
  const Sizes known_;
  const tuning_db::Hardware& hardware_;
  const int threads_;
  std::vector<string> open_;
  Sizes usual_;
  std::int64_t value_ = 0;
};

class Predictor {
 public:
  Predictor(const Nest& nest, const Unit& unit, const GainModel& model)
      : nest_(nest),
        unit_(unit),
        model_(model),
        class_(tuning_db::hardware_class(nest.hardware)),
        sized_(unit.nest, unit.sizes, nest.hardware, model.machine().threads) {}

  std::optional<Predicted> best(double least) const {
    if (!sized_.promising(model_, std::min(least, GainModel::least_potential))) return std::nullopt;
    if (unit_.one_of_several() && apart_reads_more()) return std::nullopt;
    const auto options = apply_options(nest_);
    const auto proposed = tuning_db::propose(unit_.nest, options);
    if (!proposed) return std::nullopt;
    std::optional<Predicted> best, threads;
    for (const auto& one : *proposed) {
      if (!one.recipes) continue;
      for (const auto& open : *one.recipes) {
        const auto recipe = transforms::closed(open);
        if (!recipe) continue;
        const auto candidate = tuning_db::fitted(unit_.nest, string(one.strategy->name), *recipe, options);
        if (!candidate) continue;
        if (one.strategy->threads_alone && threads_pay(candidate->applied, sized_.usual())) {
          const double nanoseconds = sized_.load(candidate->applied, sized_.usual()).nanoseconds;
          threads = as_choice(*candidate, 1 + counted_on * (sized_.threads() - 1), 1e-9 * nanoseconds);
        }
        const double gain = sure(candidate->applied, sized_.usual());
        if (gain >= least && (!best || gain > best->gain))
          best = as_choice(*candidate, gain, seconds_of_operation * std::exp2(sized_.operations(sized_.usual())));
      }
    }
    if (best) {
      set_least_shape(*best, [&](const Sizes& sizes) { return sure(best->choice.applied, sizes) >= least; });
    } else if (threads) {
      set_least_shape(*threads, [&](const Sizes& sizes) { return threads_pay(threads->choice.applied, sizes); });
    }
    return best ? best : threads;
  }

 private:
  // Whether the nest's parts, apart, bring from memory what the program brings once, where memory is what it waits for:
  // what a part gains by itself then says little of the whole.
  bool apart_reads_more() const {
    const Sized whole(nest_.normal, nest_.sizes, nest_.hardware, sized_.threads());
    const auto apart = whole.load(nest_.normal, whole.usual());
    const auto together = whole.load(nest_.lifted->sdfg, whole.usual());
    return apart.bytes > most_apart * together.bytes && !computes({together.nanoseconds, apart.bytes});
  }

  double sure(const sdfg::Sdfg& applied, const Sizes& sizes) const {
    const double there = model_.surely(tuning_db::gain_features(sized_.terms(sizes), sized_.terms(applied, sizes)));
    return tuning_db::believe(there, model_.machine().threads, model_.machine().hardware, class_).ratio;
  }

  // A part of several brings the whole's normal form with it, which may store what the program kept in registers.
  bool threads_pay(const sdfg::Sdfg& applied, const Sizes& sizes) const {
    if (!tuning_db::threads_pay(sized_.load(applied, sizes), sized_.threads())) return false;
    if (!unit_.one_of_several()) return true;
    const Unit& whole = nest_.units.front();
    return Sized(whole.nest, whole.sizes, nest_.hardware, sized_.threads()).promises_threads();
  }

  // `seconds`: what the original takes, a low estimate.
  Predicted as_choice(const tuning_db::Candidate& candidate, double gain, double seconds) const {
    Predicted out;
    out.gain = gain;
    out.choice.unit = unit_.index;
    out.choice.applied = candidate.applied;
    transforms::Match& match = out.choice.match;
    match.recipe = candidate.recipe;
    match.name = candidate.from;
    match.origin = transforms::Origin::Strategy;
    match.believed = gain;
    transforms::Evidence& e = match.evidence;
    e.size_class = size_class_of(unit_);
    e.work = tuning_db::work(unit_.nest, sized_.usual()).value_or(0);
    e.extents = tuning_db::extents(unit_.nest, sized_.usual());
    e.baseline_seconds = seconds;
    e.tuned_seconds = seconds / gain;
    e.hardware = class_;
    const auto* target = targets::find_target(match.recipe.target);
    e.threads = target != nullptr && target->has_threads() ? sized_.threads() : 1;
    return out;
  }

  // From which extents on it `holds` as well.
  template <class Holds>
  void set_least_shape(Predicted& best, const Holds& holds) const {
    if (!sized_.open() || planted(Fault::predicted_at_any_size)) return;
    std::int64_t lowest = sized_.value();
    for (std::int64_t value = lowest; value >= least_size;
         value = static_cast<std::int64_t>(static_cast<double>(value) / step_down)) {
      const Sizes sizes = sized_.at(value);
      if (sized_.operations(sizes) < least_operations || !holds(sizes)) break;
      lowest = value;
    }
    transforms::Evidence& e = best.choice.match.evidence;
    const Sizes sizes = sized_.at(lowest);
    e.least_extents = tuning_db::extents(unit_.nest, sizes);
    for (std::size_t k = 0; k < e.least_extents.size() && k < e.extents.size(); ++k)
      e.least_extents[k] = std::min(longer * e.least_extents[k], e.extents[k]);
    e.least_work = std::min(longer * tuning_db::work(unit_.nest, sizes).value_or(0), e.work);
  }

  const Nest& nest_;
  const Unit& unit_;
  const GainModel& model_;
  const string class_;  // of this machine
  const Sized sized_;
};

}  // namespace

bool worth_predicting(const sdfg::Sdfg& lifted, const Sizes& sizes, const tuning_db::Hardware& hardware,
                      tuning_db::FindGainModel find_model) {
  if (find_model == nullptr) return false;
  // Single loops are next to never sure to gain twice: not even the model is read for them, unless they compute much.
  const auto loops = tuning_db::facts(lifted, sizes).loops;
  const bool single = std::ranges::all_of(loops, [](const auto& loop) { return loop.around.empty(); });
  if (single && !Sized(lifted, sizes, hardware, asked_threads).promises_threads()) return false;
  const GainModel* model = find_model();
  if (model == nullptr) return false;
  return Sized(lifted, sizes, hardware, model->machine().threads).promising(*model, GainModel::least_potential);
}

std::optional<Predicted> predict(const Nest& nest, const Unit& unit, const GainModel& model, double least) {
  return Predictor(nest, unit, model).best(least);
}

}  // namespace sous::client
