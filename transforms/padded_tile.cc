#include "transforms/padded_tile.h"

#include <algorithm>

#include "sdfg/planted_fault.h"
#include "sdfg/points.h"
#include "transforms/footprints.h"
#include "transforms/operands.h"
#include "transforms/relocation.h"
#include "transforms/tile_bounds.h"
#include "transforms/witness.h"

namespace sous::transforms {

namespace {

using sdfg::Expr;
using sdfg::Points;
using sdfg::ScalarExpr;
using sdfg::ScheduleLoop;

// The elements that the statement reads through these subscripts in all its instances, at least.
std::vector<Points> known_reads(const sdfg::Statement& statement, const std::vector<Expr>& subscripts) {
  Around around;
  for (const sdfg::ScheduleTree* at = &statement.domain; at;)
    at = match(
        at->at(0).value,
        [&](const ScheduleLoop& l) {
          around.enter(l);
          return &l.children;
        },
        [&](const sdfg::ScheduleGuard& g) {
          around.where(g.condition);
          return &g.children;
        },
        [](const sdfg::ScheduleLeaf&) -> const sdfg::ScheduleTree* { return nullptr; });
  std::vector<Points> result;
  for (const Witness& w : witnesses(around, subscripts)) result.push_back(w.elements);
  return result;
}

// What the statements of a padded tile read, past the end of its loops, too.
class PaddedReads {
 public:
  // `inside`: the loops of the tile, below those `around`.
  PaddedReads(const Nest& nest, const PaddedTile& tile, const Around& around, const std::vector<ScheduleLoop>& inside,
              const ScheduleLoop& third, std::string_view refusal)
      : nest_(nest),
        lowered_(sdfg::lower(nest.scop, nest.tree)),
        around_(around),
        repeated_(tile.repeated()),
        third_(third),
        refusal_(refusal) {
    for (const ScheduleLoop& l : inside) around_.enter(l);
    const auto shared = std::ranges::find_if(around_.loops, sdfg::is_in_threads, &ScheduleLoop::schedule);
    if (shared == around_.loops.end()) return;
    parallel_ = *shared;
    for (const ScalarExpr& g : around.guards) within_threads_.where(g);
    for (auto l = shared + 1; l != around_.loops.end(); ++l) within_threads_.enter(*l);
    threads_ = sdfg::substitute(sdfg::find_loop(lowered_.root, parallel_->symbol)->loop().body,
                                {{parallel_->symbol, other_thread()}});
  }

  // Whether the nest reads all of it anyway, and no other thread writes it meanwhile.
  Result<void> check() const {
    std::vector<Instance> instances;
    for (const sdfg::ScheduleNode& child : third_.children) {
      const auto& leaf = std::get<sdfg::ScheduleLeaf>(child.value);
      const sdfg::Statement& statement = nest_.scop.statements[static_cast<std::size_t>(leaf.statement)];
      std::map<std::string, Expr> iterators;
      for (std::size_t k = 0; k < statement.iterators.size(); ++k)
        iterators.emplace(statement.iterators[k], leaf.iterators[k]);
      const auto& state = std::get<sdfg::State>(statement.node.value);
      const auto own = sdfg::as_assignment(state), in_tile = sdfg::as_assignment(sdfg::substitute(state, iterators));
      if (!own || own->out.combine) return refuse(statement.name + " is no plain assignment");
      if (!never_fails(own->code)) return refuse(statement.name + " has an operation that may fail");
      instances.push_back({.statement = statement, .own = *own, .in_tile = *in_tile});
    }
    // What the tile's statements write is held in registers, wherever in the tile it is read.
    const auto is_held = [&](const sdfg::Memlet& m) {
      return std::ranges::any_of(instances, [&](const Instance& i) { return i.in_tile.out == m; });
    };
    for (const Instance& i : instances)
      for (std::size_t k = 0; k < i.own.inputs.size(); ++k)
        if (!i.own.inputs[k].subset.empty() && !is_held(i.in_tile.inputs[k]))
          TRY_VOID(check_read(i.statement, i.own.inputs[k], i.in_tile.inputs[k]));
    return {};
  }

 private:
  struct Instance {
    const sdfg::Statement& statement;
    sdfg::Assignment own, in_tile;  // over the statement's iterators, and over the loops of the tile
  };

  std::unexpected<Error> refuse(const std::string& why) const {
    return fail(std::string(refusal_), why, third_.symbol);
  }
  Expr other_thread() const { return Expr::symbol("#" + parallel_->symbol); }

  // Whether the nest writes the container, if at all, before it begins with what is around the tile.
  bool is_set_ahead(const std::string& name) const {
    bool is_behind = planted(Fault::padded_before_set);
    for (auto n = lowered_.root.nodes.rbegin(); n != lowered_.root.nodes.rend() && !is_behind; ++n) {
      if (sdfg::touched(*n).written.contains(name)) return false;
      sdfg::visit(sdfg::Region{{*n}}, [&](const sdfg::Node& inner) {
        const auto* l = std::get_if<sdfg::Loop>(&inner.value);
        is_behind = is_behind || (l != nullptr && l->symbol == third_.symbol);
      });
    }
    return true;
  }

  Result<void> check_read(const sdfg::Statement& statement, const sdfg::Memlet& own,
                          const sdfg::Memlet& in_tile) const {
    const std::string& name = own.container;
    // Past the end it may not have been set yet; an argument's elements have values from the start.
    if (lowered_.find(name)->transient && !is_set_ahead(name))
      return refuse(name + " is a temporary that may not be set by then");
    std::vector<Expr> past;
    for (const Expr& e : in_tile.subset) past.push_back(e.substitute(repeated_));
    const Points read = at(around_.iterations(), past);
    const std::vector<Points> known = known_reads(statement, own.subset);
    if (!sdfg::is_affine(read) || !std::ranges::all_of(known, sdfg::is_affine))
      return refuse("the subscripts of " + name + " are not affine");
    TRY(const bool is_read, sdfg::is_within(read, known));
    if (!is_read) return refuse("past the end, elements of " + name + " would be read that the nest does not read");
    // The values that are read past the end go nowhere, but another thread must not be writing them.
    if (!parallel_) return {};
    const Expr here = Expr::symbol(parallel_->symbol), there = other_thread();
    std::vector<ScalarExpr> both = runs(*parallel_);
    sdfg::append(both, sdfg::runs(parallel_->begin, parallel_->end, parallel_->step, there));
    for (const ScalarExpr& apart : {sdfg::at_most(here + 1, there), sdfg::at_most(there + 1, here)}) {
      std::vector<ScalarExpr> around = both;
      around.push_back(apart);
      TRY(const bool unwritten, is_unwritten(name, at(within_threads_.iterations(), past), threads_, around));
      if (!unwritten && !planted(Fault::padded_read_raced)) return refuse(name + " is written by another thread");
    }
    return {};
  }

  const Nest& nest_;
  sdfg::Sdfg lowered_;
  Around around_;  // a read
  std::map<std::string, Expr> repeated_;
  const ScheduleLoop& third_;
  std::string_view refusal_;
  std::optional<ScheduleLoop> parallel_;  // whose iterations are threads
  Around within_threads_;                 // a read, without that loop and those around it
  sdfg::Region threads_;                  // its body, as another thread runs it
};

// The two sides of the tile: its bounds, limits, and when it is whole.
Result<PaddedTile> sides(const ScheduleLoop& outer, const ScheduleLoop& inner, const std::vector<Size>& sizes,
                         const std::pair<ScheduleLoop, ScheduleLoop>& tiles, std::vector<ScheduleLoop> around,
                         const std::function<std::unexpected<Error>(const std::string&)>& refuse) {
  const Expr row = Expr::symbol(tiles.first.symbol), column = Expr::symbol(tiles.second.symbol);
  const Expr row_end = row + sizes[0].value, column_end = column + sizes[1].value;
  const bool begins_with_tiles = !inner.begin.uses(outer.symbol) && inner.begin == tiles.second.begin;
  const auto whole_side = [](const ScheduleLoop& loop, const Expr& first, const Size& size) {
    return TileSide{.symbol = loop.symbol,
                    .first = first,
                    .size = size.value,
                    .begin = first,
                    .end = first + size.value,
                    .limit = {},
                    .whole = {}};
  };
  PaddedTile tile{.outer = whole_side(outer, row, sizes[0]), .inner = whole_side(inner, column, sizes[1])};
  if (!begins_with_tiles) tile.inner.begin = Expr::max(column, inner.begin);
  if (const auto end = crossed(outer.end, outer.begin, sizes[0].value)) {
    tile.outer.end = simplest(Expr::min(row_end, *end));
    tile.outer.whole = needed_at_most(row_end, *end);
    tile.outer.limit = greatest_of_all(*end - 1, around);
    if (!tile.outer.limit) return refuse("the end of " + outer.symbol + " has no greatest value");
  }
  if (const auto end = crossed(inner.end, tiles.second.begin, sizes[1].value)) {
    tile.inner.end = simplest(Expr::min(column_end, *end));
    const auto least_end = least(*end, outer.symbol, row, row_end - 1);
    if (!least_end) return refuse("the end of " + inner.symbol + " has no least value in a tile");
    tile.inner.whole = needed_at_most(column_end, *least_end);
    around.push_back(outer);
    tile.inner.limit = greatest_of_all(*end - 1, around);
    if (!tile.inner.limit) return refuse("the end of " + inner.symbol + " has no greatest value");
  }
  if (!begins_with_tiles) {
    const auto greatest_begin = greatest(inner.begin, outer.symbol, row, row_end - 1);
    if (!greatest_begin) return refuse("the begin of " + inner.symbol + " has no greatest value in a tile");
    sdfg::append(tile.inner.whole, needed_at_most(*greatest_begin, column));
  }
  return tile;
}

}  // namespace

std::map<std::string, Expr> PaddedTile::repeated() const {
  std::map<std::string, Expr> result;
  for (const TileSide* side : {&outer, &inner})
    if (side->limit) result[side->symbol] = Expr::min(Expr::symbol(side->symbol), *side->limit);
  return result;
}

ScalarExpr PaddedTile::is_whole() const {
  std::vector<ScalarExpr> all = outer.whole;
  sdfg::append(all, inner.whole);
  return all_of(all);
}

Result<PaddedTile> pad(const Nest& nest, const ScheduleLoop& outer, const ScheduleLoop& inner,
                       const ScheduleLoop& third, const std::vector<Size>& sizes,
                       const std::pair<ScheduleLoop, ScheduleLoop>& tiles, std::string_view refusal) {
  const Around around = around_loop(nest, outer.symbol);
  const auto refuse = [&](const std::string& why) { return fail(std::string(refusal), why, third.symbol); };
  TRY(PaddedTile tile, sides(outer, inner, sizes, tiles, around.loops, refuse));
  ScheduleLoop rows = outer, columns = inner;
  for (auto [loop, side] : {std::pair(&rows, &tile.outer), std::pair(&columns, &tile.inner)}) {
    loop->begin = side->first;
    loop->end = side->first + side->size;
  }
  TRY_VOID(PaddedReads(nest, tile, around, {tiles.first, tiles.second, third, rows, columns}, third, refusal).check());
  return tile;
}

}  // namespace sous::transforms
