// Register tiling: unroll-and-jam (Callahan, Carr, Kennedy 1990) of two loops over the loops inside them, with the tile
// of the result held in registers while the inner loops run (the micro-kernel of Goto and van de Geijn 2008).
//
// The tile is loaded from the result, updated in the inner loops' own order and stored back: every element sees the
// same operations in the same order as before, so no leave to reassociate is needed.
#include <algorithm>

#include "sdfg/surroundings.h"
#include "transforms/loop_names.h"
#include "transforms/padded_tile.h"
#include "transforms/register_promotion.h"
#include "transforms/relocation.h"
#include "transforms/simplify.h"
#include "transforms/step.h"
#include "transforms/tile_bounds.h"

namespace sous::transforms {

using sdfg::at_most;
using sdfg::Expr;
using sdfg::ScalarExpr;
using sdfg::ScheduleLoop;
using sdfg::ScheduleTree;

struct RegisterTile {
  static constexpr std::string_view name = "register_tile";
  static constexpr std::string_view summary =
      "Cuts two loops around a third into small tiles of the result that stay in registers while the third loop, and "
      "those directly inside it, run; full tiles are unrolled and vectorized, and so are those that only lack columns, "
      "all rows the same ones, under masks; other partial ones run row by row.";
  static constexpr std::string_view before = "for i: for j: for k: C(i, j) += A(i, k) * B(k, j)";
  static constexpr std::string_view after =
      "for i_r in steps of 8: for j_r in steps of 16:\n"
      "  if the tile is full:\n"
      "    r(0..8, 0..16) = C(i_r.., j_r..)\n"
      "    for k: for i in 8 (unrolled): for j in 16 (simd): r(i, j) += A(i, k) * B(k, j)\n"
      "    C(i_r.., j_r..) = r(0..8, 0..16)\n"
      "  else if only columns are missing: the same with i_e, k_e and j_e, which ends with them\n"
      "  else: for i_p: for k_p: simd for j_p: C(i_p, j_p) += A(i_p, k_p) * B(k_p, j_p)";
  static constexpr std::string_view names =
      "The loops over tiles are i_r and j_r; the unrolled and the vectorized loop inside a full tile stay i and j, k "
      "stays k; in tiles that lack columns they are i_e, k_e and j_e, in other partial ones i_p, k_p and j_p. Where j "
      "alone is "
      "given, i is j_row, of a single iteration.";
  static constexpr std::int64_t size_values[] = {8, 4, 16, 24, 6, 12, 2, 32};
  static constexpr std::int64_t lane_values[] = {8, 4, 16, 2};
  // A vector of doubles or floats, and three.
  static constexpr std::string_view size_expressions[] = {"simd_bits floordiv 64", "3 * (simd_bits floordiv 64)",
                                                          "simd_bits floordiv 32", "3 * (simd_bits floordiv 32)"};
  static constexpr std::string_view lane_expressions[] = {"simd_bits floordiv 64", "simd_bits floordiv 32"};

  std::vector<LoopRef> loops;
  std::vector<Size> sizes;
  Size lanes;
  std::string vector;
  static constexpr std::string_view vector_choices[] = {"inner", "outer"};
  std::string partial;
  static constexpr std::string_view partial_choices[] = {"masked", "padded"};
  static constexpr auto params = std::tuple{
      param(&RegisterTile::loops, {.name = "loops",
                                   .doc = "two loops, the outer one first; or the inner one alone: a tile of one row",
                                   .most = 2,
                                   .relation = Relation::BandAroundLoop,
                                   .refusal = "register-tile.not-nested"}),
      param(&RegisterTile::sizes, {.name = "sizes",
                                   .doc = "iterations of each loop in a tile",
                                   .low = 1,
                                   .high = 64,
                                   .values = size_values,
                                   .expressions = size_expressions,
                                   .length_of = "loops",
                                   .multiple_of = "lanes",
                                   .multiple_by = "vector",
                                   .refusal = "register-tile.sizes",
                                   .effect = Effect::Cuts}),
      param(&RegisterTile::lanes, {.name = "lanes",
                                   .doc = "elements of a vector",
                                   .low = 1,
                                   .high = 64,
                                   .values = lane_values,
                                   .expressions = lane_expressions}),
      param(&RegisterTile::vector, {.name = "vector",
                                    .doc = "which of the two loops is vectorized",
                                    .choices = vector_choices,
                                    .default_value = "inner"}),
      param(
          &RegisterTile::partial,
          {.name = "partial",
           .doc = "what becomes of tiles that the end cuts off: run under masks, or padded to full ones whose further "
                  "elements are never stored (for operands that are packed next)",
           .choices = partial_choices,
           .default_value = "masked"}),
  };
  static constexpr RefusalInfo refusals[] = {
      {"register-tile.no-loop", "a loop does not exist"},
      {"register-tile.not-nested", "the loops and the one inside are no perfect band"},
      {"register-tile.reduced", "a loop around keeps partial results of what the tile holds"},
      {"register-tile.sizes",
       "there are not as many sizes as loops, or that of the vectorized one is no multiple of the lanes"},
      {"register-tile.step", "a loop does not have step 1, or is not sequential any more"},
      {"register-tile.bounds",
       "the third loop's bounds, or those of loops inside it, differ within a tile, or the columns' have no extremes "
       "over one"},
      {"register-tile.body",
       "the third loop, or the innermost of those directly inside it, holds something else than statements; padded "
       "tiles take a single one"},
      {"register-tile.not-invariant",
       "what the statements write moves with the third loop, may be read under another subscript, or is private to a "
       "loop"},
      {"register-tile.padding",
       "padded tiles would read elements that the nest does not read or that it writes, or an operation may fail"},
      {"register-tile.illegal", "a dependence would be reversed"},
  };

  Result<Plan> plan(const Nest& nest, const StepContext&) const {
    if (loops.size() != 1) return tile_of_two(nest);
    // One loop is two, the outer of a single iteration.
    Nest wrapped = nest;
    auto [sequence, at] = sdfg::owner_of(wrapped.tree, loops[0].name);
    const ScheduleLoop row{sdfg::counted(fresh(nest, loops[0].name + "_row"), 0, 1), {(*sequence)[at]}};
    (*sequence)[at] = row;
    RegisterTile two = *this;
    two.loops = {LoopRef{row.symbol}, loops[0]};
    two.sizes = {Size{1}, sizes[0]};
    return two.tile_of_two(wrapped);
  }

 private:
  // The two loops, the third one and those directly inside it as the nest has them, and the first element of a tile.
  struct Band {
    const Nest& nest;
    const ScheduleLoop &a, &b;
    std::vector<const ScheduleLoop*> sums;  // outermost first
    Expr row, column;

    const ScheduleLoop& k() const { return *sums.front(); }
    const ScheduleTree& body() const { return sums.back()->children; }
  };
  // The columns of the rows of a tile: extremes of their bounds.
  struct Columns {
    Expr begin_low, begin_high, end_low, end_high;
  };
  // Inside a full tile: the sums' loops, in them the unrolled loop's copies of the vectorized one.
  struct FullTile {
    std::vector<ScheduleLoop> sums;
    ScheduleLoop rows, lanes;  // without children

    std::vector<ScheduleLoop> loops() const {
      std::vector<ScheduleLoop> all = sums;
      all.insert(all.end(), {rows, lanes});
      return all;
    }
    sdfg::ScheduleNode of(const ScheduleTree& body) const { return nested(loops(), body)[0]; }
  };
  // The loops over tiles, without children.
  struct Grid {
    ScheduleLoop a, b;

    ScheduleTree holding(const Band& band, std::vector<sdfg::ScheduleNode> inside) const {
      ScheduleTree tree = band.nest.tree;
      auto [sequence, at] = sdfg::owner_of(tree, band.a.symbol);
      (*sequence)[at] = nested({a, b}, std::move(inside))[0];
      return tree;
    }
  };

  bool outer_in_lanes() const { return vector == "outer"; }  // the outer loop is the vectorized one

  Result<Plan> tile_of_two(const Nest& nest) const {
    const ScheduleLoop &a = loop_of(nest, loops[0]), &b = loop_of(nest, loops[1]);
    const Band band{.nest = nest,
                    .a = a,
                    .b = b,
                    .sums = loops_inside(b),
                    .row = Expr::symbol(fresh(nest, a.symbol + std::string(over_register_tiles))),
                    .column = Expr::symbol(fresh(nest, b.symbol + std::string(over_register_tiles)))};
    TRY_VOID(require_plain(band));
    TRY(const Columns columns, columns_of_tile(band));
    Grid grid{.a = a, .b = b};
    grid.a.symbol = *band.row.as_symbol();
    grid.a.step = sizes[0].value;
    grid.b.symbol = *band.column.as_symbol();
    grid.b.begin = columns.begin_low;
    // Rows past the end have no columns; over-estimating the columns of the last tile only makes empty tiles.
    grid.b.end = columns.end_high;
    grid.b.step = sizes[1].value;
    const FullTile tile = full_tile(band);
    return partial == "padded" ? padded_tiles(band, tile, std::move(grid)) : masked_tiles(band, columns, tile, grid);
  }

  Result<void> require_plain(const Band& band) const {
    std::vector<const ScheduleLoop*> all = band.sums;
    all.insert(all.begin(), {&band.a, &band.b});
    for (const ScheduleLoop* l : all)
      if (l->step != 1 || !is_sequential(*l))
        return fail("register-tile.step", "loop " + l->symbol + " has a step or a schedule", l->symbol);
    if (partial == "padded" && band.sums.size() > 1)
      return fail("register-tile.body", band.k().symbol + " holds a loop", band.k().symbol);
    for (const auto& child : band.body())
      if (const auto* leaf = std::get_if<sdfg::ScheduleLeaf>(&child.value);
          !leaf || band.nest.scop.statements[static_cast<std::size_t>(leaf->statement)].opaque)
        return fail("register-tile.body", band.sums.back()->symbol + " holds more than plain statements",
                    band.sums.back()->symbol);
    return no_reduction_around(band.nest, band.a.symbol, band.body());
  }

  Expr last_row(const Band& band) const { return band.row + sizes[0].value - 1; }

  Result<Columns> columns_of_tile(const Band& band) const {
    const auto& [nest, a, b, sums, row, column] = band;
    const Expr last = last_row(band);
    auto begin_low = least(b.begin, a.symbol, row, last), begin_high = greatest(b.begin, a.symbol, row, last);
    auto end_low = least(b.end, a.symbol, row, last), end_high = greatest(b.end, a.symbol, row, last);
    bool uniform = true;
    for (const ScheduleLoop* k : sums) uniform = uniform && same_in_tile(band, k->begin) && same_in_tile(band, k->end);
    // With the outer loop in the lanes, the inner one's range must be the same in all of them.
    if (outer_in_lanes()) uniform = uniform && !b.begin.uses(a.symbol) && !b.end.uses(a.symbol);
    if (!begin_low || !begin_high || !end_low || !end_high || !uniform)
      return fail("register-tile.bounds", "the bounds of " + b.symbol + " or " + band.k().symbol + " do not fit tiles",
                  band.k().symbol);
    return Columns{.begin_low = *begin_low, .begin_high = *begin_high, .end_low = *end_low, .end_high = *end_high};
  }

  // Nor may a loop inside the third one be empty at times: all of them run if one iteration does.
  static bool same_in_tile(const Band& band, const Expr& bound) {
    return !bound.uses(band.a.symbol) && !bound.uses(band.b.symbol) &&
           std::ranges::none_of(band.sums, [&](const ScheduleLoop* k) { return bound.uses(k->symbol); });
  }

  void schedule(ScheduleLoop& rows, ScheduleLoop& lanes_loop, std::int64_t height) const {
    rows.schedule = sdfg::Sequential{};
    if (height > 1) rows.schedule = sdfg::Unroll{.factor = static_cast<int>(height)};
    lanes_loop.schedule = sdfg::Simd{.lanes = static_cast<int>(lanes.value)};
  }

  std::int64_t height() const { return sizes[outer_in_lanes() ? 1 : 0].value; }
  std::int64_t width() const { return sizes[outer_in_lanes() ? 0 : 1].value; }

  FullTile full_tile(const Band& band) const {
    FullTile tile{.sums = {}, .rows = band.a, .lanes = band.b};
    for (const ScheduleLoop* k : band.sums) tile.sums.push_back(*k);
    if (outer_in_lanes()) std::swap(tile.rows, tile.lanes);
    ScheduleLoop &a = outer_in_lanes() ? tile.lanes : tile.rows, &b = outer_in_lanes() ? tile.rows : tile.lanes;
    a.begin = band.row;
    a.end = band.row + sizes[0].value;
    b.begin = band.column;
    b.end = band.column + sizes[1].value;
    schedule(tile.rows, tile.lanes, height());
    return tile;
  }

  // A tile of which only the last columns are missing, and what its statements are.
  struct Edge {
    FullTile tile;
    ScheduleTree body;
    ScalarExpr condition;  // that it is one, or full
  };
  Edge edge_tile(const Band& band, const Columns& columns) const {
    Edge edge{.tile = full_tile(band), .body = {}, .condition = {}};
    std::map<std::string, Expr> to_edge;
    const auto rename = [&](ScheduleLoop& loop) {
      const std::string symbol = fresh(band.nest, loop.symbol + "_e");
      to_edge.emplace(loop.symbol, Expr::symbol(symbol));
      loop.symbol = symbol;
    };
    rename(edge.tile.rows);
    rename(edge.tile.lanes);
    std::ranges::for_each(edge.tile.sums, rename);
    edge.tile.lanes.end = Expr::min(edge.tile.lanes.end, band.b.end.substitute(to_edge));
    edge.body = sdfg::substitute(band.body(), to_edge);
    edge.condition = all_of(needs_rows(band, columns, {at_most(band.column + 1, columns.end_low)}));
    return edge;
  }

  // A partial tile keeps the sums inside the rows, so that lanes past the end are the only thing to mask.
  ScheduleLoop partial_tile(const Band& band) const {
    const auto& [nest, a, b, sums, row, column] = band;
    ScheduleLoop part_a = a, part_b = b;
    part_a.symbol = fresh(nest, a.symbol + "_p");
    part_b.symbol = fresh(nest, b.symbol + "_p");
    std::map<std::string, Expr> to_part{{a.symbol, Expr::symbol(part_a.symbol)},
                                        {b.symbol, Expr::symbol(part_b.symbol)}};
    std::vector<ScheduleLoop> part_sums;
    for (const ScheduleLoop* k : sums) {
      part_sums.push_back(*k);
      part_sums.back().symbol = fresh(nest, k->symbol + "_p");
      to_part.emplace(k->symbol, Expr::symbol(part_sums.back().symbol));
    }
    part_a.begin = row;
    part_a.end = Expr::min(row + sizes[0].value, a.end);
    part_b.begin = Expr::max(column, b.begin.substitute(to_part));
    part_b.end = Expr::min(column + sizes[1].value, b.end.substitute(to_part));
    ScheduleLoop &rows = outer_in_lanes() ? part_b : part_a, &lanes_loop = outer_in_lanes() ? part_a : part_b;
    schedule(rows, lanes_loop, 1);
    part_sums.push_back(lanes_loop);
    rows.children = nested(part_sums, sdfg::substitute(band.body(), to_part));
    return rows;
  }

  ScalarExpr is_full(const Band& band, const Columns& columns) const {
    return all_of(needs_rows(band, columns, {at_most(band.column + sizes[1].value, columns.end_low)}));
  }
  // That all rows of the tile are there and begin with it, and sum something; and these.
  std::vector<ScalarExpr> needs_rows(const Band& band, const Columns& columns, std::vector<ScalarExpr> more) const {
    std::vector<ScalarExpr> all{at_most(last_row(band) + 1, band.a.end), at_most(columns.begin_high, band.column)};
    sdfg::append(all, more);
    for (const ScheduleLoop* k : band.sums) all.push_back(at_most(k->begin + 1, k->end));
    return all;
  }

  // A tile is full or partial as a whole. So two instances are ordered by their tiles, which both kinds run in the
  // same order, or by the order inside one kind: if all tiles may have the full one's order and all may have the
  // partial one's, then any mixture is legal, and runs the same instances provided that a full tile, which is not
  // clipped, adds none. Each of the three is a plain tree without the guards' case distinctions.
  Result<Plan> prove_full(const Band& band, FullTile clipped, const Grid& grid) const {
    ScheduleLoop& a = outer_in_lanes() ? clipped.lanes : clipped.rows;
    ScheduleLoop& b = outer_in_lanes() ? clipped.rows : clipped.lanes;
    a.end = Expr::min(a.end, band.a.end);
    b.begin = Expr::max(b.begin, band.b.begin);
    b.end = Expr::min(b.end, band.b.end);
    return prove(band.nest, grid.holding(band, {clipped.of(band.body())}), "register-tile.illegal", band.a.symbol);
  }

  Result<Plan> padded_tiles(const Band& band, const FullTile& tile, Grid grid) const {
    const auto& [nest, a, b, sums, row, column] = band;
    const ScheduleLoop& k = band.k();
    // No tiles without an iteration, which would be computed for nothing.
    if (const auto end = greatest(b.end, a.symbol, row, simplest(Expr::min(last_row(band), a.end - 1))))
      grid.b.end = simplest(*end);
    // Rows whose columns begin elsewhere share panels of packed columns all the same.
    std::vector<ScheduleLoop> around = around_loop(nest, a.symbol).loops;
    around.push_back(grid.a);
    grid.b.begin = aligned(grid.b.begin, sizes[1].value, around);
    TRY(Plan order, prove_full(band, tile, grid));
    TRY(const PaddedTile padded, pad(nest, a, b, k, sizes, {grid.a, grid.b}, "register-tile.padding"));
    const ScalarExpr runs = all_of(needed_at_most(k.begin + 1, k.end));
    const ScheduleTree tree =
        grid.holding(band, {sdfg::ScheduleGuard{.condition = runs, .children = {tile.of(band.body())}}});
    return in_registers(band, {tile}, tree, std::move(order), padded);
  }

  Result<Plan> masked_tiles(const Band& band, const Columns& columns, const FullTile& tile, const Grid& grid) const {
    const Nest& nest = band.nest;
    const ScheduleLoop part = partial_tile(band);
    const ScalarExpr full = is_full(band, columns);
    const auto negated = [](const ScalarExpr& c) { return ScalarExpr::unary(sdfg::ScalarOp::logical_not, c); };
    ScheduleTree tiles{sdfg::ScheduleGuard{.condition = full, .children = {tile.of(band.body())}}};
    ScalarExpr masked_or_full = full;  // the one follows from the other
    std::vector<FullTile> held{tile};
    // With the outer loop in the lanes it is rows that are missing. On a triangle each row lacks others: a third kind
    // of tile there costs what follows more proofs than isl's budget has.
    if (!outer_in_lanes() && columns.end_low == columns.end_high) {
      const Edge edge = edge_tile(band, columns);
      tiles.push_back(sdfg::ScheduleGuard{.condition = all_of({negated(full), edge.condition}),
                                          .children = {edge.tile.of(edge.body)}});
      masked_or_full = edge.condition;
      held.push_back(edge.tile);
    }
    TRY(Plan order, prove_full(band, tile, grid));
    TRY([[maybe_unused]] Plan masked, prove(nest, grid.holding(band, {part}), "register-tile.illegal", band.a.symbol));
    if (auto within = sdfg::adds_no_instances(nest.dependences, nest.scop, nest.tree, grid.holding(band, tiles));
        !within)
      return std::unexpected(within.error());
    tiles.push_back(sdfg::ScheduleGuard{.condition = negated(masked_or_full), .children = {part}});
    return in_registers(band, held, grid.holding(band, tiles), std::move(order), std::nullopt);
  }

  // What each of these tiles writes.
  Result<Plan> in_registers(const Band& band, const std::vector<FullTile>& tiles, const ScheduleTree& tree, Plan order,
                            const std::optional<PaddedTile>& padded) const {
    sdfg::Sdfg result = sdfg::lower(band.nest.scop, tree);
    for (const FullTile& tile : tiles) {
      ResultTile held{.a = tile.rows.symbol,
                      .b = tile.lanes.symbol,
                      .tile = *band.column.as_symbol(),
                      .sums = {},
                      .points = sdfg::Surroundings(band.nest.scop, sdfg::around(tree, tile.sums.front().symbol)),
                      .inside = tile.loops(),
                      .shape = {height(), width()},
                      .padded = padded};
      for (const ScheduleLoop& k : tile.sums) held.sums.push_back(k.symbol);
      TRY_VOID(hold_in_registers(result, held));
    }
    return restructure(std::move(order), Equivalent(result));
  }

  static std::string fresh(const Nest& nest, const std::string& wish) {
    return sdfg::fresh_symbol(nest.scop, nest.tree, wish);
  }
};

constinit const StepInfo register_tile_step = declare<RegisterTile>();

}  // namespace sous::transforms
