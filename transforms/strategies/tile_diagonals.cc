// Dynamic programs over grids and triangles, sweeps in place: an element waits for those above it and to its left, so
// that no loop is parallel. Tiles of a diagonal are.
#include "transforms/strategies/strategy.h"
#include "transforms/strategies/writing.h"

namespace sous::transforms {
namespace {

constexpr RefusalInfo refusals[] = {
    {"tile-diagonals.none", "no two loops in each other are both sequential, and go in tiles"},
};

Result<std::vector<OpenRecipe>> write(const NestFacts& nest) {
  TRY(const std::vector<Tileable> bands, nest.tileable());
  if (bands.empty())
    return fail("tile-diagonals.none", "no two loops in each other are both sequential, and go in tiles");
  std::string steps;
  for (const Tileable& band : bands) steps += in_diagonals(band);
  // Large tiles for what takes little for each element, smaller ones for more threads or more work.
  return std::vector<OpenRecipe>{{recipe_of(steps), {{"rows", {"128", "256"}}, {"columns", {"512", "1024"}}}},
                                 {recipe_of(steps), {{"rows", {"64"}}, {"columns", {"256", "128"}}}},
                                 {recipe_of(steps), {{"rows", {"32", "16"}}, {"columns", {"64", "32"}}}}};
}

}  // namespace

constinit const StrategyInfo tile_diagonals_strategy = {
    .name = "tile_diagonals",
    .summary = "tiles of two sequential loops, those of a diagonal in parallel",
    .source = "wavefronts: Lamport 1974; of tiles: Irigoin and Triolet 1988",
    .refusals = refusals,
    .write = write,
    .threads_alone = true,
    .in_waves = true};

}  // namespace sous::transforms
