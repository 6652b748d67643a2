#include "client/called.h"

#include <algorithm>
#include <string>

#include "client/promise.h"

namespace sous::client {
namespace {

using frontends::LiftedNest;

// At first, not only for other shapes.
bool is_threads_alone(const Chosen& chosen) {
  return std::ranges::any_of(chosen.choices, [](const Choice& choice) {
    return is_by_strategy(choice.match, &transforms::StrategyInfo::threads_alone);
  });
}

void drop_threads_alone(Chosen& chosen, const std::string& why) {
  std::erase_if(chosen.otherwise, is_threads_alone);
  if (!is_threads_alone(chosen)) return;
  chosen.choices.clear();
  chosen.why = why;
  for (UnitReport& unit : chosen.units) {
    unit.steps.clear();
    for (CandidateReport& candidate : unit.candidates) {
      if (candidate.used) candidate.why_not = why;
      candidate.used = false;
    }
  }
}

// Whether loops of `called`, which is in another function, are loops of the nest.
bool calls(const LiftedNest& nest, const LiftedNest& called) {
  if (nest.function == called.function || nest.file != called.file) return false;
  return std::ranges::any_of(
      nest.loop_lines, [&](const auto& loop) { return loop.second >= called.line && loop.second <= called.end_line; });
}

}  // namespace

void leave_to_called(const std::vector<const LiftedNest*>& nests, std::vector<Chosen>& chosen) {
  for (std::size_t k = 0; k < nests.size(); ++k)
    for (std::size_t other = 0; other < nests.size(); ++other)
      if (!chosen[other].choices.empty() && !is_threads_alone(chosen[other]) && calls(*nests[k], *nests[other]))
        drop_threads_alone(chosen[k], "what it calls has a recipe of its own: " + nests[other]->function);
}

}  // namespace sous::client
