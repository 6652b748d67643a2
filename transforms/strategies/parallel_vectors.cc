// The last resort: threads on the outermost parallel loops, vectors on the innermost ones.
#include <algorithm>

#include "transforms/strategies/strategy.h"
#include "transforms/strategies/writing.h"

namespace sous::transforms {
namespace {

constexpr RefusalInfo refusals[] = {
    {"parallel-vectors.none", "no loop is parallel"},
};

// The parallel loops that have none inside (innermost) or none around (outermost), at any distance.
struct Ends {
  std::vector<std::string> innermost, outermost;
};

bool collect(const NestFacts& nest, const std::string& symbol, bool inside_parallel, Ends& ends) {
  const LoopFacts& loop = nest.loop(symbol);
  if (loop.parallel && !inside_parallel) ends.outermost.push_back(symbol);
  bool any = false;
  for (const std::string& inner : loop.inside)
    any = collect(nest, inner, inside_parallel || loop.parallel, ends) || any;
  if (loop.parallel && !any) ends.innermost.push_back(symbol);
  return any || loop.parallel;
}

std::string each(const std::string& step, const std::vector<std::string>& loops, const std::string& more = "") {
  std::string steps;
  for (const std::string& loop : loops) steps += call(step, "loop=" + loop + more);
  return steps;
}

Result<std::vector<OpenRecipe>> write(const NestFacts& nest) {
  Ends ends;
  for (const std::string& loop : nest.outermost()) collect(nest, loop, false, ends);
  if (ends.outermost.empty()) return fail("parallel-vectors.none", "no loop is parallel");
  std::string tiled, threads_of_tiles;
  bool both = false;  // a loop is the only parallel one of its nest
  for (const std::string& loop : ends.outermost) {
    const bool alone = std::ranges::find(ends.innermost, loop) != ends.innermost.end();
    both = both || alone;
    if (alone) tiled += call("tile", "loops=[" + loop + "], sizes=[$share]");
    threads_of_tiles += call("parallelize", "loop=" + loop + (alone ? "_t" : "") + ", kind=$kind");
  }
  const std::vector<std::string> shares{"4096", "512", "32768", "64"}, kinds{"static", "dynamic"};
  const std::string vectors = each("vectorize", ends.innermost);
  std::vector<OpenRecipe> result;
  result.push_back({recipe_of(tiled + threads_of_tiles + vectors), {{"kind", kinds}}});
  if (both) result.back().open["share"] = shares;
  result.push_back({recipe_of(vectors), {}});
  result.push_back({recipe_of(each("parallelize", ends.outermost, ", kind=$kind")), {{"kind", kinds}}});
  return result;
}

}  // namespace

constinit const StrategyInfo parallel_vectors_strategy = {
    .name = "parallel_vectors",
    .summary = "threads on the outermost parallel loops, vectors on the innermost ones",
    .source = "Allen, Kennedy 1987",
    .refusals = refusals,
    .write = write};

}  // namespace sous::transforms
