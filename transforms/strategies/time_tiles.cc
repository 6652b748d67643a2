// Loops over space in a loop over time. Sweeps from near elements (transforms/sweeps.h) run in tiles of time and space
// that stay in a cache for several steps (step time_tile), some rows at a time where these read the same elements. Of
// other loops the first level is fused and skewed by time. With the tiles skewed once more, those of a wavefront run in
// parallel.
#include <algorithm>

#include "transforms/motion.h"
#include "transforms/strategies/strategy.h"
#include "transforms/strategies/sweeps_in_time.h"
#include "transforms/strategies/writing.h"

namespace sous::transforms {
namespace {

constexpr RefusalInfo refusals[] = {
    {"time-tiles.no-sweeps", "no outermost sequential loop holds loops over space"},
};

// The innermost parallel loops below.
void vectors_in(const NestFacts& nest, const std::string& symbol, std::vector<std::string>& loops) {
  const LoopFacts& loop = nest.loop(symbol);
  for (const std::string& inner : loop.inside) vectors_in(nest, inner, loops);
  if (loop.inside.empty() && loop.parallel) loops.push_back(symbol);
}

std::string wavefront(const std::string& time, const std::string& space, const std::string& factor) {
  return call("skew", "loop=" + space + "_t, by=" + time + "_t, factor=" + factor) +
         call("interchange", "outer=" + time + "_t, inner=" + space + "_t") +
         call("parallelize", "loop=" + time + "_t");
}

// Sizes of tiles, in the first dimensions of a band of sweeps: as large as keeps what a tile touches of all grids in a
// second-level cache.
std::vector<std::int64_t> largest(const NestFacts& nest, const std::vector<std::string>& band, std::size_t grids) {
  constexpr std::int64_t held = 768 * 1024, assumed = 1024, most = 64, least = 8, most_alone = 1024;
  const auto bytes_inside = [&](std::size_t depth) {
    std::int64_t bytes = static_cast<std::int64_t>(grids) * nest.element_bytes();
    for (std::size_t k = depth; k < band.size(); ++k)
      bytes = std::min(held, bytes * std::clamp<std::int64_t>(nest.loop(band[k]).trips.value_or(assumed), 1, held));
    return bytes;
  };
  if (band.size() == 1) return {most_alone};
  for (std::int64_t size = most; size >= least; size /= 2)
    if (size * bytes_inside(1) <= held) return {size};
  constexpr std::int64_t side = 16;
  std::int64_t along = band.size() == 2 ? most_alone : side;
  while (along > least && side * along * bytes_inside(2) > held) along /= 2;
  return {side, along};
}

struct TimeTiles {
  std::string time;
  std::vector<std::string> band;  // of the sweep with most loops
  std::vector<std::int64_t> factors;
  std::vector<std::int64_t> sizes;
  std::string rows, vectors;  // steps for the innermost loops: with several rows at a time, and without
};

std::string in_tiles(const TimeTiles& tiles, std::int64_t share, bool threads) {
  std::string loops, sizes;
  for (std::size_t k = 0; k < tiles.sizes.size(); ++k) {
    loops += (k == 0 ? "" : ", ") + tiles.band[k];
    sizes += (k == 0 ? "" : ", ") + std::to_string(std::max<std::int64_t>(1, tiles.sizes[k] / share));
  }
  // So many steps that a tile moves by its own size at most: then the next tile in time may begin two tiles later.
  constexpr std::int64_t most_steps = 64;
  const std::int64_t size = std::max<std::int64_t>(1, tiles.sizes[0] / share), factor = tiles.factors[0];
  std::int64_t steps = most_steps;
  for (const std::int64_t f : tiles.factors)
    if (f > 0) steps = std::clamp<std::int64_t>(size / f, 1, steps);
  const std::int64_t wave = (factor * steps + size - 1) / size + 1;
  return call("time_tile",
              "loop=" + tiles.time + ", loops=[" + loops + "], sizes=[" + sizes + "], steps=" + std::to_string(steps)) +
         (threads ? wavefront(tiles.time, tiles.band[0], std::to_string(wave)) : "");
}

// Several rows at a time, where they read the same elements; and vectors along them.
void add_inner(const NestFacts& nest, TimeTiles& tiles, const std::string& sweep) {
  const std::vector<std::string> band = nest.band(sweep);
  const std::string& inner = band.back();
  if (!nest.is_innermost(inner) || nest.loop(inner).role.contiguous == 0) return;
  const std::string vectors = call("vectorize", "loop=" + inner);
  tiles.vectors += vectors;
  if (band.size() < 2 || !share_reads(nest, band[band.size() - 2])) {
    tiles.rows += vectors;
    return;
  }
  const std::string& row = band[band.size() - 2];
  tiles.rows += call("tile", "loops=[" + row + "], sizes=[$rows]") +
                call("interchange", "outer=" + row + ", inner=" + inner) +
                call("unroll", "loop=" + row + ", factor=$rows") + vectors;
}

// Nullopt: the loop holds something else than sweeps.
std::optional<TimeTiles> time_tiles_of(const NestFacts& nest, const std::string& time) {
  const auto sweeps = sweeps_in(*nest.nest(), time);
  if (!sweeps) return std::nullopt;
  TimeTiles tiles{.time = time, .band = {}, .factors = {}, .sizes = {}, .rows = {}, .vectors = {}};
  for (const std::string& sweep : nest.loop(time).inside) {
    const auto band = nest.band(sweep);
    if (band.size() > tiles.band.size()) tiles.band = band;
    add_inner(nest, tiles, sweep);
  }
  tiles.sizes = largest(nest, tiles.band, sweeps->grids.size());
  const auto goes_along = [&](const Sweep& s) { return std::ranges::find(s.at, sdfg::Expr::symbol(tiles.band[0])); };
  const auto own = std::ranges::find_if(sweeps->all, [&](const Sweep& s) { return goes_along(s) != s.at.end(); });
  for (std::size_t k = 0; k < tiles.sizes.size(); ++k) {
    const auto at = std::ranges::find(own->at, sdfg::Expr::symbol(tiles.band[k]));
    const auto moves = motion(*sweeps, static_cast<std::size_t>(at - own->at.begin()));
    if (!moves) return std::nullopt;
    tiles.factors.push_back(moves->factor);
  }
  return tiles;
}

void add_sweeps(const TimeTiles& tiles, std::vector<OpenRecipe>& result) {
  for (const bool threads : {true, false})
    for (const std::int64_t share : {1, 2}) {
      const std::string tiled = in_tiles(tiles, share, threads);
      if (tiles.rows != tiles.vectors) result.push_back({recipe_of(tiled + tiles.rows), {{"rows", {"8", "4"}}}});
      result.push_back({recipe_of(tiled + tiles.vectors), {}});
    }
}

// Of loops that are no such sweeps: in place, or over what no constant distance describes.
void add_fused(const NestFacts& nest, const std::string& time, std::vector<OpenRecipe>& result) {
  const std::vector<std::string>& sweeps = nest.loop(time).inside;
  const std::string& space = sweeps[0];
  std::string fused, vectors;
  std::map<std::string, std::vector<std::string>> open;
  for (std::size_t k = 1; k < sweeps.size(); ++k) {
    const std::string shift = "shift" + std::to_string(k);
    fused += call("fuse", "first=" + space + ", second=" + sweeps[k] + ", shift=$" + shift);
    open[shift] = {"1", "0", "2"};
  }
  std::vector<std::string> innermost;
  for (const std::string& sweep : sweeps) vectors_in(nest, sweep, innermost);
  for (const std::string& loop : innermost)
    if (loop != space) vectors += call("vectorize", "loop=" + loop);
  open["factor"] = {sweeps.size() == 1 ? "1" : "2", sweeps.size() == 1 ? "2" : "1", "3"};
  open["steps"] = {"16", "4", "8", "32", "64"};
  open["block"] = {"32", "8", "64", "16", "256"};
  const std::string skewed = fused + call("skew", "loop=" + space + ", by=" + time + ", factor=$factor");
  const std::string tiles = "loops=[" + time + ", " + space + "], sizes=[$steps, $block]";
  result.push_back(
      {recipe_of(skewed + call("tile", tiles + ", count=numbers") + wavefront(time, space, "$wave") + vectors), open});
  result.back().open["wave"] = {"2", "1", "3"};
  result.push_back({recipe_of(skewed + call("tile", tiles) + vectors), open});
}

Result<std::vector<OpenRecipe>> write(const NestFacts& nest) {
  std::vector<OpenRecipe> result;
  for (const std::string& loop : nest.outermost()) {
    const LoopFacts& facts = nest.loop(loop);
    if (facts.parallel || facts.role.reduction || facts.inside.empty()) continue;
    if (const auto tiles = time_tiles_of(nest, loop))
      add_sweeps(*tiles, result);
    else
      add_fused(nest, loop, result);
  }
  if (result.empty()) return fail("time-tiles.no-sweeps", "no outermost loop is sequential and holds loops");
  return result;
}

}  // namespace

constinit const StrategyInfo time_tiles_strategy = {
    .name = "time_tiles",
    .summary = "tiles of time and space that stay in a cache for several steps, wavefronts of them in parallel",
    .source = "time skewing: Wonnacott 2002",
    .refusals = refusals,
    .write = write};

}  // namespace sous::transforms
