// Loops of a nest that follow each other become one again, as far as that leaves them parallel: what one iteration
// hands to the next part then stays with the core that computed it, and needs no array.
#include <algorithm>

#include "transforms/strategies/strategy.h"
#include "transforms/strategies/writing.h"

namespace sous::transforms {
namespace {

constexpr RefusalInfo refusals[] = {
    {"fused-loops.none", "no neighbouring loops may be one"},
};

// Of this loop, or of one that was fused into it.
bool is_uneven(const NestFacts& nest, const Fusion& fusion, const std::string& loop) {
  return nest.loop(loop).uneven || std::ranges::any_of(fusion.pairs, [&](const auto& pair) {
           return pair.first == loop && nest.loop(pair.second).uneven;
         });
}

Result<std::vector<OpenRecipe>> write(const NestFacts& nest) {
  TRY(const Fusion fusion, nest.fusion());
  if (fusion.pairs.empty()) return fail("fused-loops.none", "no neighbouring loops may be one");
  std::string steps;
  for (const auto& [first, second, shift] : fusion.pairs)
    steps += call("fuse", "first=" + first + ", second=" + second +
                              (shift != 0 ? ", shift=" + std::to_string(shift) : std::string()));
  for (const std::string& loop : fusion.fused) steps += call("promote", "loop=" + loop + ", most=1");
  std::vector<std::string> kinds{"static", "dynamic"};
  for (const std::string& loop : fusion.parallel) {
    steps += call("parallelize", "loop=" + loop + ", kind=$kind");
    if (is_uneven(nest, fusion, loop)) kinds = {"dynamic", "static"};
  }
  return std::vector<OpenRecipe>{{recipe_of(steps), {{"kind", kinds}}}};
}

}  // namespace

constinit const StrategyInfo fused_loops_strategy = {
    .name = "fused_loops",
    .summary = "loops that follow each other become one where it stays parallel; threads on the outermost",
    .source = "Kennedy and McKinley 1993; Sarkar and Gao 1991",
    .refusals = refusals,
    .write = write,
    .threads_alone = true};

}  // namespace sous::transforms
