// The last resort: threads on the outermost parallel loops, vectors on the innermost ones.
#include <algorithm>

#include "transforms/strategies/strategy.h"
#include "transforms/strategies/writing.h"

namespace sous::transforms {
namespace {

constexpr RefusalInfo refusals[] = {
    {"parallel-vectors.none", "no loop is parallel"},
};

// The parallel loops that have none inside, at any distance; whether there is one.
bool collect_innermost(const NestFacts& nest, const std::string& symbol, std::vector<std::string>& innermost) {
  const LoopFacts& loop = nest.loop(symbol);
  bool any = false;
  for (const std::string& inner : loop.inside) any = collect_innermost(nest, inner, innermost) || any;
  if (loop.parallel && !any) innermost.push_back(symbol);
  return any || loop.parallel;
}

Result<std::vector<OpenRecipe>> write(const NestFacts& nest) {
  std::vector<std::string> innermost;
  for (const std::string& loop : nest.outermost()) collect_innermost(nest, loop, innermost);
  if (innermost.empty()) return fail("parallel-vectors.none", "no loop is parallel");
  std::string tiled, threads_of_tiles;
  bool both = false;  // a loop is the only parallel one of its nest
  for (const std::string& loop : nest.outermost_parallel()) {
    const bool alone = std::ranges::find(innermost, loop) != innermost.end();
    both = both || alone;
    if (alone) tiled += call("tile", "loops=[" + loop + "], sizes=[$share]");
    threads_of_tiles += call("parallelize", "loop=" + loop + (alone ? "_t" : "") + ", kind=$kind");
  }
  const std::vector<std::string> shares{"4096", "512", "32768", "64"}, kinds{"static", "dynamic"};
  std::string vectors;
  for (const std::string& loop : innermost) vectors += call("vectorize", "loop=" + loop);
  std::vector<OpenRecipe> result;
  result.push_back({recipe_of(tiled + threads_of_tiles + vectors), {{"kind", kinds}}});
  if (both) result.back().open["share"] = shares;
  result.push_back({recipe_of(vectors), {}});
  return result;
}

}  // namespace

constinit const StrategyInfo parallel_vectors_strategy = {
    .name = "parallel_vectors",
    .summary = "threads on the outermost parallel loops, vectors on the innermost ones",
    .source = "Allen, Kennedy 1987",
    .refusals = refusals,
    .write = write,
    .fills_lanes = true,
    .lanes_alone = true};

}  // namespace sous::transforms
