// Recipes that are used because somebody said so.
#include <algorithm>

#include "client/choose.h"

namespace sous::client {
namespace {

using std::string;

// The unit with most work; the whole where that is all there is.
std::size_t hottest_unit(const PreparedNest& nest) {
  std::size_t best = 0;
  for (std::size_t k = 1; k < nest.units.size(); ++k) {
    if (best == 0 || unit_work(nest.units[k]) > unit_work(nest.units[best])) best = k;
  }
  return best;
}

// Which units a forced recipe fitted, by the names and numbers that recipes and --unit know them by.
string forced_why(const PreparedNest& nest, const std::vector<Choice>& choices, std::size_t hottest,
                  const std::vector<UnitReport>& reports) {
  constexpr std::size_t most = 3;
  if (choices.empty()) {
    const bool said = hottest < reports.size() && !reports[hottest].candidates.empty();
    return "the recipe applies to none of its units" +
           (said ? ": " + nest.units[hottest].label + ": " + reports[hottest].candidates[0].why_not : "");
  }
  string out = "the recipe given applies to ";
  for (std::size_t k = 0; k < choices.size() && k < most; ++k) {
    const Unit& unit = nest.unit(choices[k].unit);
    out += (k == 0 ? "" : "; ") + unit.label;
    if (nest.units.size() > 1) out += " (--unit " + std::to_string(unit.index) + ")";
    if (const string names = loop_names(unit); !names.empty()) out += " with loops " + names;
  }
  if (choices.size() > most) out += "; and " + std::to_string(choices.size() - most) + " more";
  return out;
}

}  // namespace

Chosen force(const Question& question, const transforms::Recipe& recipe) {
  const PreparedNest& nest = question.nest;
  Chosen chosen;
  chosen.units = unit_reports(nest);
  transforms::Match match;
  match.recipe = recipe;
  if (!question.target.empty()) match.recipe.target = question.target;
  match.name = "forced";
  match.origin = transforms::Origin::Forced;
  const std::size_t units = nest.units.size();
  const auto fits = [&](std::size_t k) {
    if (!question.unit.empty() && question.unit != std::to_string(k)) return false;
    Choice choice{.unit = k, .match = match};
    CandidateReport candidate{match, false, ""};
    UnitReport& report = chosen.units[k];
    report.asked = true;
    const auto legal = apply_choice(nest, choice, &report.steps);
    candidate.used = legal.has_value();
    if (legal) {
      chosen.choices.push_back(std::move(choice));
    } else {
      candidate.why_not = legal.error().to_string();
    }
    report.candidates.push_back(std::move(candidate));
    return legal.has_value();
  };
  const std::size_t hottest = hottest_unit(nest);
  // A recipe of few steps fits almost anything: it is meant for where the time goes, not for the loop that happens to
  // come first in the whole.
  const bool whole_first = recipe.steps.empty() || hottest == 0;
  const bool whole = units > 0 && (whole_first ? fits(0) : !fits(hottest) && fits(0));
  for (std::size_t k = 1; k < units && !whole; ++k) {
    if (whole_first || k != hottest) fits(k);
  }
  std::ranges::sort(chosen.choices, {}, &Choice::unit);
  chosen.why = forced_why(nest, chosen.choices, hottest, chosen.units);
  return chosen;
}

}  // namespace sous::client
