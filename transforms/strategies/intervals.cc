// Dynamic programs over intervals (parsing, folding, the order of products, search trees): the best of all places to
// cut, each of which is read of the table that is filled. Tiles of the table are products of tiles but for what they
// have a part in themselves, and those of a diagonal wait for none of each other.
#include "transforms/strategies/interval_tiles.h"
#include "transforms/strategies/strategy.h"
#include "transforms/strategies/writing.h"

namespace sous::transforms {
namespace {

constexpr RefusalInfo refusals[] = {
    {"intervals.none",
     "no nest takes, in integers, the best of all places to cut an interval, or its tiles cannot be had"},
};

Result<std::vector<OpenRecipe>> write(const NestFacts& nest) {
  TRY(const std::vector<IntervalTiles> all, nest.interval_tiles());
  if (all.empty())
    return fail("intervals.none", "no nest takes, in integers, the best of all places to cut an interval");
  const std::string lanes = lanes_of(nest.element_bytes());
  std::string cuts, threads, vectors;
  for (const IntervalTiles& one : all) {
    cuts += one.cuts;
    for (const std::string& loop : one.threads) threads += call("parallelize", "loop=" + loop);
    for (const std::string& loop : one.vectors) vectors += call("vectorize", "loop=" + loop);
    vectors += call("register_tile", "loops=[" + one.rows + ", " + one.columns + "], sizes=[" + rows_of() + ", " +
                                         vectors_of(2, nest.element_bytes()) + "], lanes=" + lanes);
  }
  const std::map<std::string, std::vector<std::string>> open{{"block", {"64", "128", "32"}}};
  return std::vector<OpenRecipe>{{recipe_of(cuts + vectors + threads), open}, {recipe_of(cuts + vectors), open}};
}

}  // namespace

constinit const StrategyInfo intervals_strategy = {
    .name = "intervals",
    .summary = "tables over intervals in tiles, each of which is a product of those to its left and below",
    .source = "blocked parenthesization: Cherng, Ladner 2005",
    .refusals = refusals,
    .write = write,
    .frees_loops = true};

}  // namespace sous::transforms
