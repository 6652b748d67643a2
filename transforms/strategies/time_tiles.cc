// Sweeps over space in a loop over time: the sweeps of a step are fused, space is skewed by time, and tiles of both
// stay in a cache for several steps; with the tiles skewed once more, those of a wavefront run in parallel.
#include <algorithm>

#include "transforms/strategies/strategy.h"
#include "transforms/strategies/writing.h"

namespace sous::transforms {
namespace {

constexpr RefusalInfo refusals[] = {
    {"time-tiles.no-sweeps", "no outermost sequential loop holds loops over space"},
};

// The innermost parallel loops below.
void vectors_in(const NestFacts& nest, const std::string& symbol, std::vector<std::string>& loops) {
  const LoopFacts& loop = nest.loop(symbol);
  for (const std::string& inner : loop.inside) vectors_in(nest, inner, loops);
  if (loop.inside.empty() && loop.parallel) loops.push_back(symbol);
}

void add(const NestFacts& nest, const std::string& time, std::vector<OpenRecipe>& result) {
  const std::vector<std::string>& sweeps = nest.loop(time).inside;
  const std::string& space = sweeps[0];
  std::string fused, vectors;
  std::map<std::string, std::vector<std::string>> open;
  for (std::size_t k = 1; k < sweeps.size(); ++k) {
    const std::string shift = "shift" + std::to_string(k);
    fused += call("fuse", "first=" + space + ", second=" + sweeps[k] + ", shift=$" + shift);
    open[shift] = {"1", "0", "2"};
  }
  std::vector<std::string> innermost;
  for (const std::string& sweep : sweeps) vectors_in(nest, sweep, innermost);
  for (const std::string& loop : innermost)
    if (loop != space) vectors += call("vectorize", "loop=" + loop);
  open["factor"] = {sweeps.size() == 1 ? "1" : "2", sweeps.size() == 1 ? "2" : "1", "3"};
  open["steps"] = {"16", "4", "8", "32", "64"};
  open["block"] = {"32", "8", "64", "16", "256"};
  const std::string skewed = fused + call("skew", "loop=" + space + ", by=" + time + ", factor=$factor");
  const std::string tiles = "loops=[" + time + ", " + space + "], sizes=[$steps, $block]";
  const std::string wavefront = call("skew", "loop=" + space + "_t, by=" + time + "_t, factor=$wave") +
                                call("interchange", "outer=" + time + "_t, inner=" + space + "_t") +
                                call("parallelize", "loop=" + time + "_t");
  result.push_back({recipe_of(skewed + call("tile", tiles + ", count=numbers") + wavefront + vectors), open});
  result.back().open["wave"] = {"2", "1", "3"};
  result.push_back({recipe_of(skewed + call("tile", tiles) + vectors), open});
}

Result<std::vector<OpenRecipe>> write(const NestFacts& nest) {
  std::vector<OpenRecipe> result;
  for (const std::string& loop : nest.outermost()) {
    const LoopFacts& facts = nest.loop(loop);
    if (!facts.parallel && !facts.role.reduction && !facts.inside.empty()) add(nest, loop, result);
  }
  if (result.empty()) return fail("time-tiles.no-sweeps", "no outermost loop is sequential and holds loops");
  return result;
}

}  // namespace

constinit const StrategyInfo time_tiles_strategy = {
    .name = "time_tiles",
    .summary = "tiles of time and space that stay in a cache for several steps, wavefronts of them in parallel",
    .source = "time skewing: Wonnacott 2002",
    .refusals = refusals,
    .write = write};

}  // namespace sous::transforms
