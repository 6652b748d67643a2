#include "client/offload.h"

#include "client/cuda_toolkit.h"
#include "targets/target.h"
#include "tuning-db/tuner.h"

namespace sous::client {
namespace {

using std::string;

bool has_loop(const Unit& unit) {
  bool found = false;
  sdfg::visit(unit.nest.root, [&](const sdfg::Node& node) {
    found = found || std::holds_alternative<sdfg::Loop>(node.value) || std::holds_alternative<sdfg::While>(node.value);
  });
  return found;
}

// The first recipe of a strategy that applies. Errors: why none does.
Result<Choice> choose_for(const Question& question, const Unit& unit, UnitReport& report) {
  TRY(const auto proposed, tuning_db::propose(unit.nest, apply_options(question.nest), tuning_db::Strategies::Gpu));
  Error why{"offload.none", "no strategy for GPUs", unit.label};
  for (const auto& one : proposed) {
    if (!one.recipes) {
      why = one.recipes.error();
      continue;
    }
    for (const auto& open : *one.recipes) {
      TRY(auto recipe, transforms::closed(open));
      recipe.target = question.target;
      Choice choice{.unit = unit.index, .match = {}};
      choice.match.recipe = std::move(recipe);
      choice.match.name = one.strategy->name;
      choice.match.origin = transforms::Origin::Forced;
      std::vector<string> steps;
      const auto legal = apply_choice(question.nest, choice, &steps);
      report.candidates.push_back({choice.match, legal.has_value(), legal ? "" : legal.error().to_string()});
      if (legal) {
        report.steps = std::move(steps);
        return choice;
      }
      why = legal.error();
    }
  }
  return std::unexpected(why);
}

}  // namespace

Chosen offload(const Question& question) {
  const Nest& nest = question.nest;
  Chosen chosen;
  chosen.units = unit_reports(nest);
  for (std::size_t k = nest.units.size() > 1 ? 1 : 0; k < nest.units.size(); ++k) {
    const Unit& unit = nest.units[k];
    if (!has_loop(unit)) continue;
    chosen.units[k].asked = true;
    auto choice = choose_for(question, unit, chosen.units[k]);
    if (!choice) {
      chosen.choices.clear();
      chosen.why = unit.label + " stays off the GPU: " + choice.error().to_string();
      return chosen;
    }
    chosen.choices.push_back(std::move(*choice));
  }
  chosen.why = chosen.choices.empty()
                   ? "it has no loop for the GPU"
                   : "offloaded to the GPU without evidence, as " + question.target + " is asked for";
  return chosen;
}

}  // namespace sous::client
