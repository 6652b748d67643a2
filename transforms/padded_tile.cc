#include "transforms/padded_tile.h"

#include <algorithm>

#include "sdfg/planted_fault.h"
#include "sdfg/points.h"
#include "sdfg/polyhedral.h"
#include "transforms/operands.h"
#include "transforms/tile_bounds.h"
#include "transforms/unwritten.h"
#include "transforms/witness.h"

namespace sous::transforms {

namespace {

using sdfg::Expr;
using sdfg::Points;
using sdfg::ScalarExpr;
using sdfg::ScheduleLoop;

std::vector<ScalarExpr> runs(const ScheduleLoop& l) {
  return sdfg::runs(l.begin, l.end, l.step, Expr::symbol(l.symbol));
}

std::vector<std::string> dims(std::size_t rank) {
  std::vector<std::string> names;
  for (std::size_t d = 0; d < rank; ++d) names.push_back("#" + std::to_string(d));
  return names;
}

// The elements that the statement reads through `element` in all its instances, at least: two sets without quantified
// variables.
std::vector<Points> known_reads(const sdfg::Statement& statement, const std::vector<Expr>& element) {
  std::vector<Range> loops;
  std::vector<ScalarExpr> guards;
  for (const sdfg::ScheduleTree* at = &statement.domain; at;)
    at = match(
        at->at(0).value,
        [&](const ScheduleLoop& l) {
          loops.push_back({l.symbol, l.begin, l.end, l.step});
          return &l.children;
        },
        [&](const sdfg::ScheduleGuard& g) {
          guards.push_back(g.condition);
          return &g.children;
        },
        [](const sdfg::ScheduleLeaf&) -> const sdfg::ScheduleTree* { return nullptr; });
  std::vector<Expr> names;
  for (const std::string& d : dims(element.size())) names.push_back(Expr::symbol(d));
  std::map<std::string, Expr> determined;
  determine(determined, loops, element, names);
  std::vector<Points> result;
  for (const bool first : {true, false}) {
    const Witness reader = witness(loops, determined, first);
    Points points{.dims = dims(element.size()), .exists = {}, .conditions = reader.conditions};
    for (const ScalarExpr& g : guards) points.conditions.push_back(g.substitute(reader.value));
    for (std::size_t d = 0; d < element.size(); ++d)
      points.conditions.push_back(sdfg::equal(names[d], element[d].substitute(reader.value)));
    result.push_back(std::move(points));
  }
  return result;
}

// The memlet over the symbols of the nest's tree.
sdfg::Memlet in_tile(sdfg::Memlet m, const sdfg::Statement& statement, const sdfg::ScheduleLeaf& leaf) {
  std::map<std::string, Expr> instance;
  for (std::size_t k = 0; k < statement.iterators.size(); ++k)
    instance.emplace(statement.iterators[k], leaf.iterators[k]);
  for (sdfg::Dim& d : m.subset) d.begin = d.begin.substitute(instance);
  return m;
}

}  // namespace

Around around_loop(const sdfg::ScheduleTree& tree, const std::string& symbol) {
  Around result;
  for (const sdfg::ScheduleNode& n : sdfg::around(tree, symbol))
    match(
        n.value, [&](const ScheduleLoop& l) { result.loops.push_back(l); },
        [&](const sdfg::ScheduleGuard& g) { result.guards.push_back(g.condition); }, [](const sdfg::ScheduleLeaf&) {});
  return result;
}

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
  const auto refuse = [&](const std::string& why) { return fail(std::string(refusal), why, third.symbol); };
  const Expr row = Expr::symbol(tiles.first.symbol), column = Expr::symbol(tiles.second.symbol);
  const bool begins_with_tiles = !inner.begin.uses(outer.symbol) && inner.begin == tiles.second.begin;
  PaddedTile tile;
  tile.outer = {.symbol = outer.symbol,
                .first = row,
                .size = sizes[0].value,
                .begin = row,
                .end = row + sizes[0].value,
                .limit = {},
                .whole = {}};
  tile.inner = {.symbol = inner.symbol,
                .first = column,
                .size = sizes[1].value,
                .begin = begins_with_tiles ? column : Expr::max(column, inner.begin),
                .end = column + sizes[1].value,
                .limit = {},
                .whole = {}};
  const Around around = around_loop(nest.tree, outer.symbol);
  if (const auto end = crossed(outer.end, outer.begin, sizes[0].value)) {
    tile.outer.end = simplest(Expr::min(row + sizes[0].value, *end));
    tile.outer.whole = needed_at_most(row + sizes[0].value, *end);
    tile.outer.limit = greatest_of_all(*end - 1, around.loops);
    if (!tile.outer.limit) return refuse("the end of " + outer.symbol + " has no greatest value");
  }
  std::vector<ScheduleLoop> with_outer = around.loops;
  with_outer.push_back(outer);
  if (const auto end = crossed(inner.end, tiles.second.begin, sizes[1].value)) {
    tile.inner.end = simplest(Expr::min(column + sizes[1].value, *end));
    const auto least_end = least(*end, outer.symbol, row, row + sizes[0].value - 1);
    if (!least_end) return refuse("the end of " + inner.symbol + " has no least value in a tile");
    tile.inner.whole = needed_at_most(column + sizes[1].value, *least_end);
    tile.inner.limit = greatest_of_all(*end - 1, with_outer);
    if (!tile.inner.limit) return refuse("the end of " + inner.symbol + " has no greatest value");
  }
  if (!begins_with_tiles) {
    const auto greatest_begin = greatest(inner.begin, outer.symbol, row, row + sizes[0].value - 1);
    if (!greatest_begin) return refuse("the begin of " + inner.symbol + " has no greatest value in a tile");
    sdfg::append(tile.inner.whole, needed_at_most(*greatest_begin, column));
  }

  const auto repeated = tile.repeated();
  const auto parallel = std::ranges::find_if(around.loops, [](const ScheduleLoop& l) {
    return std::holds_alternative<sdfg::Parallel>(l.schedule) || std::holds_alternative<sdfg::GpuGrid>(l.schedule) ||
           std::holds_alternative<sdfg::GpuBlock>(l.schedule);
  });
  sdfg::Sdfg lowered = sdfg::lower(nest.lifted, nest.tree);
  const sdfg::Touched touched = sdfg::touched(lowered.root);
  sdfg::Region threads;  // the loop that they share
  if (parallel != around.loops.end())
    threads.nodes.emplace_back(sdfg::find_loop(lowered.root, parallel->symbol)->loop());
  std::vector<ScalarExpr> outside;
  for (const Expr& e : nest.lifted.frame.assumptions)
    if (sdfg::is_quasi_affine(e)) outside.push_back(sdfg::at_most(0, e));
  sdfg::append(outside, around.guards);
  std::vector<ScheduleLoop> loops = around.loops;
  ScheduleLoop all_rows = outer, all_columns = inner;
  all_rows.begin = row;
  all_rows.end = row + sizes[0].value;
  all_columns.begin = column;
  all_columns.end = column + sizes[1].value;
  for (const ScheduleLoop& l : {tiles.first, tiles.second, third, all_rows, all_columns}) loops.push_back(l);
  // What the tile's statements write is held in registers, wherever in the tile it is read.
  std::vector<sdfg::Memlet> held;
  for (const sdfg::ScheduleNode& child : third.children) {
    const auto& leaf = std::get<sdfg::ScheduleLeaf>(child.value);
    const sdfg::Statement& statement = nest.lifted.statements[static_cast<std::size_t>(leaf.statement)];
    if (const auto assignment = sdfg::as_assignment(std::get<sdfg::State>(statement.node.value)))
      held.push_back(in_tile(assignment->out, statement, leaf));
  }
  for (const sdfg::ScheduleNode& child : third.children) {
    const auto& leaf = std::get<sdfg::ScheduleLeaf>(child.value);
    const sdfg::Statement& statement = nest.lifted.statements[static_cast<std::size_t>(leaf.statement)];
    const auto assignment = sdfg::as_assignment(std::get<sdfg::State>(statement.node.value));
    if (!assignment || assignment->out.combine) return refuse(statement.name + " is no plain assignment");
    if (!never_fails(assignment->code)) return refuse(statement.name + " has an operation that may fail");
    std::map<std::string, Expr> instance;
    for (std::size_t k = 0; k < statement.iterators.size(); ++k)
      instance.emplace(statement.iterators[k], leaf.iterators[k].substitute(repeated));
    for (const sdfg::Memlet& m : assignment->inputs) {
      if (m.subset.empty() || std::ranges::find(held, in_tile(m, statement, leaf)) != held.end()) continue;
      // Past the end it may not have been set yet; an argument's elements have values from the start.
      if (touched.written.contains(m.container) && lowered.find(m.container)->transient)
        return refuse(m.container + " is a temporary that is written in the nest");
      const std::vector<Expr> element = sdfg::subscripts(m.subset);
      Points read{.dims = dims(element.size()), .exists = {}, .conditions = outside};
      for (const ScheduleLoop& l : loops) {
        read.exists.push_back(l.symbol);
        sdfg::append(read.conditions, runs(l));
      }
      for (std::size_t d = 0; d < element.size(); ++d)
        read.conditions.push_back(sdfg::equal(Expr::symbol(read.dims[d]), element[d].substitute(instance)));
      const std::vector<Points> known = known_reads(statement, element);
      if (!sdfg::is_affine(read) || !std::ranges::all_of(known, sdfg::is_affine))
        return refuse("the subscripts of " + m.container + " are not affine");
      TRY(const bool is_read, sdfg::is_within(read, known));
      if (!is_read)
        return refuse("past the end, elements of " + m.container + " would be read that the nest does not read");
      // The values that are read past the end go nowhere, but another thread must not be writing them.
      if (threads.nodes.empty()) continue;
      Read past{.container = m.container, .element = {}, .loops = {}, .conditions = outside};
      for (const Expr& e : element) past.element.push_back(e.substitute(instance));
      bool inside = false;
      for (const ScheduleLoop& l : loops) {
        inside = inside || l.symbol == parallel->symbol;
        if (inside)
          past.loops.push_back({.symbol = l.symbol,
                                .begin = l.begin,
                                .end = l.end,
                                .step = l.step,
                                .schedule = {},
                                .privates = {},
                                .reductions = {},
                                .body = {}});
      }
      const Expr here = Expr::symbol(parallel->symbol), there = Expr::symbol(in_region(parallel->symbol));
      for (const ScalarExpr& apart : {sdfg::at_most(here + 1, there), sdfg::at_most(there + 1, here)}) {
        TRY(const bool unwritten, is_unwritten(past, threads, {apart}));
        if (!unwritten && !planted(Fault::padded_read_raced))
          return refuse(m.container + " is written by another thread");
      }
    }
  }
  return tile;
}

}  // namespace sous::transforms
