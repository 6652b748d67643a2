// A GPU: parallel loops become blocks and threads, as far out as they stand; sequential ones around them stay on the
// host, those inside run in each thread.
#include <algorithm>

#include "transforms/strategies/strategy.h"
#include "transforms/strategies/writing.h"

namespace sous::transforms {
namespace {

constexpr RefusalInfo refusals[] = {
    {"offload.none", "a nest has no parallel loop: it would run in one thread of the GPU"},
};

constexpr std::size_t most_dimensions = 3;

// The steps of one band, whose first loop is parallel.
struct Written {
  std::string moved, as_it_is;  // with parallel loops moved outward, and without
};

std::string offload(const std::vector<std::string>& loops) {
  static constexpr const char* sizes[] = {"$line", "$rows, $columns", "1, $rows, $columns"};
  std::string list;
  for (const std::string& loop : loops) list += (list.empty() ? "" : ", ") + loop;
  return call("offload", "loops=[" + list + "], sizes=[" + sizes[loops.size() - 1] + "]");
}

Written write_band(const NestFacts& nest, const std::vector<std::string>& band) {
  // The contiguous one last, so that neighbouring threads touch neighbouring elements.
  std::vector<std::string> parallel = nest.parallel(band);
  const std::string contiguous = nest.most_contiguous(parallel);
  std::erase(parallel, contiguous);
  if (parallel.size() >= most_dimensions) parallel.resize(most_dimensions - 1);
  parallel.push_back(contiguous);
  std::vector<std::string> order = parallel;
  for (const std::string& loop : band)
    if (std::ranges::find(parallel, loop) == parallel.end()) order.push_back(loop);
  std::vector<std::string> leading;
  for (const std::string& loop : band) {
    if (!nest.loop(loop).parallel || leading.size() == most_dimensions) break;
    leading.push_back(loop);
  }
  return {permutation(band, order) + offload(parallel), offload(leading)};
}

Result<void> collect(const NestFacts& nest, const std::string& symbol, Written& all) {
  const LoopFacts& loop = nest.loop(symbol);
  if (loop.parallel) {
    const Written one = write_band(nest, nest.band(symbol));
    all.moved += one.moved;
    all.as_it_is += one.as_it_is;
    return {};
  }
  if (loop.inside.empty()) return fail("offload.none", "loop " + symbol + " is not parallel, and no loop around it");
  for (const std::string& inner : loop.inside) TRY_VOID(collect(nest, inner, all));
  return {};
}

Result<std::vector<OpenRecipe>> write(const NestFacts& nest) {
  Written all;
  for (const std::string& loop : nest.outermost()) TRY_VOID(collect(nest, loop, all));
  if (all.moved.empty()) return fail("offload.none", "it has no loop");
  const std::map<std::string, std::vector<std::string>> sizes{
      {"line", {"128", "64", "256", "32"}}, {"rows", {"4", "8", "2", "16"}}, {"columns", {"64", "32", "128"}}};
  std::vector<OpenRecipe> recipes;
  for (const std::string& steps : {all.moved, all.as_it_is}) {
    OpenRecipe recipe{recipe_of(steps, "cuda"), {}};
    for (const auto& [name, values] : sizes)
      if (recipe.text.contains("$" + name)) recipe.open[name] = values;
    if (recipes.empty() || recipes[0].text != recipe.text) recipes.push_back(std::move(recipe));
  }
  return recipes;
}

}  // namespace

constinit const StrategyInfo offload_strategy = {
    .name = "offload",
    .summary = "the parallel loops of each nest on a GPU, neighbouring threads on neighbouring elements",
    .source = "Baskaran et al. 2008",
    .refusals = refusals,
    .write = write,
    .gpu = true};

}  // namespace sous::transforms
