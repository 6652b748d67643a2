#include "client/tune.h"

#include <algorithm>

#include "client/choose.h"
#include "client/measure.h"
#include "client/process.h"
#include "client/trial_sizes.h"
#include "sdfg/planted_fault.h"
#include "targets/target.h"
#include "transforms/roles.h"
#include "tuning-db/shape.h"

namespace sous::client {
namespace {

using std::string;
using transforms::Match;
using tuning_db::Candidate;
using tuning_db::Care;

// Executions of statements in one run, where the sizes are ours to choose: some tenths of a second of the original, so
// that a minute is enough for many candidates.
constexpr double tuned_work = 3e8;
// How fast sizes become smaller in search of the least that gains, the work of the least one that is looked at, the
// gain that it must have, and how much longer a loop must be than one that gained.
constexpr double step_down = 8, least_work = 2e3, tuned_margin = 0.1, longer = 1.5;
// How much faster than its parts a whole must be, which from then on is asked first.
constexpr double whole_margin = 0.03;
// Of one run, where nothing is known of how long one takes.
constexpr double longest_run = 20;
// What a run of the original should take, where only runs tell; the work that the first one is given, and how much more
// the next one at most.
constexpr double tuned_seconds = 0.1, first_work = 1e5, most_growth = 50;

std::vector<tuning_db::Proposal> proposals(const sdfg::Sdfg& nest, const std::vector<Match>& known,
                                           const std::vector<tuning_db::Proposed>& proposed) {
  std::vector<tuning_db::Proposal> result;
  for (const Match& match : known) {
    const auto recipe = transforms::match_roles(match.recipe, match.nest, nest);
    if (recipe) result.push_back({match.name, {transforms::to_text(*recipe), {}}});
  }
  for (const auto& one : proposed) {
    if (!one.recipes) continue;
    for (const auto& recipe : *one.recipes) result.push_back({string(one.strategy->name), recipe});
  }
  return result;
}

Result<PreparedNest> at_work(const PreparedNest& nest, std::size_t unit, double work, Inputs inputs) {
  return at_trial_sizes(nest, unit, "", work, inputs);
}

// Sizes at which a run takes some tenths of a second. How often a while loop runs, only runs tell.
Result<PreparedNest> at_tuned_sizes(const PreparedNest& nest, std::size_t unit, const TuneOptions& options) {
  bool open = false;
  sdfg::visit(nest.unit(unit).nest.root,
              [&](const sdfg::Node& node) { open = open || std::holds_alternative<sdfg::While>(node.value); });
  if (!open || sizes_known(nest.unit(unit))) return at_work(nest, unit, tuned_work, options.inputs);
  Choice original{.unit = unit, .match = {}, .applied = nest.unit(unit).nest};
  original.match.recipe.target = "cpp";
  const Pace once{.most = 1, .limit_seconds = longest_run, .stop = options.stop, .inputs = options.inputs};
  double work = first_work;
  while (true) {
    auto sized = at_work(nest, unit, work, options.inputs);
    double growth = most_growth;  // deep nests have more work at any sizes
    if (sized) {
      TRY(const double seconds, time_on_the_spot(*sized, original, once));
      growth = std::min(most_growth, tuned_seconds / std::max(seconds, 1e-9));
    }
    if (growth < 2 || work >= tuned_work) return sized;
    work = std::min(tuned_work, growth * work);
  }
}

// Measures the best candidate at smaller and smaller sizes, as long as it gains: what a shape needs at least.
void find_least(const PreparedNest& nest, std::size_t unit, const TuneOptions& options, tuning_db::Tuned& tuned) {
  Choice choice{.unit = unit, .match = {}, .applied = tuned.best->applied};
  choice.match.recipe = tuned.best->recipe;
  transforms::Evidence& found = tuned.evidence;
  for (double work = found.work / step_down; work >= least_work; work /= step_down) {
    if (options.stop != nullptr && options.stop->load()) return;
    const auto smaller = at_work(nest, unit, work, options.inputs);
    if (!smaller || sizes_known(nest.unit(unit))) return;
    const auto evidence =
        measure_on_the_spot(*smaller, choice, {.most = 7, .until_decided = true, .inputs = options.inputs});
    if (!evidence || !(evidence->work > 0)) return;
    if (options.progress) options.progress({*smaller, unit, *tuned.best, &*evidence}, found.ratio());
    if (!gains_as_well(*evidence, found)) return;
    // Other shapes of as much work were not measured: each extent is to be some longer than here.
    found.least_extents = evidence->extents;
    for (std::size_t k = 0; k < found.least_extents.size(); ++k)
      found.least_extents[k] = std::min(longer * found.least_extents[k], found.extents[k]);
    found.least_work = std::min(longer * evidence->work, found.work);
  }
}

}  // namespace

bool gains_as_well(const transforms::Evidence& smaller, const transforms::Evidence& found) {
  if (smaller.ratio() <= 1 + tuned_margin + smaller.baseline_spread + smaller.tuned_spread) return false;
  return planted(Fault::floor_on_any_threads) || tuning_db::least_threads(smaller) <= tuning_db::least_threads(found);
}

bool beats(const transforms::Evidence& whole, const Timing& parts) {
  const double doubt = whole_margin + whole.tuned_spread + parts.spread;
  return planted(Fault::whole_whatever_its_parts) || whole.tuned_seconds * (1 + doubt) < parts.median;
}

std::vector<std::size_t> units_to_tune(const PreparedNest& nest) {
  std::vector<std::size_t> units;
  double all = 0;
  for (std::size_t k = nest.units.size() > 1 ? 1 : 0; k < nest.units.size(); ++k) {
    units.push_back(k);
    all += unit_work(nest.units[k]);
  }
  std::erase_if(units, [&](std::size_t k) { return unit_work(nest.units[k]) < felt_share * all; });
  std::ranges::sort(units, {}, [&](std::size_t k) { return std::pair(-unit_work(nest.units[k]), k); });
  return units;
}

Result<TunedUnit> tune_unit(const PreparedNest& nest, std::size_t unit, const std::vector<Match>& known,
                            const TuneOptions& options) {
  TunedUnit result{.unit = unit, .sized = {}, .tuned = {}};
  TRY(result.sized, at_tuned_sizes(nest, unit, options));
  const auto& subject = nest.unit(unit).nest;
  tuning_db::TunerOptions tuner;
  tuner.apply = apply_options(nest);
  if (options.gpu) tuner.apply.context.sizes = {nest.unit(unit).sizes.begin(), nest.unit(unit).sizes.end()};
  const bool whole = unit == 0 && nest.units.size() > 1;
  const auto which = options.gpu ? tuning_db::Strategies::Gpu
                     : whole     ? tuning_db::Strategies::Whole
                                 : tuning_db::Strategies::Cpu;
  TRY(const auto proposed, tuning_db::propose(subject, tuner.apply, which));
  const auto all = proposals(subject, known, proposed);
  if (all.empty()) return fail("tune.nothing", "no strategy and no similar nest has a recipe for it");
  tuner.seconds = options.seconds_per_nest;
  tuner.clock = now;
  tuner.stopped = [&] { return options.stop != nullptr && options.stop->load(); };
  transforms::Evidence first;  // the original is measured once, until it is about proof
  tuner.measure = [&](const Candidate& candidate, Care care, double most_seconds) -> Result<transforms::Evidence> {
    Choice choice{.unit = unit, .match = {}, .applied = candidate.applied};
    choice.match.recipe = candidate.recipe;
    Pace pace{.most = 2,
              .limit_seconds = most_seconds > 0 ? most_seconds : longest_run,
              .stop = options.stop,
              .inputs = options.inputs};
    if (care == Care::Glance && first.baseline_seconds > 0) {
      transforms::Evidence glance = first;
      TRY(glance.tuned_seconds, time_on_the_spot(result.sized, choice, pace));
      return glance;
    }
    if (care == Care::Proof)
      pace = {.most = 7,
              .until_decided = true,
              .limit_seconds = longest_run,
              .stop = options.stop,
              .inputs = options.inputs};
    TRY(const auto evidence, measure_on_the_spot(result.sized, choice, pace));
    first = evidence;
    return evidence;
  };
  tuner.progress = [&](const Candidate& candidate, const transforms::Evidence* evidence, double best) {
    if (options.progress) options.progress({result.sized, unit, candidate, evidence}, best);
  };
  result.tuned = tuning_db::tune(subject, all, tuner);
  if (result.tuned.best) find_least(nest, unit, options, result.tuned);
  return result;
}

Result<TunedUnit> tune_whole(const PreparedNest& nest, const std::vector<Match>& known,
                             const std::vector<Choice>& parts, const TuneOptions& options) {
  TRY(auto result, tune_unit(nest, 0, known, options));
  if (!result.tuned.best || parts.empty()) return result;
  std::vector<Choice> applied = parts;
  for (Choice& part : applied) TRY_VOID(apply_choice(result.sized, part, nullptr));
  const Pace pace{.limit_seconds = longest_run, .stop = options.stop, .inputs = options.inputs};
  const auto in_parts = time_together(result.sized, applied, pace);
  // What cannot run side by side is no better.
  if (in_parts && !beats(result.tuned.evidence, *in_parts)) result.tuned.best.reset();
  return result;
}

}  // namespace sous::client
