#include "transforms/strategies/thread_levels.h"

#include <algorithm>

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

}  // namespace

std::vector<string> thread_levels(const NestFacts& nest, std::size_t most) {
  std::vector<string> recipes;
  std::vector<string> loops = nest.outermost_shared(0);
  while (recipes.size() < most && !loops.empty()) {
    const string steps = sent_out(nest, loops);
    if (!steps.empty()) recipes.push_back(recipe_of(steps));
    std::vector<string> next;
    for (const string& loop : loops)
      for (const string& inner : shared_inside(nest, nest.loops_to_share(loop).back())) next.push_back(inner);
    loops = std::move(next);
  }
  return recipes;
}

}  // namespace sous::transforms
