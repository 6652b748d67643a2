#include "client/tune.h"

#include <algorithm>

#include "client/measure.h"
#include "client/process.h"
#include "client/trial_sizes.h"
#include "targets/target.h"
#include "transforms/roles.h"

namespace sous::client {
namespace {

using std::string;
using transforms::Match;
using tuning_db::Candidate;
using tuning_db::Care;

// Less of a nest's work than this cannot be felt.
constexpr double least_share = 0.05;
// Executions of statements in one run, where the sizes are ours to choose: some tenths of a second of the original, so
// that a minute is enough for many candidates.
constexpr double tuned_work = 3e8;
// Of one run, where nothing is known of how long one takes.
constexpr double longest_run = 20;

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

}  // namespace

std::vector<std::size_t> units_to_tune(const Nest& nest) {
  std::vector<std::size_t> units;
  double all = 0;
  for (std::size_t k = nest.units.size() > 1 ? 1 : 0; k < nest.units.size(); ++k) {
    units.push_back(k);
    all += unit_work(nest.units[k]);
  }
  std::erase_if(units, [&](std::size_t k) { return unit_work(nest.units[k]) < least_share * all; });
  std::ranges::sort(units, {}, [&](std::size_t k) { return std::pair(-unit_work(nest.units[k]), k); });
  return units;
}

Result<TunedUnit> tune_unit(const Nest& nest, std::size_t unit, const std::vector<Match>& known, const Meaning& meaning,
                            const TuneOptions& options) {
  TunedUnit result{.unit = unit, .sized = {}, .tuned = {}};
  TRY(result.sized, at_trial_sizes(nest, unit, "", tuned_work));
  const auto& subject = nest.units[unit].nest;
  tuning_db::TunerOptions tuner;
  tuner.apply = apply_options(nest);
  TRY(const auto proposed, tuning_db::propose(subject, tuner.apply));
  const auto all = proposals(subject, known, proposed);
  if (all.empty()) return fail("tune.nothing", "no strategy and no similar nest has a recipe for it");
  tuner.seconds = options.seconds_per_nest;
  tuner.clock = now;
  tuner.stopped = [&] { return options.stop != nullptr && options.stop->load(); };
  transforms::Evidence first;  // the original is measured once, until it is about proof
  tuner.measure = [&](const Candidate& candidate, Care care, double most_seconds) -> Result<transforms::Evidence> {
    Choice choice{.unit = unit, .match = {}, .applied = candidate.applied};
    choice.match.recipe = candidate.recipe;
    Pace pace{.most = 2, .limit_seconds = most_seconds > 0 ? most_seconds : longest_run, .stop = options.stop};
    if (care == Care::Glance && first.baseline_seconds > 0) {
      transforms::Evidence glance = first;
      TRY(glance.tuned_seconds, time_on_the_spot(result.sized, choice, meaning, pace));
      return glance;
    }
    if (care == Care::Proof)
      pace = {.most = 7, .until_decided = true, .limit_seconds = longest_run, .stop = options.stop};
    TRY(const auto evidence, measure_on_the_spot(result.sized, choice, meaning, pace));
    first = evidence;
    return evidence;
  };
  const string label = nest.lifted->function + " (" + nest.units[unit].label + ")";
  tuner.progress = [&](const Candidate& candidate, double ratio, double best) {
    if (options.progress) options.progress(label, candidate, ratio, best);
  };
  result.tuned = tuning_db::tune(subject, all, tuner);
  return result;
}

}  // namespace sous::client
