// Loops over tiles and over their points: what `tile` and `offload` cut bands into.
#pragma once

#include <string_view>
#include <vector>

#include "transforms/step.h"

namespace sous::transforms {

struct TiledLoops {
  // Outermost first, without children; the tiles' loops have no privates.
  std::vector<sdfg::ScheduleLoop> tiles, points;
};
// Codes for a loop that does not count by one, and for bounds without extremes over a tile.
struct TileRefusals {
  std::string_view step, bounds;
};

// FirstPoints: a loop over tiles runs over their first points. Numbered: it counts them from 0. OfSteps: as
// FirstPoints, of loops with any positive step, too.
enum class Tiles { FirstPoints, Numbered, OfSteps };

// The loops of a perfect band, cut into `sizes` iterations each. The loop over the tiles of i is called i with
// `suffix`.
Result<TiledLoops> tile_loops(const Nest& nest, const std::vector<sdfg::ScheduleLoop>& band,
                              const std::vector<std::int64_t>& sizes, const std::string& suffix,
                              const TileRefusals& refusals, Tiles tiles);

}  // namespace sous::transforms
