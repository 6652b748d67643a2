// Time skewing (Wonnacott 2002) of sweeps over grids: tiles of space and time, in each of which some iterations of a
// loop in time run on a part of the grids that stays in a cache.
//
// Where a tile of space is moves down with time, by as many iterations per step as the sweeps need, and each sweep lies
// some iterations behind those before it: the least such numbers with which nothing that an iteration needs is in a
// later tile follow from the constant distances at which sweeps access grids (transforms/sweeps.h). That they are right
// is proven of the resulting order, as for any other schedule step.
//
// What `fuse`, `skew`, `tile` and `distribute` make of perfect bands, without conditions inside: the sweeps of a tile
// stay loops of their own, over its part of their iterations, so that further steps may cut and vectorize them. A sweep
// that has no loop along a dimension (a boundary) runs in the tile that holds its place.
#include <algorithm>

#include "transforms/loop_names.h"
#include "transforms/motion.h"
#include "transforms/simplify.h"
#include "transforms/tile_bounds.h"

namespace sous::transforms {

namespace {

using sdfg::Expr;

// One dimension that is cut: the positions [begin, begin + size) of a tile, as of the tile's first step in time.
struct Cut {
  std::size_t dimension;
  Motion motion;
  std::int64_t size;
  Expr begin;
};

// What of the sweep's iterations lies in the tile `steps` after its first one.
Interval part(const Cut& cut, std::size_t sweep, const Expr& steps) {
  const Expr begin = cut.begin - cut.motion.shifts[sweep] - steps * cut.motion.factor;
  return {begin, begin + cut.size};
}

// A sweep, of its iterations those in the tile.
sdfg::ScheduleTree in_tile(const sdfg::ScheduleNode& child, const Sweep& sweep, std::size_t number,
                           const std::vector<Cut>& cuts, const Expr& steps) {
  sdfg::ScheduleTree tree{child};
  std::vector<sdfg::ScalarExpr> conditions;
  for (const Cut& cut : cuts) {
    const Interval inside = part(cut, number, steps);
    const Expr& at = sweep.at[cut.dimension];
    const auto symbol = at.as_symbol();
    if (sdfg::ScheduleLoop* loop = symbol ? sdfg::find_loop(tree, *symbol) : nullptr) {
      loop->begin = Expr::max(loop->begin, inside.begin);
      loop->end = Expr::min(loop->end, inside.end);
      continue;
    }
    conditions.push_back(sdfg::at_most(inside.begin, at));
    conditions.push_back(sdfg::at_most(at + 1, inside.end));
  }
  if (conditions.empty()) return tree;
  return {sdfg::ScheduleGuard{.condition = all_of(conditions), .children = std::move(tree)}};
}

struct TimeTile {
  static constexpr std::string_view name = "time_tile";
  static constexpr bool drafted = true;
  static constexpr std::string_view summary =
      "Cuts a loop in time around sweeps over grids into tiles of time and space: each takes some iterations of all "
      "sweeps, on a part of the grids that moves down with time as the sweeps need it.";
  static constexpr std::string_view before =
      "for t:\n"
      "  for i: B(i) = f(A(i - 1), A(i), A(i + 1))\n"
      "  for j: A(j) = f(B(j - 1), B(j), B(j + 1))";
  static constexpr std::string_view after =
      "for t_t: for i_t:\n"
      "  for t in [16*t_t, 16*t_t + 16), u = t - 16*t_t:\n"
      "    for i in [32*i_t - 2*u, 32*i_t - 2*u + 32): B(i) = f(A(i - 1), A(i), A(i + 1))\n"
      "    for j in [32*i_t - 2*u - 1, 32*i_t - 2*u + 31): A(j) = f(B(j - 1), B(j), B(j + 1))";
  static constexpr std::string_view names =
      "All loops keep their names. The loops over tiles are t_t and, after `loops`, i_t (t_t2 if that is taken, and so "
      "on); they count the tiles from 0 and are a perfect band, so that they can be skewed and interchanged further, "
      "to "
      "wavefronts of tiles.";
  static constexpr std::int64_t size_values[] = {32, 16, 64, 8, 128, 4, 256};
  static constexpr std::int64_t step_values[] = {16, 8, 4, 32, 2, 64};
  static constexpr std::string_view size_expressions[] = {"l1_bytes floordiv 256", "l2_bytes floordiv 16384"};

  LoopRef loop;
  std::vector<LoopRef> loops;
  std::vector<Size> sizes;
  Size steps;
  static constexpr auto params = std::tuple{
      param(&TimeTile::loop, {.name = "loop", .doc = "the loop in time"}),
      param(&TimeTile::loops, {.name = "loops",
                               .doc = "loops of one of the sweeps inside: the dimensions that are cut",
                               .most = 3,
                               .relation = Relation::Band,
                               .refusal = "time-tile.not-nested"}),
      param(&TimeTile::sizes, {.name = "sizes",
                               .doc = "iterations of each sweep in a tile, in each of these dimensions",
                               .low = 1,
                               .high = 1 << 20,
                               .values = size_values,
                               .expressions = size_expressions,
                               .length_of = "loops",
                               .refusal = "time-tile.sizes",
                               .effect = Effect::Cuts}),
      param(&TimeTile::steps, {.name = "steps",
                               .doc = "iterations in time of a tile",
                               .low = 1,
                               .high = 1 << 16,
                               .values = step_values,
                               .effect = Effect::Cuts}),
  };
  static constexpr RefusalInfo refusals[] = {
      {"time-tile.no-loop", "a loop does not exist"},
      {"time-tile.not-nested", "the loops are not a perfect band"},
      {"time-tile.place", "the loop in time has a schedule or does not count by one, or the band is not inside"},
      {"time-tile.sizes", "there is not one size for each loop"},
      {"time-tile.sweeps",
       "something in the loop is no sweep: one assignment in plain loops that do not move, one along "
       "each dimension of the grid that it writes, to whose iterations all grids that it accesses "
       "are at constant distances, and which needs nothing of what it writes elsewhere"},
      {"time-tile.distances", "sweeps reach further than 1024 elements, or move by more than 64 per step"},
  };

  Result<Plan> plan(const Nest& nest, const StepContext&) const {
    const auto inside = sdfg::path_to(nest.tree, loops[0].name);
    if (std::ranges::find(inside, loop.name) == inside.end() || loops[0].name == loop.name)
      return fail("time-tile.place", "loop " + loops[0].name + " is not inside " + loop.name, loops[0].name);
    const sdfg::ScheduleLoop& time = loop_of(nest, loop);
    if (time.step != 1 || !is_sequential(time) || !time.privates.empty() || !time.reductions.empty())
      return fail("time-tile.place", "the loop does not count by one, or has something of its own", loop.name);
    const auto sweeps = sweeps_in(nest, loop.name);
    if (!sweeps) return fail("time-tile.sweeps", sweeps.error().why, loop.name);
    TRY(std::vector<Cut> cuts, cuts_of(*sweeps, time));
    sdfg::ScheduleTree tree = nest.tree;
    auto [sequence, at] = sdfg::owner_of(tree, loop.name);
    (*sequence)[at] = tiled(nest, time, *sweeps, std::move(cuts));
    // Motions are right: nothing but an exhausted budget can refuse this.
    return prove(nest, std::move(tree), "legality.order", loop.name);
  }

 private:
  // The dimensions that are cut; not yet where tiles begin.
  Result<std::vector<Cut>> cuts_of(const Sweeps& sweeps, const sdfg::ScheduleLoop& time) const {
    std::size_t number = 0;
    while (!sdfg::find_loop({time.children[number]}, loops[0].name)) ++number;
    const std::vector<Expr>& at = sweeps.all[number].at;
    std::vector<Cut> cuts;
    for (std::size_t k = 0; k < loops.size(); ++k) {
      const auto dimension = static_cast<std::size_t>(std::ranges::find(at, Expr::symbol(loops[k].name)) - at.begin());
      if (dimension == at.size())
        return fail("time-tile.sweeps", "loop " + loops[k].name + " goes along no dimension", loops[k].name);
      auto moves = motion(sweeps, dimension);
      if (!moves) return fail("time-tile.distances", "the sweeps reach too far along " + loops[k].name, loops[k].name);
      cuts.push_back({dimension, std::move(*moves), sizes[k].value, {}});
    }
    return cuts;
  }

  sdfg::ScheduleNode tiled(const Nest& nest, const sdfg::ScheduleLoop& time, const Sweeps& sweeps,
                           std::vector<Cut> cuts) const {
    const auto over = [&](const std::string& symbol, const Expr& count) {
      sdfg::ScheduleLoop tiles;
      tiles.symbol = sdfg::fresh_symbol(nest.scop, nest.tree, symbol + std::string(over_tiles));
      tiles.begin = 0;
      tiles.end = count;
      return tiles;
    };
    std::vector<sdfg::ScheduleLoop> band{over(time.symbol, Expr::ceil_div(time.end - time.begin, steps.value))};
    const Expr first = time.begin + Expr::symbol(band[0].symbol) * steps.value;
    for (std::size_t k = 0; k < cuts.size(); ++k) {
      Cut& cut = cuts[k];
      std::optional<SweepBox> positions;
      for (std::size_t s = 0; s < sweeps.all.size(); ++s) {
        const SweepBox box = moved({sweeps.all[s].iterations[cut.dimension]}, {cut.motion.shifts[s]});
        positions = positions ? hull(*positions, box) : box;
      }
      const auto& [begin, end] = (*positions)[0];
      const Expr all = end - begin + cut.motion.factor * (steps.value - 1);
      band.push_back(over(loops[k].name, Expr::ceil_div(all, cut.size)));
      cut.begin = begin + Expr::symbol(band.back().symbol) * cut.size;
    }
    sdfg::ScheduleLoop points = time;
    points.begin = first;
    points.end = Expr::min(time.end, first + steps.value);
    points.children.clear();
    for (std::size_t s = 0; s < sweeps.all.size(); ++s)
      for (sdfg::ScheduleNode& n : in_tile(time.children[s], sweeps.all[s], s, cuts, Expr::symbol(time.symbol) - first))
        points.children.push_back(std::move(n));
    return nested(std::move(band), {std::move(points)})[0];
  }
};

}  // namespace

constinit const StepInfo time_tile_step = declare<TimeTile>();

}  // namespace sous::transforms
