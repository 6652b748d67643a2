#include "client/choose.h"

#include <algorithm>
#include <map>
#include <optional>

#include "client/described.h"
#include "client/doubts.h"
#include "client/partly.h"
#include "client/predicted.h"
#include "client/program_load.h"
#include "client/promise.h"
#include "sdfg/planted_fault.h"
#include "transforms/normal_form.h"
#include "tuning-db/belief.h"
#include "tuning-db/shape.h"
#include "tuning-db/size_class.h"

namespace sous::client {
namespace {

using std::string;
using transforms::Match;
using transforms::Origin;

// Where nests by themselves gain less than this, what the whole gains from fusing them is looked at.
constexpr double worth_fusing = 2;

class Chooser {
 public:
  explicit Chooser(const Question& question)
      : question_(question),
        hardware_(tuning_db::hardware_class(question.nest.hardware)),
        program_(question.nest, question.nest.hardware.cores) {}

  // The best match of the unit that fits, is legal and has evidence.
  std::optional<Choice> pick(const Unit& unit, UnitReport& report) const {
    auto known = pick_known(unit, report);
    // For a whole of several nests these are asked first.
    const bool asks = unit.one_of_several() || question_.nest.units.size() == 1;
    if (!asks || (known && !leaves_lanes_empty(unit, *known))) return known;
    UnitReport instead = report;
    set_aside(instead, "what a strategy writes promises more");
    auto written = strategy(unit, instead);
    if (known && (!written || promised(written->match) <= promised(known->match))) return known;
    report = std::move(instead);
    return written;
  }
  // The same of what the sources know.
  std::optional<Choice> pick_known(const Unit& unit, UnitReport& report) const {
    std::optional<Choice> best;
    report.asked = true;
    for (const Match* at : as_they_count(unit)) {
      const Match& match = *at;
      CandidateReport candidate{match, false, ""};
      candidate.match.nest = {};
      if (best) {
        candidate.why_not = "one before it is used";
      } else {
        best = judge(unit, match, candidate, report);
      }
      report.candidates.push_back(std::move(candidate));
    }
    return best;
  }

  // What a strategy writes for the unit, if it is sure to gain.
  std::optional<Choice> strategy(const Unit& unit, UnitReport& report) const {
    const auto* model = model_for_strategies();
    if (model == nullptr) return std::nullopt;
    auto predicted =
        predict(question_.nest, unit, *model, effort_, question_.measure ? 1 : tuning_db::GainModel::least_sure);
    if (!predicted) return std::nullopt;
    Choice& choice = predicted->choice;
    Match& match = choice.match;
    // Nothing is predicted of another target's code.
    if (for_another_target(match)) return std::nullopt;
    match.belief = "predicted: at least " + speed(match.believed);
    CandidateReport candidate{match, true, refuted(unit, match)};
    if (candidate.why_not.empty()) candidate.why_not = crowded(question_.nest.hardware, unit, choice);
    if (candidate.why_not.empty() && question_.measure)
      candidate.why_not = measured_here("only predicted", choice, candidate);
    candidate.used = candidate.why_not.empty();
    report.candidates.push_back(std::move(candidate));
    if (!report.candidates.back().used) return std::nullopt;
    return std::move(choice);
  }

  // For other shapes of the nest than these choices are for, by vectors alone: one for each of them, but for those of
  // which nobody feels that they gain nothing. Empty: they gain nothing.
  std::vector<Choice> by_vectors(const std::vector<Choice>& first) const {
    const auto* model = model_for_strategies();
    double most = 0;
    for (const Choice& choice : first) most = std::max(most, unit_work(question_.nest.unit(choice.unit)));
    std::vector<Choice> choices;
    for (const Choice& choice : first) {
      const Unit& unit = question_.nest.unit(choice.unit);
      auto vectors = model == nullptr
                         ? std::nullopt
                         : accepted(unit, predict_vectors(question_.nest, unit, *model, effort_, choice.match));
      if (vectors) choices.push_back(std::move(*vectors));
      if (!vectors && unit_work(unit) >= felt_share * most) return {};
    }
    return choices;
  }
  // For runs with fewer threads than these choices need: what evidence of the very nests gains most on one. Empty where
  // one of them has none.
  std::vector<Choice> on_one_thread(const std::vector<Choice>& first) const {
    std::vector<Choice> choices;
    for (const Choice& choice : first) {
      const Unit& unit = question_.nest.unit(choice.unit);
      UnitReport report;
      report.size_class = size_class_of(unit);
      std::optional<Choice> best;
      for (const Match& match : unit.matches) {
        if (match.distance > 0 || match.evidence.threads > 1) continue;
        CandidateReport candidate{match, false, ""};
        auto one = judge(unit, match, candidate, report);
        if (one && (!best || one->match.believed > best->match.believed)) best = std::move(one);
      }
      if (!best) return {};
      choices.push_back(std::move(*best));
    }
    return choices;
  }
  // Of the whole in the program's own order: what a lock file pins, or what threads alone gain, and for other shapes.
  std::vector<Choice> as_written(UnitReport& report) const {
    const Unit& unit = *question_.nest.written;
    std::vector<Choice> choices;
    if (!unit.matches.empty()) {
      if (auto known = pick_known(unit, report)) choices.push_back(std::move(*known));
      return choices;
    }
    const auto* model = question_.measure ? nullptr : model_for_strategies();
    if (model == nullptr) return choices;
    for (Predicted& predicted : predict_as_written(question_.nest, *model, effort_)) {
      if (!choices.empty() && !question_.other_shapes) break;
      auto choice = accepted(unit, std::move(predicted));
      if (!choice) continue;
      report.candidates.push_back({choice->match, choices.empty(), choices.empty() ? "" : "for other shapes"});
      choices.push_back(std::move(*choice));
    }
    return choices;
  }
  // The same as by_vectors of the whole, by threads alone: in normal form, or else in the program's own order.
  std::vector<Choice> by_threads() const {
    const auto* model = model_for_strategies();
    const PreparedNest& nest = question_.nest;
    if (model == nullptr) return {};
    auto threads = accepted(nest.units.front(), predict_threads(nest, nest.units.front(), *model, effort_));
    if (threads) return {std::move(*threads)};
    if (!nest.written || effort_.spent()) return {};
    for (Predicted& predicted : predict_as_written(nest, *model, effort_))
      if (auto choice = accepted(*nest.written, std::move(predicted))) return {std::move(*choice)};
    return {};
  }

 private:
  // Null: none is asked, as beside what a lock file pins.
  const tuning_db::GainModel* model_for_strategies() const {
    const bool asks =
        question_.gain_model != nullptr && (!question_.nest.pinned() || planted(Fault::strategy_beside_lock));
    return asks ? question_.gain_model() : nullptr;
  }

  // What is predicted for the unit, if nothing speaks against it.
  std::optional<Choice> accepted(const Unit& unit, std::optional<Predicted> predicted) const {
    if (!predicted || for_another_target(predicted->choice.match)) return std::nullopt;
    Choice& choice = predicted->choice;
    choice.match.belief = "predicted: at least " + speed(predicted->gain);
    if (!refuted(unit, choice.match).empty() || !crowded(question_.nest.hardware, unit, choice).empty())
      return std::nullopt;
    return std::move(choice);
  }

  bool for_another_target(const Match& match) const {
    return !question_.target.empty() && question_.target != match.recipe.target;
  }

  // Evidence of this very recipe here, that it does not gain.
  string refuted(const Unit& unit, const Match& predicted) const {
    const bool known = std::ranges::any_of(unit.matches, [&](const Match& match) {
      return match.recipe.steps == predicted.recipe.steps && settled(match, size_class_of(unit));
    });
    return known ? "not faster: measured here" : "";
  }

  // Measures a choice that there is a doubt about, on the spot: "" if that is evidence for it, or why it is none.
  string measured_here(const string& doubt, Choice& choice, CandidateReport& candidate) const {
    const auto evidence = question_.measure(question_.nest, choice);
    if (!evidence) return doubt + "; not measured: " + evidence.error().to_string();
    choice.match.evidence = *evidence;
    choice.match.distance = 0;
    const string why_not = not_evidence(choice.match, evidence->size_class, hardware_);
    if (!why_not.empty()) return "measured here: " + why_not;
    candidate.match.evidence = *evidence;
    believed(choice, candidate, "");
    return "";
  }

  void believed(Choice& choice, CandidateReport& candidate, const string& counts_less) const {
    believe(choice.match);
    string& belief = choice.match.belief;
    if (!counts_less.empty()) belief = counts_less + (belief.empty() ? "" : "; then " + belief);
    candidate.match.believed = choice.match.believed;
    candidate.match.belief = choice.match.belief;
  }

  // This class has measured just this, and it was no gain: measuring again would say the same.
  bool settled(const Match& match, const string& size_class) const {
    const bool known_size = !size_class.starts_with("unknown");
    return match.distance == 0 && match.evidence.tuned_seconds > 0 &&
           tuning_db::believe(match.evidence, hardware_).own_class &&
           (!known_size || tuning_db::like_size(match.evidence.size_class, size_class));
  }

  void believe(Match& match) const {
    const auto belief = tuning_db::believe(match.evidence, hardware_);
    // What a lock file pins is used as it is, wherever it was measured.
    match.believed = belief.ratio > 0 ? belief.ratio : match.evidence.ratio();
    if (belief.ratio > 0) match.belief = in_words(belief, match.evidence);
  }

  std::optional<Choice> judge(const Unit& unit, const Match& match, CandidateReport& candidate,
                              UnitReport& report) const {
    const bool locked = match.origin == Origin::Lock;
    string doubt = locked ? "" : not_evidence(match, report.size_class, hardware_);
    if (!doubt.empty() && (!question_.measure || settled(match, report.size_class))) {
      candidate.why_not = doubt;
      return std::nullopt;
    }
    auto fit = fitted(unit, match, question_.target, question_.cpu_only);
    if (!fit) {
      candidate.why_not = fit.error().to_string();
      return std::nullopt;
    }
    Here here{std::move(*fit), {}};
    if (!locked) here = as_it_counts(unit, std::move(here.match), program_.lanes_of_sums(unit.nest));
    // Once more, as what is known of a neighbour's shape is not known of this nest's.
    if (doubt.empty() && !locked) doubt = not_evidence(here.match, report.size_class, hardware_);
    if (doubt.empty() && !locked) doubt = too_small(unit, here.match);
    if (!doubt.empty() && !question_.measure) {
      candidate.why_not = doubt;
      return std::nullopt;
    }
    Choice choice{.unit = unit.index, .match = std::move(here.match)};
    std::vector<string> steps;
    const auto legal = apply_choice(question_.nest, choice, &steps);
    if (!legal) {
      candidate.why_not = legal.error().to_string();
      report.steps.insert(report.steps.end(), steps.begin(), steps.end());
      return std::nullopt;
    }
    if (doubt.empty() && !locked) doubt = shared_sets(question_.nest.hardware, unit, match.nest, choice);
    if (doubt.empty() && !locked && question_.gain_model != nullptr)
      doubt = predicted_loss(question_.nest.hardware, unit, choice, question_.gain_model);
    if (!doubt.empty() && !question_.measure) {
      candidate.why_not = doubt;
      return std::nullopt;
    }
    if (!doubt.empty()) {
      candidate.why_not = measured_here(doubt, choice, candidate);
      if (!candidate.why_not.empty()) return std::nullopt;
    } else {
      believed(choice, candidate, here.doubts);
    }
    candidate.used = true;
    report.steps = std::move(steps);
    return choice;
  }

  const Question& question_;
  const Effort effort_;
  const string hardware_;  // class
  const ProgramLoad program_;
};

bool by_threads_alone(const Choice& choice) {
  return is_by_strategy(choice.match, &transforms::StrategyInfo::threads_alone);
}

// The choices for the nests of several. Returns the first with the most work that has none: then the others' are not
// used, and only looked for where all is to be told.
string choose_nests(const Question& question, const Chooser& chooser, Chosen& chosen) {
  const std::vector<Unit>& units = question.nest.units;
  // What takes longest: where an array is only filled, as many statements run as where the nest computes it.
  std::vector<double> operations;
  for (const Unit& unit : units) operations.push_back(tuning_db::operations(unit.nest, unit.sizes));
  const double most = *std::max_element(operations.begin() + 1, operations.end());
  std::map<std::size_t, Choice> choices;
  string missing;
  for (const bool largest : {true, false}) {
    for (std::size_t k = 1; k < units.size(); ++k) {
      const Unit& unit = units[k];
      const double work = operations[k];
      if ((work >= most) != largest) continue;
      // The entry runs the original where one shape of several is too small: for a gain that nobody feels no other is
      // lost.
      if (!sizes_known(unit) && work < felt_share * most) continue;
      if (auto choice = chooser.pick(unit, chosen.units[k])) {
        choices.emplace(k, std::move(*choice));
      } else if (largest && missing.empty()) {
        missing = unit.label;
        if (!question.tells_all) return missing;
      }
    }
  }
  for (auto& [k, choice] : choices) chosen.choices.push_back(std::move(choice));
  return missing;
}

Chosen in_normal_form(const Question& question, const Chooser& chooser) {
  const PreparedNest& nest = question.nest;
  Chosen chosen;
  chosen.units = unit_reports(nest);
  if (nest.units.empty()) {
    chosen.why = "nothing is left of it in normal form";
    return chosen;
  }

  const bool has_whole = nest.units.size() > 1;
  auto whole = chooser.pick(nest.units[0], chosen.units[0]);
  const auto use_whole = [&] {
    chosen.choices = {std::move(*whole)};
    describe(chosen, nest);
    return chosen;
  };
  if (whole && (whole->match.distance == 0 || !has_whole)) return use_whole();
  if (!has_whole) {
    chosen.why = "no recipe with evidence that it is faster here";
    return chosen;
  }

  const string missing = choose_nests(question, chooser, chosen);
  const bool complete = missing.empty() && !chosen.choices.empty();
  const double by_nests = complete ? promised(nest, chosen.choices) : 0;
  if (!whole && by_nests < worth_fusing) whole = chooser.strategy(nest.units[0], chosen.units[0]);
  // Threads on parts by themselves are not preferred to threads on the whole, which hands less from part to part.
  const bool as_one = whole && by_threads_alone(*whole) && by_nests < worth_fusing &&
                      std::ranges::any_of(chosen.choices, by_threads_alone);
  if (whole && (as_one || promised(whole->match) >= by_nests)) {
    const string why = as_one ? "threads are sent out over the whole"
                              : "the whole has a recipe that promises more: " + speed(promised(whole->match));
    for (std::size_t k = 1; k < nest.units.size(); ++k) set_aside(chosen.units[k], why);
    return use_whole();
  }
  if (whole) set_aside(chosen.units[0], "the nests' recipes promise more: " + speed(by_nests));
  if (!complete) {
    chosen.choices.clear();
    chosen.why = "no recipe with evidence that it is faster here" + (missing.empty() ? "" : " for " + missing);
    return chosen;
  }
  describe(chosen, nest);
  return chosen;
}

Chosen first_choice(const Question& question, const Chooser& chooser) {
  Chosen chosen = in_normal_form(question, chooser);
  const auto& written = question.nest.written;
  if (!chosen.choices.empty() || !written) return chosen;
  UnitReport report = unit_report(*written);
  auto choices = chooser.as_written(report);
  if (choices.empty()) return chosen;
  chosen.units.push_back(std::move(report));
  chosen.why.clear();
  for (std::size_t k = 0; k < choices.size(); ++k) {
    Chosen& one = k == 0 ? chosen : chosen.otherwise.emplace_back();
    one.choices = {std::move(choices[k])};
    describe(one, question.nest);
  }
  std::erase_if(chosen.otherwise, [](const Chosen& other) { return other.choices.empty(); });
  return chosen;
}

// What runs for other shapes and with fewer threads.
void choose_otherwise(const Question& question, const Chooser& chooser, Chosen& chosen) {
  const auto add = [&](std::vector<Choice> choices) {
    if (choices.empty()) return;
    Chosen& other = chosen.otherwise.emplace_back();
    other.choices = std::move(choices);
    describe(other, question.nest);
    if (other.choices.empty()) chosen.otherwise.pop_back();
  };
  if (chosen.threads > 1) {
    auto alone = chooser.on_one_thread(chosen.choices);
    for (std::size_t k = 0; k < alone.size(); ++k)
      chosen.least_threads = std::max(
          chosen.least_threads, threads_to_beat(chosen.choices[k].match, alone[k].match, question.nest.hardware.cores));
    if (chosen.least_threads > 1) add(std::move(alone));
  }
  if (chosen.guards.empty() || std::ranges::all_of(chosen.choices, by_threads_alone)) return;
  const bool freed = std::ranges::any_of(chosen.choices, [](const Choice& choice) {
    return is_by_strategy(choice.match, &transforms::StrategyInfo::frees_loops);
  });
  add(chooser.by_vectors(chosen.choices));
  if (!freed) add(chooser.by_threads());
}

}  // namespace

Chosen choose(const Question& question) {
  const Chooser chooser(question);
  Chosen chosen = first_choice(question, chooser);
  if (question.other_shapes) choose_otherwise(question, chooser, chosen);
  run_partly(chosen, question.nest);
  return chosen;
}

}  // namespace sous::client
