// Pivots: in each step of an outer loop all rows and columns read one row and one column of the array that they are
// part of (shortest paths, transitive closures, elimination in place). With that row and column apart, the others are
// parallel, in the order that the program has.
#include "transforms/strategies/strategy.h"
#include "transforms/strategies/writing.h"

namespace sous::transforms {
namespace {

constexpr RefusalInfo refusals[] = {
    {"pivots.none", "no loop is parallel but for single iterations that subscripts name"},
};

Result<std::vector<OpenRecipe>> write(const NestFacts& nest) {
  TRY(const IndexSets sets, nest.index_sets());
  if (sets.cuts.empty() || (sets.vectors.empty() && sets.threads.empty()))
    return fail("pivots.none", "no loop is parallel but for single iterations that subscripts name");
  std::string cuts, threads, vectors;
  for (const auto& [loop, at, offset] : sets.cuts) {
    cuts += call("split", "loop=" + loop + (at.empty() ? "" : ", at=" + at) +
                              (offset == 0 && !at.empty() ? "" : ", offset=" + std::to_string(offset)));
  }
  for (const std::string& loop : sets.threads) threads += call("parallelize", "loop=" + loop + ", kind=$kind");
  for (const std::string& loop : sets.vectors) vectors += call("vectorize", "loop=" + loop);
  std::vector<OpenRecipe> result;
  std::vector<std::string> kinds{"static", "dynamic"};
  if (sets.uneven) std::swap(kinds[0], kinds[1]);
  if (!threads.empty()) result.push_back({recipe_of(cuts + threads + vectors), {{"kind", kinds}}});
  if (!vectors.empty()) result.push_back({recipe_of(cuts + vectors), {}});
  return result;
}

}  // namespace

constinit const StrategyInfo pivots_strategy = {
    .name = "pivots",
    .summary = "the row and the column that all others read stand by themselves; threads and vectors on the others",
    .source = "index-set splitting: Griebl, Feautrier, Lengauer 2000",
    .refusals = refusals,
    .write = write,
    .frees_loops = true};

}  // namespace sous::transforms
