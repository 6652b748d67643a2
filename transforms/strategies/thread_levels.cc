#include "transforms/strategies/thread_levels.h"

#include <algorithm>

#include "transforms/strategies/workspaces.h"
#include "transforms/strategies/writing.h"

namespace sous::transforms {
namespace {

using std::string;

// The outermost loops inside of this one, at any distance, that threads may share.
std::vector<string> shared_inside(const NestFacts& nest, const string& loop) {
  std::vector<string> result;
  for (const string& inner : nest.loop(loop).inside) {
    if (nest.loop(inner).shared) {
      result.push_back(inner);
      continue;
    }
    for (const string& further : shared_inside(nest, inner)) result.push_back(further);
  }
  return result;
}

string sent_out(const NestFacts& nest, const std::vector<string>& loops) {
  string steps;
  for (const string& loop : loops) {
    if (nest.is_short(loop)) continue;
    const std::vector<string> together = nest.loops_to_share(loop);
    const bool uneven = std::ranges::any_of(together, [&](const string& one) { return nest.loop(one).uneven; });
    for (const string& one : together)
      steps += call("parallelize", "loop=" + one + ", kind=" + (uneven ? "dynamic" : "static"));
  }
  return steps;
}

// `steps`: those that led to this nest.
void add_levels(const NestFacts& nest, const string& steps, std::size_t most, std::vector<string>& recipes) {
  std::vector<string> loops = nest.outermost_shared(0);
  while (recipes.size() < most && !loops.empty()) {
    const string threads = sent_out(nest, loops);
    if (!threads.empty()) recipes.push_back(recipe_of(steps + threads));
    std::vector<string> next;
    for (const string& loop : loops)
      for (const string& inner : shared_inside(nest, nest.loops_to_share(loop).back())) next.push_back(inner);
    loops = std::move(next);
  }
}

}  // namespace

std::vector<string> thread_levels(const NestFacts& nest, std::size_t most, bool workspaces) {
  std::vector<string> recipes;
  const auto own = workspaces ? with_own_workspaces(nest) : std::nullopt;
  if (own) add_levels(own->facts, own->steps, most, recipes);
  add_levels(nest, "", most, recipes);
  return recipes;
}

}  // namespace sous::transforms
