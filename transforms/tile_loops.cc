#include "transforms/tile_loops.h"

#include <map>

namespace sous::transforms {

namespace {

constexpr std::int64_t most_step = 1 << 20;

}  // namespace

Result<TiledLoops> tile_loops(const Nest& nest, const std::vector<sdfg::ScheduleLoop>& band,
                              const std::vector<std::int64_t>& sizes, const std::string& suffix,
                              const TileRefusals& refusals, Tiles tiles) {
  const bool numbered = tiles == Tiles::Numbered, steps_allowed = tiles == Tiles::OfSteps;
  // From the outermost in: where tile loop k starts and ends must not depend on the points of the loops around it,
  // which are inside the tile loops now; so their tiles' extremes are put in.
  TiledLoops result;
  std::vector<sdfg::Expr> firsts, lasts;    // of a tile's points
  std::map<std::string, sdfg::Expr> alone;  // the only point of a tile
  for (std::size_t k = 0; k < band.size(); ++k) {
    const sdfg::ScheduleLoop& loop = band[k];
    if (loop.step != 1 && (!steps_allowed || loop.step < 1 || loop.step > most_step))
      return fail(std::string(refusals.step), "loop " + loop.symbol + " has step " + std::to_string(loop.step),
                  loop.symbol);
    const std::int64_t width = sizes[k] * loop.step;
    sdfg::Expr begin = loop.begin, end = loop.end;
    for (std::size_t outer = k; outer-- > 0;) {
      auto low = least(begin, result.points[outer].symbol, firsts[outer], lasts[outer]);
      auto high = greatest(end, result.points[outer].symbol, firsts[outer], lasts[outer]);
      if (!low || !high)
        return fail(std::string(refusals.bounds), "the bounds of " + loop.symbol + " have no extremes over a tile",
                    loop.symbol);
      begin = *low;
      end = *high;
    }
    // Tiles from another begin would hold other iterations.
    const bool begins_there = begin == loop.begin.substitute(alone);
    if (loop.step != 1 && !begins_there)
      return fail(std::string(refusals.bounds), "loop " + loop.symbol + " has a step, and begins elsewhere each time",
                  loop.symbol);
    sdfg::ScheduleLoop tile = loop;
    tile.symbol = sdfg::fresh_symbol(nest.scop, nest.tree, loop.symbol + suffix);
    tile.begin = begin;
    tile.end = end;
    tile.step = width;
    tile.privates.clear();
    tile.children.clear();
    sdfg::Expr start = sdfg::Expr::symbol(tile.symbol);
    if (numbered) {
      tile.begin = 0;
      tile.end = sdfg::Expr::ceil_div(end - begin, sizes[k]);
      tile.step = 1;
      start = begin + start * sizes[k];
    }
    sdfg::ScheduleLoop point = loop;
    point.begin = sdfg::Expr::max(loop.begin, start);
    if (begins_there) point.begin = start;  // tiles start where the loop does
    point.end = sdfg::Expr::min(loop.end, start + width);
    point.children.clear();
    // Numbered tiles take their whole width as the range of points: some may then be empty, but their bounds stay
    // linear.
    const bool is_alone = sizes[k] == 1 && point.begin == start;
    if (is_alone) alone[loop.symbol] = start;
    firsts.push_back(numbered ? start : point.begin);
    lasts.push_back(is_alone ? start : (numbered ? start + width : point.end) - 1);
    result.tiles.push_back(std::move(tile));
    result.points.push_back(std::move(point));
  }
  return result;
}

}  // namespace sous::transforms
