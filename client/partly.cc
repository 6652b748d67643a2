#include "client/partly.h"

#include <algorithm>

#include "client/promise.h"
#include "sdfg/planted_fault.h"
#include "targets/cpp/extents.h"

namespace sous::client {
namespace {

// What some parts have to gain for the whole: as much as is worth sending threads out for (tuning-db/core_load.cc). The
// others' normal form may cost something.
constexpr double least_by_some = 1.2;

bool on_cpu(const Choice& choice) {
  const auto* target = targets::find_target(choice.match.recipe.target);
  return target != nullptr && !target->has_gpu();
}

// The guards, for the IR; empty: one of them cannot be said there, or all ask the same.
std::vector<sdfg::Condition> conditions(const Chosen& chosen, const PreparedNest& nest) {
  std::vector<sdfg::Condition> result;
  if (chosen.choices.size() < 2 || chosen.guards.size() != chosen.choices.size()) return result;
  for (const targets::Guard& guard : chosen.guards) {
    auto condition = targets::condition(guard, nest.normal);
    if (!condition) return {};
    result.push_back(std::move(*condition));
  }
  const bool differ = std::ranges::any_of(result, [&](const auto& one) { return one != result.front(); });
  return differ ? result : std::vector<sdfg::Condition>{};
}

double promised_by(const Chosen& chosen, const PreparedNest& nest) {
  return chosen.choices.size() == 1 ? promised(chosen.choices.front().match) : promised(nest, chosen.choices);
}

}  // namespace

void run_partly(Chosen& chosen, const PreparedNest& nest) {
  double least = least_by_some;  // and as much as what would run otherwise
  const auto set = [&](Chosen& one) {
    if (!conditions(one, nest).empty() && std::ranges::all_of(one.choices, on_cpu)) one.least_saved = 1 - 1 / least;
    if (!one.choices.empty()) least = std::max(least, promised_by(one, nest));
  };
  for (std::size_t k = chosen.otherwise.size(); k-- > 0;) set(chosen.otherwise[k]);
  set(chosen);
}

Result<sdfg::Sdfg> assemble(const PreparedNest& nest, const Chosen& chosen) {
  return assemble(nest, chosen.choices,
                  chosen.least_saved > 0 ? conditions(chosen, nest) : std::vector<sdfg::Condition>{});
}

sdfg::Region others_than(const Chosen& chosen, const PreparedNest& nest) {
  sdfg::Region others;
  for (std::size_t k = 0; k < nest.normal.root.nodes.size(); ++k) {
    const bool is_chosen = std::ranges::any_of(chosen.choices, [&](const Choice& choice) {
      const Unit& unit = nest.unit(choice.unit);
      return unit.first <= k && k < unit.last;
    });
    if (!is_chosen) others.nodes.push_back(nest.normal.root.nodes[k]);
  }
  return others;
}

double least_work(const Chosen& chosen) {
  double result = 0;
  for (std::size_t k = 0; k < chosen.guards.size(); ++k) {
    const double one = chosen.guards[k].least_work;
    result = k == 0 ? one : chosen.least_saved > 0 ? std::min(result, one) : std::max(result, one);
  }
  return result;
}

}  // namespace sous::client
