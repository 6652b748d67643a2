// Tiling of a perfect band (Irigoin and Triolet 1988; Wolf and Lam 1991), rectangular or not.
#include "transforms/loop_names.h"
#include "transforms/simplify.h"
#include "transforms/step.h"
#include "transforms/tile_loops.h"

namespace sous::transforms {

namespace {

struct Tile {
  static constexpr std::string_view name = "tile";
  static constexpr bool drafted = true;
  static constexpr std::string_view summary =
      "Cuts the iterations of a perfect band into tiles: loops over tiles outside, loops over the points of a tile "
      "inside.";
  static constexpr std::string_view before = "for i: for j: S(i, j)";
  static constexpr std::string_view after =
      "for i_t in steps of 32: for j_t in steps of 32:\n"
      "  for i in [i_t, i_t + 32): for j in [j_t, j_t + 32): S(i, j)";
  static constexpr std::string_view names =
      "The loop over the tiles of i is i_t (i_t2 if that is taken, and so on); the loop over its points stays i. With "
      "count=numbers, i_t counts the tiles from 0 instead of running over their first points: so it can be skewed and "
      "interchanged further, to wavefronts of tiles.";
  static constexpr std::int64_t size_values[] = {32, 64, 16, 8, 128, 4, 256, 2, 512};
  // 128 with 32 KiB of L1; 256, 512 with 1 MiB of L2.
  static constexpr std::string_view size_expressions[] = {"l1_bytes floordiv 256", "l2_bytes floordiv 4096",
                                                          "l2_bytes floordiv 2048"};

  static constexpr std::string_view counts[] = {"points", "numbers"};

  std::vector<LoopRef> loops;
  std::vector<Size> sizes;
  std::string count;
  static constexpr auto params = std::tuple{
      param(&Tile::loops, {.name = "loops",
                           .doc = "the band, outermost first",
                           .relation = Relation::Band,
                           .refusal = "tile.not-nested"}),
      param(&Tile::sizes, {.name = "sizes",
                           .doc = "iterations per tile",
                           .low = 1,
                           .high = 1 << 20,
                           .values = size_values,
                           .expressions = size_expressions,
                           .length_of = "loops",
                           .refusal = "tile.sizes",
                           .effect = Effect::Cuts}),
      param(&Tile::count, {.name = "count",
                           .doc = "what a loop over tiles runs over: first points or numbers",
                           .choices = counts,
                           .default_value = "points"}),
  };
  static constexpr RefusalInfo refusals[] = {
      {"tile.no-loop", "a loop does not exist"},
      {"tile.not-nested", "the loops are not a perfect band"},
      {"tile.sizes", "there is not one size for each loop"},
      {"tile.step", "a loop does not have step 1"},
      {"tile.bounds", "a bound inside the band depends on an outer loop in a way that has no bounds over a tile"},
      {"tile.illegal", "a dependence would be reversed"},
      {"tile.scheduled", "a loop is not sequential any more"},
  };

  Result<Plan> plan(const Nest& nest, const StepContext&) const {
    std::vector<sdfg::ScheduleLoop> band;
    std::vector<std::int64_t> widths;
    for (std::size_t k = 0; k < loops.size(); ++k) {
      band.push_back(loop_of(nest, loops[k]));
      widths.push_back(sizes[k].value);
      if (band[k].step == 1 && !is_sequential(band[k]))
        return fail("tile.scheduled", "loops are tiled before they are scheduled", loops[k].name);
    }
    TRY(TiledLoops tiled, tile_loops(nest, band, widths, std::string(over_tiles), {"tile.step", "tile.bounds"},
                                     count == "numbers" ? Tiles::Numbered : Tiles::FirstPoints));
    sdfg::ScheduleTree tree = nest.tree;
    auto [sequence, at] = sdfg::owner_of(tree, loops[0].name);
    (*sequence)[at] = nested(std::move(tiled.tiles), nested(std::move(tiled.points), band.back().children))[0];
    return prove(nest, std::move(tree), "tile.illegal", loops[0].name);
  }
};

}  // namespace

constinit const StepInfo tile_step = declare<Tile>();

}  // namespace sous::transforms
