#include "client/predicted.h"

#include <algorithm>
#include <cmath>

#include "client/compiler.h"
#include "client/least_shape.h"
#include "client/program_load.h"
#include "client/promise.h"
#include "client/sized.h"
#include "client/worth.h"
#include "sdfg/data_rows.h"
#include "sdfg/parallel_loop.h"
#include "sdfg/planted_fault.h"
#include "targets/target.h"
#include "transforms/strategies/thread_levels.h"
#include "tuning-db/belief.h"
#include "tuning-db/shape.h"
#include "tuning-db/size_class.h"
#include "tuning-db/tuner.h"

namespace sous::client {
namespace {

using std::string;
using tuning_db::GainModel;

// Above this nobody waits for it.
constexpr double most_operations = 45;
// A lower bound, in seconds: what a start of threads may cost is held against it.
constexpr double seconds_of_operation = 0.1e-9;
// Of the usual shares, what sizes must leave that a loop which is shared out has.
constexpr double nearly = 0.9;
// Of a call that waits for memory, on threads, for each core: what shorter ones gain is lost again where threads come
// late, each in its turn. (What it costs that several threads touch pages for the first time the entry asks for.)
constexpr double seconds_of_streams = 0.26e-3, most_seconds_of_streams = 1e-3;
// Of what two recipes gain by a rule: the first one is the simpler.
constexpr double clearly_more = 1.1;
// Loops in each other that threads are sent out for, for one shape or another.
constexpr std::size_t most_levels = 3;
class Predictor {
 public:
  Predictor(const PreparedNest& nest, const Unit& unit, const GainModel& model, const Effort& effort)
      : nest_(nest),
        unit_(unit),
        model_(model),
        effort_(effort),
        class_(tuning_db::hardware_class(nest.hardware)),
        sized_(unit.nest, unit.sizes, nest.hardware, model.machine().threads, For::Model, tuning_db::Vectors::Perhaps,
               unit.greatest),
        shared_(unit.nest, unit.sizes, nest.hardware, model.machine().threads, For::Threads, compilers_vectors(nest),
                unit.greatest),
        program_(nest, shared_.threads()) {}

  std::optional<Predicted> best(double least) const {
    // Of a whole its parts say little: what the program does was looked at.
    const bool whole = of_several();
    const bool promising = sized_.promising(model_, std::min(least, GainModel::least_potential));
    if (!whole && !promising && !shared_.promises_threads()) return std::nullopt;
    if (unit_.one_of_several() && program_.apart_reads_more()) return std::nullopt;
    // What fusing does to the parts no sample has shown: the model is not asked. Nor where it sees nothing to gain.
    return among(whole ? tuning_db::Strategies::Whole : tuning_db::Strategies::Cpu, promising && !whole, least);
  }
  // What the recipe, of a strategy that makes loops parallel, gains without its threads.
  std::optional<Predicted> vectors(const transforms::Match& match) const {
    const auto strategy = std::ranges::find(transforms::strategies(), match.name, &transforms::StrategyInfo::name);
    if (strategy == transforms::strategies().end() || !has_rule(**strategy)) return lanes();
    if ((*strategy)->threads_alone || match.evidence.threads <= 1) return std::nullopt;
    return on_one_thread(**strategy, unit_.nest, match.recipe);
  }
  std::optional<Predicted> threads() const { return among(tuning_db::Strategies::Whole, false, INFINITY); }
  // What threads gain, all else as it is: on the outermost loops, and for shapes in which these are short on those
  // inside.
  std::vector<Predicted> as_it_is() const {
    std::vector<Predicted> result;
    if (!program_.may_be_long(/*in_waves=*/false)) return result;
    const auto options = apply_options(nest_);
    const auto facts = transforms::NestFacts::of(unit_.nest, options.context, options.budget);
    if (!facts) return result;
    for (const string& text : transforms::thread_levels(*facts, most_levels, !effort_.spent())) {
      const transforms::StrategyInfo& strategy = transforms::outer_threads_strategy;
      const auto recipe = transforms::closed({.text = text, .open = {}});
      const auto candidate =
          recipe ? tuning_db::fitted(*facts->nest(), string(strategy.name), *recipe, options) : std::nullopt;
      auto one = candidate ? by_threads(strategy, *candidate) : std::nullopt;
      if (auto shaped = one ? with_least_work(std::move(*one)) : std::nullopt) result.push_back(std::move(*shaped));
      if (!shared_.open()) break;
    }
    return result;
  }

 private:
  // A choice of threads alone, and whether a compiler makes vectors of what they run.
  struct ByThreads {
    Predicted predicted;
    tuning_db::Vectors vectors;
    double shares;  // CoreLoad::shares
    bool at_usual;  // sizes; otherwise for others
  };

  // The surest of what these strategies write; where it is not sure to gain `least`, what threads alone gain.
  std::optional<Predicted> among(tuning_db::Strategies which, bool asks_model, double least) const {
    const auto options = apply_options(nest_);
    const auto proposed = tuning_db::propose(unit_.nest, options, which, [&](const auto& strategy) {
      return !effort_.spent() && (asks_model || has_rule(strategy));
    });
    if (!proposed) return std::nullopt;
    std::optional<Predicted> best, freed_loops;
    std::optional<ByThreads> threads;
    for (const auto& one : *proposed) {
      if (!one.recipes) continue;
      for (const auto& open : *one.recipes) {
        const auto recipe = transforms::closed(open);
        if (effort_.spent() || !recipe) continue;
        if (!worth_proving(one, *recipe, asks_model ? least : INFINITY, best, threads)) continue;
        const auto candidate = tuning_db::fitted(*one.nest, string(one.strategy->name), *recipe, options);
        if (!candidate) continue;
        if (one.strategy->frees_loops || fills_awaited_lanes(*one.strategy)) {
          auto gains = freed(*one.strategy, *candidate);
          // Of few blocks one thread does most, and what others cost is nobody's gain.
          if (!gains && sdfg::has_parallel_loop(candidate->applied))
            gains = on_one_thread(*one.strategy, *one.nest, candidate->recipe);
          keep_clearly_larger(freed_loops, std::move(gains));
        }
        if (one.strategy->frees_loops) continue;
        if (one.strategy->threads_alone && threads_may_pay(*one.strategy))
          keep_clearly_larger(threads, by_threads(*one.strategy, *candidate));
        if (!asks_model || tuning_db::has_whiles_in_lanes(candidate->applied) ||
            gains_no_lanes(*one.strategy, *candidate))
          continue;
        if (auto predicted = by_model(*candidate, *one.nest, least);
            predicted && (!best || predicted->gain > best->gain) && has_vectors(*candidate))
          best = std::move(predicted);
      }
    }
    if (best) {
      set_least_shape(best->choice.match.evidence, unit_.nest, sized_, sized_.value(), Needs::LongLoops,
                      [&](const Sizes& sizes) { return sure(best->choice.applied, sizes) >= least; });
    }
    if (freed_loops && (!best || freed_loops->gain > best->gain)) best = std::move(freed_loops);
    if (!best && threads) return with_least_work(std::move(*threads));
    return best;
  }

  // Whether a recipe may be chosen, by what it would gain if all of its steps were legal: proving them takes long.
  bool worth_proving(const tuning_db::Proposed& proposed, const transforms::Recipe& recipe, double least,
                     const std::optional<Predicted>& best, const std::optional<ByThreads>& threads) const {
    const transforms::StrategyInfo& strategy = *proposed.strategy;
    if (strategy.frees_loops || fills_awaited_lanes(strategy)) return true;
    auto draft = transforms::draft(*proposed.nest, recipe, apply_options(nest_).context);
    if (!draft) return true;
    const tuning_db::Candidate candidate{string(strategy.name), recipe, std::move(draft->nest)};
    if (strategy.threads_alone && threads_may_pay(strategy)) {
      const auto one = by_threads(strategy, candidate);
      if (one && (!threads || gain_of(*one) > clearly_more * gain_of(*threads))) return true;
    }
    const double gain = std::isinf(least) ? 0 : sure(candidate.applied, sized_.usual());
    // Without threads that do not pay it may gain more.
    return gain >= least && (!best || gain > best->gain || sdfg::has_parallel_loop(candidate.applied));
  }

  // Whether lanes, which are all that the strategy's recipes gain, are there without them, or are filled one by one:
  // the model sees neither.
  bool gains_no_lanes(const transforms::StrategyInfo& strategy, const tuning_db::Candidate& candidate) const {
    if (!strategy.lanes_alone) return false;
    return program_.adds_integers() || !tuning_db::lanes_are_neighbours(candidate.applied, sized_.usual());
  }

  // What the model is sure of at the usual sizes, if it is `least`: of the recipe without its threads where they are
  // known to cost more than they save (it is trained on nests that are long enough for them).
  std::optional<Predicted> by_model(const tuning_db::Candidate& candidate, const transforms::Nest& nest,
                                    double least) const {
    const double gain = sure(candidate.applied, sized_.usual());
    if (gain < least) return std::nullopt;
    const Sizes& usual = sized_.usual();
    Predicted predicted = as_choice(candidate, gain, seconds_of_operation * std::exp2(sized_.operations(usual)), usual);
    if (threads_pay(unit_, predicted.choice.match.evidence)) return predicted;
    const auto alone = tuning_db::fitted(nest, candidate.from, without_threads(candidate.recipe), apply_options(nest_));
    return alone ? by_model(*alone, nest, least) : std::nullopt;
  }

  // What strategies gain on one thread that fill lanes for which the program waits.
  std::optional<Predicted> lanes() const {
    const auto asks = [&](const auto& strategy) { return !effort_.spent() && fills_awaited_lanes(strategy); };
    const auto proposed = tuning_db::propose(unit_.nest, apply_options(nest_), tuning_db::Strategies::Cpu, asks);
    if (!proposed) return std::nullopt;
    std::optional<Predicted> best;
    for (const auto& one : *proposed) {
      if (!one.recipes || !fills_awaited_lanes(*one.strategy)) continue;
      for (const auto& open : *one.recipes)
        if (const auto recipe = transforms::closed(open); recipe && !effort_.spent())
          keep_clearly_larger(best, on_one_thread(*one.strategy, *one.nest, *recipe));
    }
    return best;
  }

  // What the recipe gains without its threads.
  template <class NestOrGraph>
  std::optional<Predicted> on_one_thread(const transforms::StrategyInfo& strategy, const NestOrGraph& nest,
                                         transforms::Recipe recipe) const {
    const auto candidate =
        tuning_db::fitted(nest, string(strategy.name), without_threads(std::move(recipe)), apply_options(nest_));
    return candidate ? freed(strategy, *candidate) : std::nullopt;
  }

  // Whether what the strategy makes of the nest may gain by threads: what holds of all its recipes, before any is
  // written and proven, which takes long.
  bool threads_may_pay(const transforms::StrategyInfo& strategy) const {
    if (unit_.one_of_several()) return program_.computes() && !program_.apart_waits_more();
    if (!of_several()) return true;
    if (strategy.in_waves && !program_.brings_little_more(shared_.load(unit_.nest, shared_.usual()))) return false;
    return program_.may_be_long(strategy.in_waves);
  }

  bool fills_awaited_lanes(const transforms::StrategyInfo& strategy) const {
    return strategy.fills_lanes && waits() != tuning_db::Waits::No;
  }
  // Whether something else than the model says what the strategy's recipes gain.
  bool has_rule(const transforms::StrategyInfo& strategy) const {
    if (strategy.threads_alone) return threads_may_pay(strategy);
    return strategy.frees_loops || fills_awaited_lanes(strategy);
  }

  std::optional<ByThreads> by_threads(const transforms::StrategyInfo& strategy,
                                      const tuning_db::Candidate& candidate) const {
    const auto vectors = strategy.in_waves ? tuning_db::Vectors::None : tuning_db::Vectors::Perhaps;
    const Sizes& sizes = shared_.usual();
    Sizes pays_at = sizes;
    auto load = shared_.load(candidate.applied, sizes, vectors);
    double gain = threads_gain(load);
    const bool at_usual = gain > 0;
    if (!at_usual && shared_.open()) {
      // Regions that are too short where all sizes are alike are long where they are few.
      const auto few = shared_.few_regions(candidate.applied, shared_.value());
      if (!few) return std::nullopt;
      pays_at = *few;
      load = shared_.load(candidate.applied, pays_at, vectors);
      gain = threads_gain(load);
    }
    if (gain == 0 || program_.updates_in_memory(candidate.applied, sizes) ||
        program_.makes_chains(candidate.applied, sizes))
      return std::nullopt;
    // Edges of tiles count in an estimate of what tiles bring, and stay in a cache: of waves the nest was looked at.
    if (of_several() && !strategy.in_waves && !program_.brings_little_more(shared_.load(candidate.applied, sizes)))
      return std::nullopt;
    const bool part = unit_.one_of_several();  // and the others stay as the normal form has them
    if (program_.asks_again(part ? nest_.normal : candidate.applied, part ? program_.usual() : sizes))
      return std::nullopt;
    Predicted predicted = as_choice(candidate, gain, tuning_db::seconds(load), pays_at);
    if (!threads_pay(unit_, predicted.choice.match.evidence)) return std::nullopt;
    return ByThreads{std::move(predicted), vectors, load.shares, at_usual};
  }
  // With how much work they pay from. Somewhat less where loops are short will do.
  std::optional<Predicted> with_least_work(ByThreads threads) const {
    transforms::Evidence& e = threads.predicted.choice.match.evidence;
    const auto pays = [&](const tuning_db::CoreLoad& load, double shares) {
      const double least = std::min(seconds_of_streams * nest_.hardware.cores, most_seconds_of_streams);
      const bool felt = tuning_db::computes(load) || tuning_db::seconds(load) >= least;
      return threads_gain(load) > 0 && felt && load.shares >= nearly * shares;
    };
    const sdfg::Sdfg& applied = threads.predicted.choice.applied;
    // Of rows whose lengths are data the entry knows how long they are.
    if (const auto lengths = sdfg::row_lengths(unit_.nest); shared_.open() && !lengths.empty()) {
      const sdfg::Sdfg nest = sdfg::with_equal_rows(unit_.nest, lengths);
      const sdfg::Sdfg equal = sdfg::with_equal_rows(applied, lengths);
      const Sized sized(nest, unit_.sizes, nest_.hardware, shared_.threads(), For::Threads, compilers_vectors(nest_),
                        unit_.greatest);
      const auto at = [&](const Sizes& sizes) { return sized.load(equal, sizes, threads.vectors); };
      const auto usual = at(sized.usual());
      if (pays(usual, usual.shares)) {
        set_shape(e, nest, sized.usual(), tuning_db::seconds(usual), threads.predicted.gain);
        set_least_shape(e, nest, sized, sized.value(), Needs::Work,
                        [&](const Sizes& sizes) { return pays(at(sizes), usual.shares); });
        return std::move(threads.predicted);
      }
    }
    const bool known = set_least_shape(e, unit_.nest, shared_, shared_.value(), Needs::Work, [&](const Sizes& sizes) {
      return pays(shared_.load(applied, sizes, threads.vectors), threads.shares);
    });
    return known || threads.at_usual ? std::optional(std::move(threads.predicted)) : std::nullopt;
  }
  static double gain_of(const ByThreads& one) { return one.predicted.gain; }
  static double gain_of(const Predicted& one) { return one.gain; }
  template <class One>
  static void keep_clearly_larger(std::optional<One>& best, std::optional<One> other) {
    if (other && (!best || gain_of(*other) > clearly_more * gain_of(*best))) best = std::move(other);
  }

  // What a recipe gains that makes loops parallel, and from which extents on; where sizes are open and its threads pay
  // for larger ones only, for those.
  std::optional<Predicted> freed(const transforms::StrategyInfo& strategy,
                                 const tuning_db::Candidate& candidate) const {
    std::int64_t value = shared_.value();
    const auto gain = [&](const Sizes& sizes) { return freed_gain(strategy, candidate.applied, sizes); };
    while (gain(shared_.at(value)) == 0) {
      value += value / 2;
      const bool sensible = shared_.open() && value <= largest_size;
      if (!sensible || shared_.operations(shared_.at(value)) > most_operations) return std::nullopt;
    }
    if (!has_vectors(candidate)) return std::nullopt;
    const Sizes sizes = shared_.at(value);
    const double seconds = tuning_db::seconds(shared_.load(unit_.nest, sizes));
    Predicted out = as_choice(candidate, gain(sizes), seconds, sizes);
    if (!threads_pay(unit_, out.choice.match.evidence)) return std::nullopt;
    set_least_shape(out.choice.match.evidence, unit_.nest, shared_, value, Needs::Shape,
                    [&](const Sizes& less) { return gain(less) > 0; });
    return out;
  }
  double freed_gain(const transforms::StrategyInfo& strategy, const sdfg::Sdfg& applied, const Sizes& sizes) const {
    const double vectors =
        strategy.fills_lanes
            ? tuning_db::reordered_vectors_gain(applied, sizes, nest_.hardware, waits(sizes),
                                                shared_.load(unit_.nest, sizes))
            : std::max({tuning_db::freed_vectors_gain(applied, sizes, nest_.hardware, is_gcc(nest_.meaning.compiler)),
                        tuning_db::staggered_lanes_gain(applied, sizes, nest_.hardware, is_gcc(nest_.meaning.compiler)),
                        tuning_db::overlapped_chains_gain(applied, sizes)});
    if (vectors == 0 || !sdfg::has_parallel_loop(applied)) return vectors;
    const auto load = shared_.load(applied, sizes);
    return vectors * (unit_.one_of_several() ? threads_gain(load) : tuning_db::threads_gain(load, shared_.threads()));
  }

  // Whether the code runs as vectors what the recipe wants to: only then is it what was predicted of.
  bool has_vectors(const tuning_db::Candidate& candidate) const {
    std::vector<targets::Unfollowed> unfollowed;
    targets::EmitOptions options = emit_options(nest_.meaning);
    options.unfollowed = &unfollowed;
    const auto* target = targets::find_target(candidate.recipe.target);
    return target != nullptr && target->emit(candidate.applied, options) &&
           std::ranges::all_of(unfollowed, &targets::Unfollowed::threads);
  }

  // ProgramLoad::waits, at the usual sizes and at others.
  tuning_db::Waits waits() const {
    if (waits_) return *waits_;
    waits_ = program_.waits(unit_);
    // With gcc lanes do not compute on when they have ended (targets/runtime/highway.h).
    if (waits_ == tuning_db::Waits::ForEnds && is_gcc(nest_.meaning.compiler) && tuning_db::has_whiles(unit_.nest))
      waits_ = tuning_db::Waits::No;
    return *waits_;
  }
  tuning_db::Waits waits(const Sizes& sizes) const {
    return waits() == tuning_db::Waits::No ? tuning_db::Waits::No : program_.waits(unit_, sizes);
  }

  // The whole of a nest of several parts.
  bool of_several() const { return !unit_.one_of_several() && nest_.units.size() > 1; }

  // The samples' compilers had to keep the order of sums.
  double sure(const sdfg::Sdfg& applied, const Sizes& sizes) const {
    const double there = model_.surely(tuning_db::gain_features(sized_.terms(sizes), sized_.terms(applied, sizes)));
    const double own = there / program_.lanes_of_sums(unit_.nest);
    return tuning_db::believe(own, model_.machine().threads, model_.machine().hardware, class_).ratio;
  }
  // What threads alone gain, 0: perhaps nothing. A part of several brings the whole's normal form with it, which may
  // store what the program kept in registers: where memory is what it waits for, it takes the whole, and one that
  // brings from memory little more than the program does.
  double threads_gain(const tuning_db::CoreLoad& load) const {
    const double gain = tuning_db::threads_gain(load, shared_.threads());
    if (gain == 0) return 0;
    if (unit_.one_of_several())
      return tuning_db::computes(load) && program_.computes() && !program_.apart_waits_more() ? gain : 0;
    return tuning_db::computes(load) || shared_.deep() ? gain : 0;
  }

  // `seconds`: what the original takes at these sizes, a low estimate.
  Predicted as_choice(const tuning_db::Candidate& candidate, double gain, double seconds, const Sizes& sizes) const {
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
    set_shape(e, unit_.nest, sizes, seconds, gain);
    e.hardware = class_;
    const auto* target = targets::find_target(match.recipe.target);
    e.threads =
        target != nullptr && target->has_threads() && sdfg::has_parallel_loop(candidate.applied) ? sized_.threads() : 1;
    return out;
  }

  const PreparedNest& nest_;
  const Unit& unit_;
  const GainModel& model_;
  const Effort& effort_;
  const string class_;          // of this machine
  const Sized sized_, shared_;  // the latter for threads alone
  const ProgramLoad program_;
  mutable std::optional<tuning_db::Waits> waits_;
};

}  // namespace

std::optional<Predicted> predict(const PreparedNest& nest, const Unit& unit, const GainModel& model,
                                 const Effort& effort, double least) {
  return Predictor(nest, unit, model, effort).best(least);
}

std::vector<Predicted> predict_as_written(const PreparedNest& nest, const GainModel& model, const Effort& effort) {
  return Predictor(nest, *nest.written, model, effort).as_it_is();
}

std::optional<Predicted> predict_vectors(const PreparedNest& nest, const Unit& unit, const GainModel& model,
                                         const Effort& effort, const transforms::Match& match) {
  return Predictor(nest, unit, model, effort).vectors(match);
}

std::optional<Predicted> predict_threads(const PreparedNest& nest, const Unit& unit, const GainModel& model,
                                         const Effort& effort) {
  return Predictor(nest, unit, model, effort).threads();
}

}  // namespace sous::client
