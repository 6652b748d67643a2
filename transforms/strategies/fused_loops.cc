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
  const auto past = fusion.past.find(loop);
  if (is(past == fusion.past.end() ? loop : past->second)) return true;
  const auto parts = fusion.parts.find(loop);
  return parts != fusion.parts.end() &&
         std::ranges::any_of(parts->second, [&](const std::string& part) { return any_part(fusion, part, is); });
}

Result<std::vector<OpenRecipe>> write(const NestFacts& nest) {
  TRY(const Fusion fusion, nest.fusion());
  if (fusion.steps.empty())
    return fail("fused-loops.none", "no neighbouring loops may be one, and no parallel loop stands inside of another");
  std::string steps;
  for (StepCall call : fusion.steps) {
    if (call.step == "tile") call.params["sizes"] = std::vector<std::string>{"$columns"};
    steps += to_text(call) + "; ";
  }
  for (const std::string& loop : fusion.fused)
    if (!fusion.past.contains(loop)) steps += call("promote", "loop=" + loop + ", most=1");
  std::vector<std::string> kinds{"static", "dynamic"};
  const auto is_long = [&](const std::string& part) { return !nest.is_short(part); };
  const auto is_uneven = [&](const std::string& part) { return nest.loop(part).uneven; };
  for (const std::string& loop : fusion.parallel) {
    if (!any_part(fusion, loop, is_long)) continue;
    for (const std::string& one : fusion.together.at(loop))
      steps += call("parallelize", "loop=" + one + ", kind=$kind");
    for (const std::string& one : fusion.together.at(loop))
      if (any_part(fusion, one, is_uneven)) kinds = {"dynamic", "static"};
  }
  std::vector<OpenRecipe> recipes{{recipe_of(steps), {{"kind", kinds}}}};
  if (fusion.past.empty()) return recipes;
  // Fewer columns for more threads.
  recipes.push_back(recipes.front());
  recipes[0].open["columns"] = {std::to_string(Fusion::some_columns), "512", "1024"};
  recipes[1].open["columns"] = {"32", "64", "16"};
  return recipes;
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
