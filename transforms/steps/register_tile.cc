// Register tiling: unroll-and-jam (Callahan, Carr, Kennedy 1990) of two loops over the loop inside them, with the tile
// of the result held in registers while the inner loop runs (the micro-kernel of Goto and van de Geijn 2008).
//
// The tile is loaded from the result, updated in the inner loop's own order and stored back: every element sees the
// same operations in the same order as before, so no leave to reassociate is needed.
#include <algorithm>

#include "sdfg/planted_fault.h"
#include "sdfg/surroundings.h"
#include "transforms/padded_tile.h"
#include "transforms/step.h"
#include "transforms/tile_bounds.h"

namespace sous::transforms {

namespace {

using sdfg::Expr;
using sdfg::ScalarExpr;
using sdfg::ScheduleLoop;
using sdfg::ScheduleTree;

using sdfg::at_most;

struct RegisterTile {
  static constexpr std::string_view name = "register_tile";
  static constexpr std::string_view summary =
      "Cuts two loops around a third into small tiles of the result that stay in registers while the third loop runs; "
      "full tiles are unrolled and vectorized, partial ones run under masks.";
  static constexpr std::string_view before = "for i: for j: for k: C(i, j) += A(i, k) * B(k, j)";
  static constexpr std::string_view after =
      "for i_r in steps of 8: for j_r in steps of 16:\n"
      "  if the tile is full:\n"
      "    r(0..8, 0..16) = C(i_r.., j_r..)\n"
      "    for k: for i in 8 (unrolled): for j in 16 (simd): r(i, j) += A(i, k) * B(k, j)\n"
      "    C(i_r.., j_r..) = r(0..8, 0..16)\n"
      "  else: for i_p: for k_p: simd for j_p: C(i_p, j_p) += A(i_p, k_p) * B(k_p, j_p)";
  static constexpr std::string_view names =
      "The loops over tiles are i_r and j_r; the unrolled and the vectorized loop inside a full tile stay i and j, k "
      "stays k; in "
      "partial tiles they are i_p, k_p and j_p. Where j alone is given, i is j_row, of a single iteration.";
  static constexpr bool reassociates = false;
  static constexpr std::int64_t size_values[] = {8, 4, 16, 24, 6, 12, 2, 32};
  static constexpr std::int64_t lane_values[] = {8, 4, 16, 2};

  std::vector<LoopRef> loops;
  std::vector<Size> sizes;
  Size lanes{8};
  std::string vector = "inner";
  static constexpr std::string_view vector_choices[] = {"inner", "outer"};
  std::string partial = "masked";
  static constexpr std::string_view partial_choices[] = {"masked", "padded"};
  static constexpr auto params = std::tuple{
      param(
          &RegisterTile::loops,
          {.name = "loops",
           .doc = "two loops, the outer one first; the inner one holds nothing but the third loop. Or that one alone: "
                  "a tile of one row",
           .most = 2}),
      param(&RegisterTile::sizes,
            {.name = "sizes",
             .doc = "iterations of each loop in a tile; of the vectorized one a multiple of the lanes",
             .low = 1,
             .high = 64,
             .values = size_values,
             .multiple_of = "lanes"}),
      param(&RegisterTile::lanes,
            {.name = "lanes", .doc = "elements of a vector", .low = 1, .high = 64, .values = lane_values}),
      param(&RegisterTile::vector, {.name = "vector",
                                    .doc = "which of the two loops is vectorized; inner if not given",
                                    .required = false,
                                    .choices = vector_choices}),
      param(
          &RegisterTile::partial,
          {.name = "partial",
           .doc = "what becomes of tiles that the end cuts off: run under masks, or padded to full ones whose further "
                  "elements are never stored (for operands that are packed next); masked if not given",
           .required = false,
           .choices = partial_choices}),
  };
  static constexpr RefusalInfo refusals[] = {
      {"register-tile.no-loop", "a loop does not exist"},
      {"register-tile.not-nested", "the loops and the one inside are no perfect band"},
      {"register-tile.reduced", "a loop around keeps partial results of what the tile holds"},
      {"register-tile.sizes",
       "there are not one or two loops and as many sizes, or the vectorized one is no multiple of the lanes"},
      {"register-tile.step", "a loop does not have step 1, or is not sequential any more"},
      {"register-tile.bounds",
       "the third loop's bounds differ within a tile, or the columns' have no extremes over one"},
      {"register-tile.body", "the third loop holds something else than statements"},
      {"register-tile.not-invariant",
       "what the statements write moves with the third loop, may be read under another subscript, or is private to a "
       "loop"},
      {"register-tile.padding",
       "padded tiles would read elements that the nest does not read or that it writes, or an operation may fail"},
      {"register-tile.illegal", "a dependence would be reversed"},
  };

  // A loop that reduces an array keeps partial results of it: only x = x op e may touch those, and neither the loads
  // nor the stores of a tile are that.
  static Result<void> no_reduction_around(const Nest& nest, const std::string& outermost, const ScheduleLoop& k) {
    std::set<std::string> written;
    for (const auto& child : k.children) {
      const auto statement = static_cast<std::size_t>(std::get<sdfg::ScheduleLeaf>(child.value).statement);
      written.merge(sdfg::touched(sdfg::Region{{nest.lifted.statements[statement].node}}).written);
    }
    for (const sdfg::ScheduleNode& node : sdfg::around(nest.tree, outermost)) {
      const auto* loop = std::get_if<ScheduleLoop>(&node.value);
      if (!loop) continue;
      for (const sdfg::Reduction& r : loop->reductions)
        if (written.contains(r.container))
          return fail("register-tile.reduced", loop->symbol + " reduces " + r.container, loop->symbol);
    }
    return {};
  }

  Result<Plan> plan(const Nest& nest, const StepContext& context) const {
    if (loops.size() != 1) return tile_of_two(nest);
    // One loop is two, the outer of a single iteration.
    TRY([[maybe_unused]] const auto* only, require_loop(nest, loops[0], "register-tile"));
    if (sizes.size() != 1) return fail("register-tile.sizes", "one loop, one size");
    Nest wrapped = nest;
    auto [sequence, at] = sdfg::owner_of(wrapped.tree, loops[0].name);
    const ScheduleLoop row{.symbol = fresh(nest, loops[0].name + "_row"),
                           .begin = 0,
                           .end = 1,
                           .step = 1,
                           .schedule = {},
                           .privates = {},
                           .reductions = {},
                           .children = {(*sequence)[at]}};
    (*sequence)[at] = row;
    RegisterTile two = *this;
    two.loops = {LoopRef{row.symbol}, loops[0]};
    two.sizes = {Size{1}, sizes[0]};
    return two.plan(wrapped, context);
  }

 private:
  Result<Plan> tile_of_two(const Nest& nest) const {
    constexpr std::string_view area = "register-tile";
    TRY(auto band, require_band(nest, loops, area));
    const bool outer = vector == "outer";  // the outer loop is the vectorized one
    if (band.size() != 2 || sizes.size() != 2 || sizes[outer ? 0 : 1].value % lanes.value != 0)
      return fail("register-tile.sizes",
                  "one or two loops, as many sizes, the vectorized one's a multiple of the lanes");
    const ScheduleLoop &a = *band[0], &b = *band[1];
    const auto* third = b.children.size() == 1 ? std::get_if<ScheduleLoop>(&b.children[0].value) : nullptr;
    if (!third) return fail("register-tile.not-nested", b.symbol + " does not hold exactly one loop", b.symbol);
    const ScheduleLoop& k = *third;
    for (const ScheduleLoop* l : {&a, &b, &k})
      if (l->step != 1 || !is_sequential(*l))
        return fail("register-tile.step", "loop " + l->symbol + " has a step or a schedule", l->symbol);
    for (const auto& child : k.children)
      if (const auto* leaf = std::get_if<sdfg::ScheduleLeaf>(&child.value);
          !leaf || nest.lifted.statements[static_cast<std::size_t>(leaf->statement)].opaque)
        return fail("register-tile.body", k.symbol + " holds more than plain statements", k.symbol);
    TRY_VOID(no_reduction_around(nest, a.symbol, k));

    const std::string a_r = fresh(nest, a.symbol + "_r"), b_r = fresh(nest, b.symbol + "_r");
    const Expr row = Expr::symbol(a_r), column = Expr::symbol(b_r);
    const Expr last_row = row + sizes[0].value - 1;
    auto begin_low = least(b.begin, a.symbol, row, last_row), begin_high = greatest(b.begin, a.symbol, row, last_row);
    auto end_low = least(b.end, a.symbol, row, last_row), end_high = greatest(b.end, a.symbol, row, last_row);
    bool uniform = true;
    for (const Expr* e : {&k.begin, &k.end}) uniform = uniform && !e->uses(a.symbol) && !e->uses(b.symbol);
    // With the outer loop in the lanes, the inner one's range must be the same in all of them.
    if (outer) uniform = uniform && !b.begin.uses(a.symbol) && !b.end.uses(a.symbol);
    if (!begin_low || !begin_high || !end_low || !end_high || !uniform)
      return fail("register-tile.bounds", "the bounds of " + b.symbol + " or " + k.symbol + " do not fit tiles",
                  k.symbol);

    // Inside a full tile: the third loop, in it the unrolled loop's copies of the vectorized one. A partial tile keeps
    // the third loop inside the rows, so that lanes past the end are the only thing to mask.
    const auto schedule = [&](ScheduleLoop& rows, ScheduleLoop& lanes_loop, std::int64_t height) {
      rows.schedule = sdfg::Sequential{};
      if (height > 1) rows.schedule = sdfg::Unroll{.factor = static_cast<int>(height)};
      lanes_loop.schedule = sdfg::Simd{.lanes = static_cast<int>(lanes.value)};
    };
    const std::size_t rows_at = outer ? 1 : 0;
    ScheduleLoop full_k = k, full_a = a, full_b = b;
    full_a.begin = row;
    full_a.end = row + sizes[0].value;
    full_b.begin = column;
    full_b.end = column + sizes[1].value;
    ScheduleLoop &full_rows = outer ? full_b : full_a, &full_lanes = outer ? full_a : full_b;
    schedule(full_rows, full_lanes, sizes[rows_at].value);
    full_lanes.children = k.children;
    full_rows.children = {full_lanes};
    full_k.children = {full_rows};

    ScheduleLoop part_a = a, part_k = k, part_b = b;
    part_a.symbol = fresh(nest, a.symbol + "_p");
    part_k.symbol = fresh(nest, k.symbol + "_p");
    part_b.symbol = fresh(nest, b.symbol + "_p");
    const std::map<std::string, Expr> to_part{{a.symbol, Expr::symbol(part_a.symbol)},
                                              {b.symbol, Expr::symbol(part_b.symbol)},
                                              {k.symbol, Expr::symbol(part_k.symbol)}};
    part_a.begin = row;
    part_a.end = Expr::min(row + sizes[0].value, a.end);
    part_b.begin = Expr::max(column, b.begin.substitute(to_part));
    part_b.end = Expr::min(column + sizes[1].value, b.end.substitute(to_part));
    ScheduleLoop &part_rows = outer ? part_b : part_a, &part_lanes = outer ? part_a : part_b;
    schedule(part_rows, part_lanes, 1);
    part_lanes.children = sdfg::substitute(k.children, to_part);
    part_k.children = {part_lanes};
    part_rows.children = {part_k};

    ScalarExpr full = at_most(last_row + 1, a.end);
    for (const ScalarExpr& more :
         {at_most(*begin_high, column), at_most(column + sizes[1].value, *end_low), at_most(k.begin + 1, k.end)})
      full = ScalarExpr::binary(sdfg::ScalarOp::logical_and, full, more);

    ScheduleLoop tile_a = a, tile_b = b;
    tile_a.symbol = a_r;
    tile_a.step = sizes[0].value;
    tile_b.symbol = b_r;
    tile_b.begin = *begin_low;
    // Rows past the end have no columns; over-estimating the columns of the last tile only makes empty tiles.
    tile_b.end = *end_high;
    tile_b.step = sizes[1].value;
    tile_b.children = {sdfg::ScheduleGuard{.condition = full, .children = {full_k}},
                       sdfg::ScheduleGuard{.condition = ScalarExpr::unary(sdfg::ScalarOp::logical_not, full),
                                           .children = {part_rows}}};
    const auto with = [&](const ScheduleLoop& nest_of_tiles) {
      ScheduleTree tree = nest.tree;
      auto [sequence, at] = sdfg::owner_of(tree, a.symbol);
      (*sequence)[at] = nest_of_tiles;
      return tree;
    };
    const auto holding = [&](sdfg::ScheduleNode inside) {
      ScheduleLoop outer_tiles = tile_a, inner_tiles = tile_b;
      inner_tiles.children = {std::move(inside)};
      outer_tiles.children = {std::move(inner_tiles)};
      return with(outer_tiles);
    };
    // A tile is full or partial as a whole. So two instances are ordered by their tiles, which both kinds run in the
    // same order, or by the order inside one kind: if all tiles may have the full one's order and all may have the
    // partial one's, then any mixture is legal, and runs the same instances provided that a full tile, which is not
    // clipped, adds none. Each of the three is a plain tree without the guards' case distinctions.
    ScheduleLoop clipped_k = full_k, clipped_rows = full_rows, clipped_lanes = full_lanes;
    ScheduleLoop &clipped_a = outer ? clipped_lanes : clipped_rows, &clipped_b = outer ? clipped_rows : clipped_lanes;
    clipped_a.end = Expr::min(clipped_a.end, a.end);
    clipped_b.begin = Expr::max(clipped_b.begin, b.begin);
    clipped_b.end = Expr::min(clipped_b.end, b.end);
    clipped_rows.children = {clipped_lanes};
    clipped_k.children = {clipped_rows};
    const auto prove_full = [&] { return prove(nest, holding(clipped_k), "register-tile.illegal", a.symbol); };
    if (partial == "padded") {
      // No tiles without an iteration, which would be computed for nothing.
      if (const auto end = greatest(b.end, a.symbol, row, simplest(Expr::min(last_row, a.end - 1))))
        tile_b.end = simplest(*end);
      // Rows whose columns begin elsewhere share panels of packed columns all the same.
      std::vector<ScheduleLoop> around = around_loop(nest.tree, a.symbol).loops;
      around.push_back(tile_a);
      tile_b.begin = aligned(tile_b.begin, sizes[1].value, around);
      TRY(Plan order, prove_full());
      TRY(const PaddedTile padded, pad(nest, a, b, k, sizes, {tile_a, tile_b}, "register-tile.padding"));
      const ScalarExpr runs = all_of(needed_at_most(k.begin + 1, k.end));
      const ScheduleTree tree = holding(sdfg::ScheduleGuard{.condition = runs, .children = {full_k}});
      sdfg::Sdfg result = sdfg::lower(nest.lifted, tree);
      Promotion promotion{.sdfg = result,
                          .a = full_rows.symbol,
                          .b = full_lanes.symbol,
                          .k = k.symbol,
                          .tile = b_r,
                          .points = sdfg::Surroundings(nest.lifted, sdfg::around(tree, k.symbol)),
                          .inside = {k, full_rows, full_lanes},
                          .shape = {sizes[rows_at].value, sizes[1 - rows_at].value},
                          .padded = padded};
      TRY_VOID(promotion.run());
      return restructure(std::move(order), result);
    }
    TRY(Plan order, prove_full());
    TRY([[maybe_unused]] Plan masked, prove(nest, holding(part_rows), "register-tile.illegal", a.symbol));
    if (auto within = sdfg::adds_no_instances(nest.dependences, nest.lifted, nest.tree, holding(tile_b.children[0]));
        !within)
      return std::unexpected(within.error());
    tile_a.children = {tile_b};
    const ScheduleTree tree = with(tile_a);
    sdfg::Sdfg result = sdfg::lower(nest.lifted, tree);
    Promotion promotion{.sdfg = result,
                        .a = full_rows.symbol,
                        .b = full_lanes.symbol,
                        .k = k.symbol,
                        .tile = b_r,
                        .points = sdfg::Surroundings(nest.lifted, sdfg::around(tree, k.symbol)),
                        .inside = {k, full_rows, full_lanes},
                        .shape = {sizes[rows_at].value, sizes[1 - rows_at].value}};
    TRY_VOID(promotion.run());
    return restructure(std::move(order), result);
  }

  static std::string fresh(const Nest& nest, const std::string& wish) {
    return sdfg::fresh_symbol(nest.lifted, nest.tree, wish);
  }

  // Puts what the full tile writes into registers. Condition: inside the loop k every write to such a container has one
  // and the same subscript, free of k, and every read has that one or surely another element than any of the tile's; so
  // an element of the tile is touched through this subscript only (containers of a shared alias class are refused), and
  // the tile before and after the loop is the container's own.
  struct Promotion {
    sdfg::Sdfg& sdfg;
    std::string a, b, k, tile;
    sdfg::Surroundings points;         // around the loop k of a full tile
    std::vector<ScheduleLoop> inside;  // k, a, b
    std::vector<Expr> shape;
    std::optional<PaddedTile> padded = std::nullopt;

    Result<void> run() {
      const auto place = sdfg::find_loop(sdfg.root, k);
      SOUS_ASSERT(place);
      auto& loop = place->loop();
      sdfg::Region& body =
          std::get<sdfg::Loop>(std::get<sdfg::Loop>(loop.body.nodes[0].value).body.nodes[0].value).body;
      const sdfg::Touched touched = sdfg::touched(loop.body);
      std::vector<sdfg::Node> before, after;
      std::set<std::string> privates, held_in;
      for (const sdfg::Loop* l : {&std::as_const(loop), loops(loop).first, loops(loop).second})
        privates.insert(l->privates.begin(), l->privates.end());
      for (const std::string& container : touched.written) {
        if (privates.contains(container))
          return fail("register-tile.not-invariant", container + " is private to a loop, the tile would outlive it", k);
        TRY(sdfg::Memlet element, only_access(body, container));
        sdfg::Container registers = *sdfg.find(container);
        registers.name = unused(container + "_r");
        registers.shape = shape;
        registers.strides = sdfg::row_major(registers.shape);
        registers.offset = 0;
        registers.storage = sdfg::Storage::registers;
        registers.transient = true;
        registers.dead = false;
        registers.alias_class = 0;
        sdfg::Memlet held{.container = registers.name,
                          .subset = sdfg::point({Expr::symbol(a) - loops(loop).first->begin,
                                                 Expr::symbol(b) - loops(loop).second->begin}),
                          .combine = std::nullopt};
        private_to_tile(registers.name);
        sdfg.containers.push_back(registers);
        held_in.insert(registers.name);
        // What the tile starts from is loaded only where it is read: the container may not have been written so far.
        if (read_first(body, element) && !planted(Fault::register_tile_read_lost))
          before.push_back(moved(loop, held, element, true));
        replace(body, element, held);
        after.push_back(moved(loop, element, held, false));
      }
      if (padded) repeat_reads(body, held_in);
      auto& nodes = place->owner->nodes;
      const auto at = static_cast<std::ptrdiff_t>(place->at);
      nodes.insert(nodes.begin() + at + 1, after.begin(), after.end());
      nodes.insert(nodes.begin() + at, before.begin(), before.end());
      return {};
    }

    void private_to_tile(const std::string& container) {
      const auto place = sdfg::find_loop(sdfg.root, tile);
      SOUS_ASSERT(place);
      place->loop().privates.push_back(container);
    }

    static std::pair<const sdfg::Loop*, const sdfg::Loop*> loops(const sdfg::Loop& k_loop) {
      const auto& outer = std::get<sdfg::Loop>(k_loop.body.nodes[0].value);
      return {&outer, &std::get<sdfg::Loop>(outer.body.nodes[0].value)};
    }

    Result<sdfg::Memlet> only_access(const sdfg::Region& body, const std::string& container) const {
      std::optional<sdfg::Memlet> only;
      std::vector<sdfg::Memlet> others;
      bool one = true;
      for (const sdfg::Node& n : body.nodes) {
        const auto& state = std::get<sdfg::State>(n.value);
        for (const sdfg::Edge& e : state.edges) {
          for (const sdfg::Dim& d : e.memlet.subset) one = one && !d.begin.reads().contains(container);
          if (e.memlet.container != container) continue;
          one = one && !e.memlet.combine;
          if (const auto* to = std::get_if<sdfg::AccessNode>(&state.nodes[static_cast<std::size_t>(e.target)])) {
            one = one && to->container == container && (!only || *only == e.memlet);
            only = e.memlet;
          } else {
            others.push_back(e.memlet);
            // A node that is written and read orders what it joins: all its edges move to the registers, or none.
            for (const sdfg::Edge& before : state.edges)
              one = one && (before.target != e.source || before.memlet == e.memlet);
          }
        }
      }
      SOUS_ASSERT(only);
      const sdfg::Container& c = *sdfg.find(container);
      for (const sdfg::Container& other : sdfg.containers)
        one = one && (other.name == container || c.alias_class <= 0 || other.alias_class != c.alias_class);
      bool moves = !only->subset.empty();
      for (const std::string& symbol : {a, b}) {
        bool uses = symbol == a && shape[0] == Expr(1);
        for (const sdfg::Dim& d : only->subset) uses = uses || d.begin.uses(symbol);
        one = one && uses;  // otherwise several elements of the tile would be one element of the container
      }
      for (const sdfg::Dim& d : only->subset) moves = moves && !d.begin.uses(k) && !d.end && sdfg::affine(d.begin);
      for (const sdfg::Memlet& other : others)
        one = one && (other == *only || sdfg::apart(points, inside, only->subset, inside, other.subset));
      if (!one || !moves || !separate(*only))
        return fail("register-tile.not-invariant", "what is written to " + container + " does not stay in one place",
                    k);
      return *only;
    }

    // Different points of the tile are different elements: each of a and b moves a dimension that the other does not.
    bool separate(const sdfg::Memlet& m) const {
      bool a_alone = shape[0] == Expr(1), b_alone = false;
      for (const sdfg::Dim& d : m.subset) {
        a_alone = a_alone || (d.begin.uses(a) && !d.begin.uses(b));
        b_alone = b_alone || (d.begin.uses(b) && !d.begin.uses(a));
      }
      return a_alone && b_alone;
    }

    // Whether one iteration reads the element before it writes it. Every iteration writes it (there are no conditions),
    // and a full tile has a first iteration.
    static bool read_first(const sdfg::Region& body, const sdfg::Memlet& element) {
      for (const sdfg::Node& n : body.nodes) {
        const auto& state = std::get<sdfg::State>(n.value);
        std::set<int> written_here;
        for (const sdfg::Edge& e : state.edges) written_here.insert(e.target);
        bool touches = false;
        for (const sdfg::Edge& e : state.edges) {
          if (e.memlet != element) continue;
          touches = true;
          const bool read = std::holds_alternative<sdfg::AccessNode>(state.nodes[static_cast<std::size_t>(e.source)]);
          if (read && !written_here.contains(e.source)) return true;
        }
        if (touches) return false;
      }
      return false;
    }

    // An access node may serve the tile's element and others: the element's edges get a node of their own.
    static void replace(sdfg::Region& body, const sdfg::Memlet& from, const sdfg::Memlet& to) {
      for (sdfg::Node& n : body.nodes) {
        auto& state = std::get<sdfg::State>(n.value);
        const std::size_t count = state.nodes.size();
        for (std::size_t node = 0; node < count; ++node) {
          const auto* access = std::get_if<sdfg::AccessNode>(&state.nodes[node]);
          if (!access || access->container != from.container) continue;
          std::vector<int*> ends;  // of the element's edges at this node
          bool others = false;
          for (sdfg::Edge& e : state.edges)
            for (int* end : {&e.source, &e.target})
              if (*end == static_cast<int>(node)) {
                if (e.memlet == from)
                  ends.push_back(end);
                else
                  others = true;
              }
          if (ends.empty()) continue;
          const sdfg::AccessNode registers{.container = to.container};
          if (!others) {
            state.nodes[node] = registers;
            continue;
          }
          for (int* end : ends) *end = static_cast<int>(state.nodes.size());
          state.nodes.emplace_back(registers);
        }
        for (sdfg::Edge& e : state.edges)
          if (e.memlet == from) e.memlet = to;
      }
    }

    // Moves the tile between the container and registers. A padded tile that is cut off goes through memory, so that
    // the registers are only named by constants.
    sdfg::Node moved(const sdfg::Loop& k_loop, const sdfg::Memlet& to, const sdfg::Memlet& from, bool load) {
      if (!padded || padded->never_partial()) return copy(k_loop, to, from);
      const sdfg::Memlet &held = load ? to : from, &element = load ? from : to;
      const sdfg::ElementType type = sdfg.find(element.container)->type;
      auto [memory, is_new] = memories.try_emplace(element.container, "");
      if (is_new) {
        sdfg::Container tile_in_memory = *sdfg.find(held.container);
        memory->second = tile_in_memory.name = unused(element.container + "_m");
        tile_in_memory.storage = sdfg::Storage::stack;
        private_to_tile(memory->second);
        sdfg.containers.push_back(std::move(tile_in_memory));
      }
      const sdfg::Memlet between{.container = memory->second, .subset = held.subset, .combine = std::nullopt};
      sdfg::Loop rows = *loops(k_loop).first, columns = *loops(k_loop).second;
      for (auto [loop, symbol] : {std::pair(&rows, &a), std::pair(&columns, &b)}) {
        const TileSide& side = *symbol == padded->outer.symbol ? padded->outer : padded->inner;
        loop->begin = side.begin;
        loop->end = side.end;
      }
      rows.schedule = sdfg::Sequential{};
      sdfg::Region whole{{copy(k_loop, to, from)}}, cut;
      if (load) {
        const ScalarExpr zero = ScalarExpr::cast(ScalarExpr::integer(0, sdfg::ElementType::i32), type);
        cut.nodes = {tiled(*loops(k_loop).first, *loops(k_loop).second, between, zero, {}),
                     tiled(rows, columns, between, ScalarExpr::make_input(0, type), {from}), copy(k_loop, to, between)};
      } else {
        cut.nodes = {copy(k_loop, between, from), tiled(rows, columns, to, ScalarExpr::make_input(0, type), {between})};
      }
      return sdfg::If{.condition = {.code = padded->is_whole(), .inputs = {}}, .then_body = whole, .else_body = cut};
    }

    // What the iterations past the end read is what the last one reads.
    void repeat_reads(sdfg::Region& body, const std::set<std::string>& registers) const {
      for (sdfg::Node& n : body.nodes) {
        auto& state = std::get<sdfg::State>(n.value);
        sdfg::State repeated = sdfg::substitute(state, padded->repeated());
        for (std::size_t e = 0; e < state.edges.size(); ++e)
          if (registers.contains(state.edges[e].memlet.container)) repeated.edges[e].memlet = state.edges[e].memlet;
        state = std::move(repeated);
      }
    }

    // The tile's two loops around to = from.
    sdfg::Node copy(const sdfg::Loop& k_loop, const sdfg::Memlet& to, const sdfg::Memlet& from) {
      const ScalarExpr value = ScalarExpr::make_input(0, sdfg.find(from.container)->type);
      return tiled(*loops(k_loop).first, *loops(k_loop).second, to, value, {from});
    }

    // Two such loops around to = code(inputs), with names of their own.
    sdfg::Node tiled(sdfg::Loop rows, sdfg::Loop columns, const sdfg::Memlet& to, const ScalarExpr& code,
                     const std::vector<sdfg::Memlet>& inputs) {
      rows.privates.clear();
      columns.privates.clear();
      columns.body.nodes.clear();
      const std::string state = (inputs.empty() ? "clear_" + to.container : "load_" + inputs[0].container);
      columns.body.nodes.emplace_back(sdfg::assignment(unused_state(state), to, code, inputs));
      rows.body.nodes = {sdfg::Node(columns)};
      Renamed names{{a, unused(a + "_c")}, {b, unused(b + "_c")}};
      taken.insert(names[a]);
      taken.insert(names[b]);
      sdfg::Sdfg holder;
      holder.root.nodes = {sdfg::Node(rows)};
      sdfg::Renaming renaming;
      renaming.symbols = names;
      return sdfg::rename(holder, renaming).root.nodes[0];
    }

    using Renamed = std::map<std::string, std::string>;
    std::map<std::string, std::string> memories = {};  // of padded tiles, by container
    std::set<std::string> taken = {};

    std::string unused(const std::string& wish) {
      std::set<std::string> used = taken;
      used.insert(sdfg.symbols.begin(), sdfg.symbols.end());
      for (const sdfg::Container& c : sdfg.containers) used.insert(c.name);
      sdfg::visit(sdfg.root, [&](const sdfg::Node& n) {
        if (const auto* l = std::get_if<sdfg::Loop>(&n.value)) used.insert(l->symbol);
      });
      return numbered(used, wish);
    }
    std::string unused_state(const std::string& wish) {
      std::set<std::string> used = states;
      sdfg::visit(sdfg.root, [&](const sdfg::Node& n) {
        if (const auto* s = std::get_if<sdfg::State>(&n.value)) used.insert(s->name);
      });
      states.insert(numbered(used, wish));
      return numbered(used, wish);
    }
    std::set<std::string> states = {};
    static std::string numbered(const std::set<std::string>& used, const std::string& wish) {
      std::string name = wish;
      for (int n = 2; used.contains(name); ++n) name = wish + std::to_string(n);
      return name;
    }
  };
};

}  // namespace

constinit const StepInfo register_tile_step = declare<RegisterTile>();

}  // namespace sous::transforms
