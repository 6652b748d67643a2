#include "client/offload.h"

#include <algorithm>

#include "client/cuda_toolkit.h"
#include "client/offer.h"
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
  auto options = apply_options(question.nest);
  options.context.sizes = {unit.sizes.begin(), unit.sizes.end()};
  TRY(const auto proposed, tuning_db::propose(unit.nest, options, tuning_db::Strategies::Gpu));
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
  const PreparedNest& nest = question.nest;
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
  chosen.why = chosen.choices.empty() ? "it has no loop for the GPU"
                                      : "offloaded to the GPU without evidence, as all is asked for";
  return chosen;
}

namespace {

bool is_locked(const Chosen& chosen) {
  return std::ranges::any_of(chosen.choices,
                             [](const Choice& choice) { return choice.match.origin == transforms::Origin::Lock; });
}

// What is for the CPU alone, and why.
Chosen off_the_gpu(Chosen cpu, const string& why) {
  cpu.why += string(not_offered) + why;
  return cpu;
}

// The evidence of a measurement on the spot (--measure), where it can be had: then no estimate decides.
void measure(const Question& question, Chosen& gpu) {
  if (!question.measure || gpu.choices.size() != 1) return;
  Choice& choice = gpu.choices.front();
  const auto evidence = question.measure(question.nest, choice);
  if (!evidence) return;
  choice.match.evidence = *evidence;
  choice.match.origin = transforms::Origin::Database;
}

}  // namespace

Chosen choose_where(const Question& question, const Offering& offering) {
  const PreparedNest& nest = question.nest;
  Question known = question;
  known.measure = {};
  Chosen gpu = choose(known);
  if (is_locked(gpu)) return gpu;
  if (gpu.choices.empty() && offering.by_strategy) {
    gpu = offload(question);
    if (!offering.all) measure(question, gpu);
  }
  if (offering.all) return gpu;
  Question of_cpu = question;
  of_cpu.target.clear();
  of_cpu.cpu_only = true;
  Chosen cpu = choose(of_cpu);
  if (is_locked(cpu)) return cpu;
  if (gpu.choices.empty()) return off_the_gpu(std::move(cpu), gpu.why);
  const auto applied = assemble(nest, gpu.choices);
  if (!applied) return off_the_gpu(std::move(cpu), applied.error().to_string());
  static const tuning_db::Gpu device = offered_gpu();
  Times expected = times(nest, gpu, *applied, cpu, device);
  if (!expected.gains()) return off_the_gpu(std::move(cpu), expected.in_words());
  gpu.why = "offered to the GPU (" + device.name + "): " + expected.in_words();
  if (!offering.each_call) return gpu;
  gpu.why += "; each call decides for its sizes, and else " +
             (cpu.choices.empty() ? string("the original runs") : "the CPU runs " + cpu.why);
  gpu.offer = std::move(expected.offer);
  if (!cpu.choices.empty()) gpu.beside = {std::move(cpu)};
  return gpu;
}

}  // namespace sous::client
