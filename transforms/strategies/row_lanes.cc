// A sum of its own for each iteration of a parallel loop: neighbouring iterations are the lanes of a vector, so that
// every sum keeps its order. Matrix times vector, distances, statistics of rows.
#include "transforms/strategies/strategy.h"
#include "transforms/strategies/writing.h"

namespace sous::transforms {
namespace {

constexpr RefusalInfo refusals[] = {
    {"row-lanes.no-rows", "no parallel loop holds a loop that is not parallel"},
};

bool holds_parallel(const NestFacts& nest, const std::string& loop) {
  return std::ranges::any_of(nest.loop(loop).inside, [&](const std::string& inner) {
    return nest.loop(inner).parallel || holds_parallel(nest, inner);
  });
}

// The innermost parallel loops that hold sequential ones.
std::vector<std::string> rows_of_sums(const NestFacts& nest) {
  std::vector<std::string> result;
  for (const LoopFacts& loop : nest.loops()) {
    if (loop.parallel && !loop.inside.empty() && !holds_parallel(nest, loop.role.symbol))
      result.push_back(loop.role.symbol);
  }
  return result;
}

Result<std::vector<OpenRecipe>> write(const NestFacts& nest) {
  const auto rows = rows_of_sums(nest);
  if (rows.empty()) return fail("row-lanes.no-rows", "no parallel loop holds a loop that is not parallel");
  std::string vectors, shares, prefetches;
  for (const std::string& row : rows) {
    vectors += call("vectorize", "loop=" + row);
    if (nest.loop(row).role.depth == 0) {
      shares += call("tile", "loops=[" + row + "], sizes=[$share]") + call("parallelize", "loop=" + row + "_t");
    }
    for (const std::string& inner : nest.loop(row).inside)
      if (nest.loop(inner).role.contiguous > 0)
        prefetches += call("prefetch", "loop=" + inner + ", distance=$distance");
  }
  const std::vector<std::string> distances{"128", "64", "32"}, share{"64", "256", "16", "1024"};
  std::vector<OpenRecipe> result;
  for (const std::string& threads : {shares, std::string()}) {
    for (const std::string& ahead : {std::string(), prefetches}) {
      OpenRecipe recipe{recipe_of(threads + vectors + ahead), {}};
      if (!threads.empty()) recipe.open["share"] = share;
      if (!ahead.empty()) recipe.open["distance"] = distances;
      result.push_back(std::move(recipe));
      if (prefetches.empty()) break;
    }
    if (shares.empty()) break;
  }
  return result;
}

}  // namespace

constinit const StrategyInfo row_lanes_strategy = {
    .name = "row_lanes",
    .summary = "independent sums or recurrences side by side in the lanes of a vector",
    .source = "outer-loop vectorization: Nuzman, Zaks 2008",
    .refusals = refusals,
    .write = write,
    .fills_lanes = true,
    .lanes_alone = true};

}  // namespace sous::transforms
