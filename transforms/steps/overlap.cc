// Overlapped tiling (Krishnamoorthy et al. 2007; Holewinski, Pouchet, Sadayappan 2012): a block of a GPU runs several
// iterations of a loop in time on a tile, and computes what it needs of its neighbours' tiles itself.
//
// Condition. Every sweep computes elements from others at constant distances (transforms/sweeps.h), so that a tile with
// enough around it holds, sweep by sweep, the program's values at all elements that later sweeps need: elements that a
// sweep writes are computed by the same operations from the same values, the others keep what they had. The tile's own
// elements are then the program's after the last of its iterations. Grids whose values go on to later iterations come
// from one place and go to another, and back in the next kernel, so that no block overwrites what another one reads.
// A grid that a kernel does not read once a sweep has written it needs no place in the tile for that.
// All that is touched is what the program touches, too, and the loop's last iterations, at least one, are left to it:
// grids that each iteration computes anew get their values there.
#include <algorithm>

#include "sdfg/planted_fault.h"
#include "transforms/overlapped_tiles.h"
#include "transforms/relocation.h"
#include "transforms/tile_bounds.h"

namespace sous::transforms {

using sdfg::Expr;
using sdfg::Loop;
using sdfg::Node;

struct Overlap {
  static constexpr std::string_view name = "overlap";
  static constexpr std::string_view summary =
      "Iterations of a loop in time around sweeps over grids run several at a time on a GPU: each block on a tile in "
      "its "
      "shared memory, whose rim it computes as its neighbours do. What is left of the iterations stays as it is.";
  static constexpr std::string_view before =
      "for t:\n"
      "  for i: for j: B(i, j) = f(A(i - 1, j), A(i, j + 1), …)\n"
      "  for i: for j: A(i, j) = f(B(i - 1, j), B(i, j + 1), …)";
  static constexpr std::string_view after =
      "A2 = A\n"
      "for t_t in steps of 4:\n"
      "  grid t_b0, t_b1 in steps of 32 x 56:\n"
      "    block: a = A(40 x 64 elements around)\n"
      "    block: b(38 x 62) = f(a); block: a(36 x 60) = f(b); block: b(34 x 58) = f(a); block: a(32 x 56) = f(b)\n"
      "    block: A2(tile) = a\n"
      "  the same from A2 to A\n"
      "for t in the last one to four: as before";
  static constexpr std::string_view names =
      "What is left is called as before. The loop over groups of iterations is t_t; blocks, threads and places have "
      "the "
      "next free names.";
  static constexpr bool needs_dependences = false;
  static constexpr std::int64_t step_values[] = {2, 1, 3, 4};
  static constexpr std::int64_t size_values[] = {16, 32, 64, 8, 40, 48};
  static constexpr std::int64_t row_values[] = {1, 2, 4, 8};
  static constexpr std::int64_t most_threads = 1024, most_threads_z = 64, most_bytes = std::int64_t{48} * 1024;
  static constexpr std::int64_t most_groups = std::int64_t{1} << 40;

  LoopRef loop;
  std::vector<LoopRef> loops;
  std::vector<Size> sizes;
  std::int64_t steps = 2, rows = 1;
  static constexpr auto params = std::tuple{
      param(&Overlap::loop, {.name = "loop", .doc = "the loop in time"}),
      param(&Overlap::loops, {.name = "loops",
                              .doc = "those of a sweep inside, one for each dimension of the grids",
                              .most = 3,
                              .relation = Relation::Band,
                              .refusal = "overlap.not-nested"}),
      param(&Overlap::sizes,
            {.name = "sizes",
             .doc = "elements that a block has of each grid, in each dimension, with those around its own",
             .low = 1,
             .high = 4096,
             .values = size_values,
             .length_of = "loops",
             .refusal = "overlap.sizes"}),
      param(&Overlap::steps, {.name = "steps",
                              .doc = "iterations in time of one kernel",
                              .low = 1,
                              .high = 8,
                              .values = step_values,
                              .default_value = 2}),
      param(&Overlap::rows, {.name = "rows",
                             .doc = "elements of the first dimension, one after the other, that a thread computes, of "
                                    "which neighbours share what they read",
                             .low = 1,
                             .high = 32,
                             .values = row_values,
                             .default_value = 1}),
  };
  static constexpr RefusalInfo refusals[] = {
      {"overlap.no-loop", "a loop does not exist"},
      {"overlap.not-nested", "the loops are not a perfect band"},
      {"overlap.place",
       "the loop in time, or one around it, does not run in order on the host, one by one, or the band is not inside"},
      {"overlap.body",
       "something in it is no sweep: one assignment in plain loops, one along each dimension, with bounds that do not "
       "move"},
      {"overlap.subscripts", "an element of a grid is at no constant distance from where the sweep is"},
      {"overlap.carried",
       "a sweep reads what other iterations of it write, or no grid has values for later iterations"},
      {"overlap.alias", "a grid may be the same memory as something else"},
      {"overlap.sizes", "there is not one size for each loop"},
      {"overlap.tile", "a tile has no elements of its own, too many threads, or more than 48 KiB"},
  };

  Result<Plan> plan(const Nest& nest, const StepContext&) const {
    TRY_VOID(check_place(nest));
    sdfg::Sdfg result = sdfg::lower(nest.scop, nest.tree);
    const auto place = sdfg::find_loop(result.root, loop.name);
    const Loop time = place->loop();
    TRY(const Sweeps sweeps, sweeps_of(result, time, loops.size()));
    normal::Names names(result);
    TileShape shape{.sizes = {}, .rows = rows};
    for (const Size& size : sizes) shape.sizes.push_back(size.value);
    OverlappedTiles tiles(result, names, sweeps, time, shape, steps);
    TRY_VOID(check_sizes(result, tiles));
    const Expr end = end_of_tiles(time, tiles);
    std::vector<Node> in_tiles = tiled(result, tiles, sweeps, time, end, names);
    auto& nodes = place->owner->nodes;
    nodes[place->at] = sdfg::If{.condition = {.code = sdfg::at_most(time.begin + 1, end), .inputs = {}},
                                .then_body = {std::move(in_tiles)},
                                .else_body = {}};
    Loop rest = time;
    rest.begin = Expr::max(time.begin, end);
    nodes.insert(nodes.begin() + static_cast<std::ptrdiff_t>(place->at) + 1, Node(std::move(rest)));
    return restructure(unchanged(nest), Equivalent(result));
  }

 private:
  Result<void> check_place(const Nest& nest) const {
    const auto inside = sdfg::path_to(nest.tree, loops[0].name);
    if (std::ranges::find(inside, loop.name) == inside.end() || loops[0].name == loop.name)
      return fail("overlap.place", "loop " + loops[0].name + " is not inside " + loop.name, loops[0].name);
    const sdfg::ScheduleLoop& time = loop_of(nest, loop);
    if (time.step != 1 || !time.privates.empty() || !time.reductions.empty())
      return fail("overlap.place", "the loop does not count by one, or has something of its own", loop.name);
    for (const std::string& symbol : sdfg::path_to(nest.tree, loop.name))
      if (!is_sequential(*sdfg::find_loop(nest.tree, symbol)))
        return fail("overlap.place", "loop " + symbol + " does not run in order", symbol);
    return {};
  }

  Result<void> check_sizes(const sdfg::Sdfg& sdfg, const OverlappedTiles& tiles) const {
    std::int64_t elements = 1, bytes = 0;
    for (const Size& size : sizes) elements = std::min(elements * size.value, most_bytes + 1);
    for (std::size_t d = 0; d < sizes.size(); ++d)
      if (tiles.own()[d] < 1)
        return fail("overlap.tile", "nothing of a tile is its own along " + loops[d].name, loops[d].name);
    const std::int64_t threads = tiles.threads();
    if (threads > most_threads || (sizes.size() == 3 && threads / sizes[1].value / sizes[2].value > most_threads_z))
      return fail("overlap.tile", "a block would have too many threads", loops[0].name);
    for (const auto& [grid, margins] : tiles.halo().read) bytes += elements * sdfg::info(sdfg.find(grid)->type).bytes;
    if (bytes > most_bytes)
      return fail("overlap.tile", "a block's grids would take " + std::to_string(bytes) + " bytes", loops[0].name);
    return {};
  }

  // The grids whose values go on get a second place; groups of iterations go there and back.
  std::vector<Node> tiled(sdfg::Sdfg& sdfg, OverlappedTiles& tiles, const Sweeps& sweeps, const Loop& time,
                          const Expr& end, normal::Names& names) const {
    GridPlaces here, there, carried;
    for (const std::string& grid : sweeps.grids) {
      here[grid] = there[grid] = {.container = grid, .first = std::vector<Expr>(loops.size())};
      if (sweeps.is_fresh(grid)) continue;
      carried[grid] = here[grid];
      std::vector<Expr> extents, first;
      for (const Interval& in : tiles.around(grid)) {
        extents.push_back(Expr::max(0, in.end - in.begin));
        first.push_back(in.begin);
      }
      const sdfg::Container second =
          sdfg::temporary(names.fresh(grid + "_2"), sdfg.find(grid)->type, std::move(extents), sdfg::Storage::heap);
      add_place(sdfg, nullptr, second);
      if (!planted(Fault::tiles_in_place)) there[grid] = {.container = second.name, .first = std::move(first)};
    }
    std::vector<Node> nodes;
    GridPlaces carried_there;
    for (const auto& [grid, place] : carried) {
      nodes.push_back(tiles.copy(grid, here, there));
      carried_there[grid] = there[grid];
    }
    Loop groups = sdfg::counted(names.fresh(time.symbol + "_t"), time.begin, end);
    groups.step = 2 * steps;
    const Expr at = Expr::symbol(groups.symbol);
    groups.body.nodes.push_back(tiles.kernel(here, carried_there, at));
    groups.body.nodes.push_back(tiles.kernel(there, carried, at + steps));
    nodes.emplace_back(std::move(groups));
    return nodes;
  }

  // Whole groups of iterations, all but the last one at least; none where a box has too few elements for what is taken
  // to be present.
  Expr end_of_tiles(const Loop& time, const OverlappedTiles& tiles) const {
    const Expr group = 2 * steps;
    Expr end = time.begin + group * Expr::floor_div(time.end - time.begin - 1, group);
    for (const Expr& e : tiles.present())
      if (e.constant().value_or(-1) < 0)
        end = Expr::min(end, time.begin + group * most_groups * Expr::max(0, Expr::min(1, e + 1)));
    return end;
  }
};

constinit const StepInfo overlap_step = declare<Overlap>();

}  // namespace sous::transforms
