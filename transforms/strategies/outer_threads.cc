// Threads on the outermost parallel loops, and nothing else: for nests that compute much on little data.
#include "transforms/strategies/strategy.h"
#include "transforms/strategies/writing.h"

namespace sous::transforms {
namespace {

constexpr RefusalInfo refusals[] = {
    {"outer-threads.none", "no loop is parallel and long"},
};

// Fewer iterations than this are hardly shared out evenly: the loops inside may be.
constexpr std::int64_t few_iterations = 16;

void add(const NestFacts& nest, std::int64_t least_trips, std::vector<OpenRecipe>& recipes) {
  std::string steps;
  bool uneven = false;
  for (const std::string& loop : nest.outermost_shared(least_trips)) {
    if (nest.is_short(loop)) continue;
    for (const std::string& one : nest.loops_to_share(loop)) {
      steps += call("parallelize", "loop=" + one + ", kind=$kind");
      uneven = uneven || nest.loop(one).uneven;
    }
  }
  if (steps.empty()) return;
  std::vector<std::string> kinds{"static", "dynamic"};
  if (uneven) std::swap(kinds[0], kinds[1]);
  const std::string recipe = recipe_of(steps);
  if (recipes.empty() || recipes[0].text != recipe) recipes.push_back({recipe, {{"kind", kinds}}});
}

Result<std::vector<OpenRecipe>> write(const NestFacts& nest) {
  std::vector<OpenRecipe> recipes;
  add(nest, 0, recipes);
  add(nest, few_iterations, recipes);
  if (recipes.empty()) return fail("outer-threads.none", "no loop is parallel and long");
  return recipes;
}

}  // namespace

constinit const StrategyInfo outer_threads_strategy = {
    .name = "outer_threads",
    .summary = "threads on the outermost parallel loops, and nothing else",
    .source = "Lamport 1974",
    .refusals = refusals,
    .write = write,
    .threads_alone = true};

}  // namespace sous::transforms
