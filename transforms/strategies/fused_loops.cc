// Loops of a nest that follow each other become one again, as far as that leaves them parallel: what one iteration
// hands to the next part then stays with the core that computed it, and needs no array.
#include <algorithm>

#include "transforms/strategies/strategy.h"
#include "transforms/strategies/writing.h"

namespace sous::transforms {
namespace {

constexpr RefusalInfo refusals[] = {
    {"fused-loops.none", "no neighbouring loops may be one, and no parallel loop stands inside of another"},
};

// Whether that is so of this loop, or of one that was fused into it.
template <class Is>
bool any_part(const Fusion& fusion, const std::string& loop, const Is& is) {
  return is(loop) ||
         std::ranges::any_of(fusion.pairs, [&](const auto& pair) { return pair.first == loop && is(pair.second); });
}

Result<std::vector<OpenRecipe>> write(const NestFacts& nest) {
  TRY(const Fusion fusion, nest.fusion());
  if (fusion.pairs.empty() && fusion.before.empty())
    return fail("fused-loops.none", "no neighbouring loops may be one, and no parallel loop stands inside of another");
  std::string steps;
  for (const StepCall& call : fusion.before) steps += to_text(call) + "; ";
  for (const Fusion::Pair& pair : fusion.pairs)
    for (const StepCall& call : pair.steps) steps += to_text(call) + "; ";
  for (const std::string& loop : fusion.fused) steps += call("promote", "loop=" + loop + ", most=1");
  std::vector<std::string> kinds{"static", "dynamic"};
  const auto is_long = [&](const std::string& part) { return !nest.is_short(part); };
  const auto is_uneven = [&](const std::string& part) { return nest.loop(part).uneven; };
  for (const std::string& loop : fusion.parallel) {
    if (!any_part(fusion, loop, is_long)) continue;
    steps += call("parallelize", "loop=" + loop + ", kind=$kind");
    if (any_part(fusion, loop, is_uneven)) kinds = {"dynamic", "static"};
  }
  return std::vector<OpenRecipe>{{recipe_of(steps), {{"kind", kinds}}}};
}

}  // namespace

constinit const StrategyInfo fused_loops_strategy = {
    .name = "fused_loops",
    .summary = "parallel loops go outermost, and those that follow each other become one; threads on them",
    .source = "Kennedy and McKinley 1993; Sarkar and Gao 1991",
    .refusals = refusals,
    .write = write,
    .threads_alone = true};

}  // namespace sous::transforms
