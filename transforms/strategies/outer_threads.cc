// Threads on the outermost parallel loops, and nothing else: for nests that compute much on little data.
#include "transforms/strategies/strategy.h"
#include "transforms/strategies/writing.h"

namespace sous::transforms {
namespace {

constexpr RefusalInfo refusals[] = {
    {"outer-threads.none", "no loop is parallel and long"},
};

Result<std::vector<OpenRecipe>> write(const NestFacts& nest) {
  std::string steps;
  bool uneven = false;
  for (const std::string& loop : nest.outermost_parallel()) {
    if (nest.is_short(loop)) continue;
    steps += call("parallelize", "loop=" + loop + ", kind=$kind");
    uneven = uneven || nest.loop(loop).uneven;
  }
  if (steps.empty()) return fail("outer-threads.none", "no loop is parallel and long");
  std::vector<std::string> kinds{"static", "dynamic"};
  if (uneven) std::swap(kinds[0], kinds[1]);
  return std::vector<OpenRecipe>{{recipe_of(steps), {{"kind", kinds}}}};
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
