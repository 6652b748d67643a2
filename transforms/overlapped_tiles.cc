#include "transforms/overlapped_tiles.h"

#include <algorithm>

#include "sdfg/planted_fault.h"
#include "transforms/relocation.h"
#include "transforms/tile_bounds.h"

namespace sous::transforms {

using sdfg::Expr;
using sdfg::Loop;
using sdfg::Node;
using sdfg::ScalarExpr;

namespace {

// The part of both.
SweepBox common(const SweepBox& a, const SweepBox& b) {
  SweepBox result;
  for (std::size_t d = 0; d < a.size(); ++d)
    result.push_back({Expr::max(a[d].begin, b[d].begin), Expr::min(a[d].end, b[d].end)});
  return result;
}

SweepBox hull_of(const std::vector<SweepBox>& boxes) {
  SweepBox result = boxes[0];
  for (const SweepBox& box : boxes) result = hull(result, box);
  return result;
}

// from <= at and at + count <= end, without what holds anyway for places in [0, size).
void add_inside(std::vector<ScalarExpr>& conditions, const Interval& interval, const Expr& origin, const Expr& at,
                std::int64_t count, std::int64_t size) {
  const auto add = [&](const Expr& low, const Expr& high) {
    if ((high - low).constant().value_or(-1) < 0) conditions.push_back(sdfg::at_most(low, high));
  };
  for (const Expr& low : sdfg::max_pieces(interval.begin))
    if ((low - origin).constant().value_or(1) > 0) add(low - origin, at);
  for (const Expr& high : sdfg::min_pieces(interval.end))
    if ((high - origin).constant().value_or(size - 1) < size) add(at + count, high - origin);
}

// Rows that one thread does together: so many from `begin` on; `thread`: where it is that does so, if not each.
struct Rows {
  std::optional<std::int64_t> thread;
  Expr begin;
  std::int64_t count;
};

// Of threads that begin at `first`, each with so many rows: those whose rows are all in the interval, and the two at
// its ends, as far as these are at the same place in each tile.
std::vector<Rows> groups(const Interval& interval, const Expr& origin, const Expr& first, std::int64_t rows) {
  std::vector<Rows> result{{std::nullopt, first, rows}};
  std::optional<std::int64_t> begin, end;
  for (const Expr& low : sdfg::max_pieces(interval.begin))
    if (const auto at = (low - origin).constant()) begin = std::max(begin.value_or(0), *at);
  for (const Expr& high : sdfg::min_pieces(interval.end))
    if (const auto at = (high - origin).constant()) end = std::min(end.value_or(*at), *at);
  const std::int64_t above = begin.value_or(0) % rows, below = end.value_or(0) % rows;
  const std::int64_t top = begin.value_or(0) - above, bottom = end.value_or(0) - below;
  if (above > 0 && begin && (!end || top + rows <= *end)) result.push_back({top, *begin, rows - above});
  if (below > 0 && end && bottom >= begin.value_or(0)) result.push_back({bottom, bottom, below});
  return result;
}

ScalarExpr negated(ScalarExpr condition) {
  return ScalarExpr::unary(sdfg::ScalarOp::logical_not, std::move(condition));
}

std::vector<Expr> plus(std::vector<Expr> a, const std::vector<std::int64_t>& b) {
  for (std::size_t d = 0; d < a.size(); ++d) a[d] = a[d] + b[d];
  return a;
}

sdfg::Memlet element_at(const GridPlace& place, const std::vector<Expr>& origin, const std::vector<Expr>& local) {
  std::vector<Expr> at;
  for (std::size_t d = 0; d < local.size(); ++d) at.push_back(origin[d] - place.first[d] + local[d]);
  return sdfg::element(place.container, at);
}

}  // namespace

OverlappedTiles::OverlappedTiles(sdfg::Sdfg& sdfg, normal::Names& names, const Sweeps& sweeps, const Loop& time,
                                 TileShape shape, std::int64_t iterations)
    : sdfg_(sdfg),
      names_(names),
      sweeps_(sweeps),
      time_(time),
      shape_(std::move(shape)),
      halo_(halo_of(sweeps, iterations)) {
  for (std::size_t d = 0; d < shape_.sizes.size(); ++d)
    own_.push_back(shape_.sizes[d] - halo_.all[d].below - halo_.all[d].above);
  for (const std::string& grid : sweeps_.grids) {
    accessed_[grid] = merged(sweeps_.accessed(grid), present_);
    written_[grid] = merged(sweeps_.written(grid), present_);
  }
}

std::int64_t OverlappedTiles::threads() const {
  std::int64_t all = (shape_.sizes[0] + shape_.rows - 1) / shape_.rows;
  for (std::size_t d = 1; d < shape_.sizes.size(); ++d) all *= shape_.sizes[d];
  return all;
}

SweepBox OverlappedTiles::around(const std::string& grid) const { return hull_of(accessed_.at(grid)); }

// --- Threads

// What one thread does from `first` on; `local`: where it is in the other dimensions. All of its rows at once, where it
// is known how many there are: neighbours then share what they read.
std::vector<Node> OverlappedTiles::rows(const Expr& first, const std::vector<Expr>& origin, const Work& work,
                                        std::vector<Expr> local) {
  const std::int64_t top = (shape_.sizes[0] + shape_.rows - 1) / shape_.rows * shape_.rows;  // of the last thread
  const auto along_first = [&](std::vector<ScalarExpr>& conditions, const SweepBox& box, const Expr& at,
                               std::int64_t count) { add_inside(conditions, box[0], origin[0], at, count, top); };
  const auto inside = [&](const SweepBox& box, const Expr& at, std::int64_t count) {
    std::vector<ScalarExpr> conditions;
    along_first(conditions, box, at, count);
    for (std::size_t d = 1; d < box.size(); ++d)
      add_inside(conditions, box[d], origin[d], local[d], 1, shape_.sizes[d]);
    return conditions;
  };
  const auto one = [&](const Expr& at, std::vector<ScalarExpr> conditions) {
    local[0] = at;
    if (work.among.size() > 1) {
      ScalarExpr any = all_of(inside(work.among[0], at, 1));
      for (std::size_t k = 1; k < work.among.size(); ++k)
        any = ScalarExpr::binary(sdfg::ScalarOp::logical_or, any, all_of(inside(work.among[k], at, 1)));
      conditions.push_back(std::move(any));
    }
    for (const SweepBox& box : work.without) conditions.push_back(negated(all_of(inside(box, at, 1))));
    return where(conditions, {work.state(local)});
  };
  std::vector<ScalarExpr> apart;
  for (std::size_t d = 1; d < local.size(); ++d)
    add_inside(apart, work.box[d], origin[d], local[d], 1, shape_.sizes[d]);
  if (shape_.rows == 1) {
    along_first(apart, work.box, first, 1);
    return where(apart, one(first, {}));
  }
  const std::string row = *first.as_symbol() + "_r";
  Expr begin = first, end = first + shape_.rows;
  for (const Expr& low : sdfg::max_pieces(work.box[0].begin)) begin = Expr::max(begin, low - origin[0]);
  for (const Expr& high : sdfg::min_pieces(work.box[0].end)) end = Expr::min(end, high - origin[0]);
  Loop some = sdfg::counted(names_.fresh(row), begin, end);
  some.body.nodes = one(Expr::symbol(some.symbol), {});
  if (!work.without.empty()) return where(apart, {some});
  std::vector<Node> otherwise{some};
  std::vector<Rows> together = groups(work.box[0], origin[0], first, shape_.rows);
  for (auto group = together.rbegin(); group != together.rend(); ++group) {
    Loop all = sdfg::counted(names_.fresh(row), group->begin, group->begin + group->count);
    if (group->count > 1) all.schedule = sdfg::Unroll{static_cast<int>(group->count)};
    local[0] = Expr::symbol(all.symbol);
    all.body.nodes = {work.state(local)};
    std::vector<ScalarExpr> whole;
    if (group->thread) whole.push_back(sdfg::equal(first, *group->thread));
    along_first(whole, work.box, group->begin, group->count);
    if (work.among.size() > 1) append(whole, inside(work.among[0], group->begin, group->count));
    otherwise = whole.empty() ? std::vector<Node>{all}
                              : std::vector<Node>{sdfg::If{.condition = {.code = all_of(whole), .inputs = {}},
                                                           .then_body = {{all}},
                                                           .else_body = {std::move(otherwise)}}};
  }
  return where(apart, std::move(otherwise));
}

Node OverlappedTiles::in_threads(const std::string& name, const std::vector<Expr>& origin, const Work& work) {
  std::vector<Loop> loops;
  std::vector<Expr> local;
  for (std::size_t d = 0; d < origin.size(); ++d) {
    Loop l = sdfg::counted(names_.fresh(name + std::to_string(d)), 0, shape_.sizes[d]);
    if (d == 0) l.step = shape_.rows;
    l.schedule = sdfg::GpuBlock{static_cast<int>(origin.size() - 1 - d)};
    local.push_back(Expr::symbol(l.symbol));
    loops.push_back(std::move(l));
  }
  const Expr first = local[0];
  return in_loops(loops, rows(first, origin, work, std::move(local)))[0];
}

std::vector<Loop> OverlappedTiles::blocks(const SweepBox& box, const std::vector<std::int64_t>& by) {
  std::vector<Loop> loops;
  for (std::size_t d = 0; d < box.size(); ++d) {
    Loop l = sdfg::counted(names_.fresh(time_.symbol + "_b" + std::to_string(d)), box[d].begin, box[d].end);
    l.step = by[d];
    l.schedule = sdfg::GpuGrid{static_cast<int>(box.size() - 1 - d)};
    loops.push_back(std::move(l));
  }
  return loops;
}

// --- Parts of a kernel

SweepBox OverlappedTiles::tile(const std::vector<Expr>& block, const Margins& margins) const {
  SweepBox box;
  for (std::size_t d = 0; d < block.size(); ++d)
    box.push_back({block[d] - margins[d].below, block[d] + own_[d] + margins[d].above});
  return box;
}

std::vector<Expr> OverlappedTiles::origin(const std::vector<Expr>& block) const {
  std::vector<Expr> result;
  for (std::size_t d = 0; d < block.size(); ++d) result.push_back(block[d] - halo_.all[d].below);
  return result;
}

// Of a grid that is computed in the tile before it is read, only what no sweep ever writes.
std::vector<Node> OverlappedTiles::load(const std::string& grid, const std::vector<Expr>& block,
                                        const GridPlaces& from) {
  const std::vector<Expr> base = origin(block);
  Margins margins = halo_.read.at(grid);
  if (planted(Fault::halo_one_short)) --margins.back().above;
  const SweepBox needed = tile(block, margins);
  Work work{.box = common(needed, around(grid)), .among = accessed_.at(grid), .without = {}, .state = {}};
  work.state = [&](const std::vector<Expr>& local) {
    return sdfg::assignment(names_.fresh("load_" + grid), sdfg::element(shared_.at(grid), local),
                            ScalarExpr::make_input(0, sdfg_.find(grid)->type),
                            {element_at(from.at(grid), base, local)});
  };
  if (!sweeps_.is_fresh(grid)) return {in_threads(grid + "_l", base, work)};
  work.without = written_.at(grid);
  if (std::ranges::all_of(work.among, [&](const SweepBox& box) {
        return std::ranges::any_of(work.without, [&](const SweepBox& by) { return is_inside(box, by); });
      }))
    return {};
  std::vector<ScalarExpr> computed;
  for (std::size_t d = 0; d < block.size(); ++d) {
    append(computed, needed_at_most(work.without[0][d].begin, needed[d].begin));
    append(computed, needed_at_most(needed[d].end, work.without[0][d].end));
  }
  return where({negated(all_of(computed))}, {in_threads(grid + "_l", base, work)});
}

std::vector<Node> OverlappedTiles::store(const std::string& grid, const std::vector<Expr>& block,
                                         const GridPlaces& to) {
  std::vector<Node> nodes;
  const std::vector<Expr> base = origin(block);
  for (const SweepBox& box : written_.at(grid)) {
    Work work{.box = common(tile(block, Margins(block.size())), box), .among = {}, .without = {}, .state = {}};
    work.state = [&](const std::vector<Expr>& local) {
      return sdfg::assignment(names_.fresh("store_" + grid), element_at(to.at(grid), base, local),
                              ScalarExpr::make_input(0, sdfg_.find(grid)->type),
                              {sdfg::element(shared_.at(grid), local)});
    };
    nodes.push_back(in_threads(grid + "_w", base, work));
  }
  return nodes;
}

Node OverlappedTiles::compute(const Sweep& sweep, const Margins& margins, const std::vector<Expr>& block,
                              const Expr& time, const GridPlaces& from, const GridPlaces& to) {
  const std::vector<Expr> base = origin(block);
  std::vector<std::int64_t> back;
  for (const std::int64_t offset : sweep.write.offset) back.push_back(-offset);
  // Threads stand where they write: that is in the tile, the iteration may be beside it.
  Work work{.box = common(tile(block, margins), moved(sweep.iterations, sweep.write.offset)),
            .among = {},
            .without = {},
            .state = {}};
  work.state = [&](const std::vector<Expr>& written) {
    const std::vector<Expr> local = plus(written, back);
    std::map<std::string, Expr> values{{time_.symbol, time}};
    for (std::size_t d = 0; d < local.size(); ++d)
      if (const auto symbol = sweep.at[d].as_symbol(); symbol && !sdfg_.has_symbol(*symbol))
        values[*symbol] = base[d] + local[d];
    const auto placed = [&](sdfg::Memlet m, const GridPlaces& outside) {
      if (sweeps_.is_grid(m.container)) {
        const auto combine = m.combine;
        const std::vector<Expr> at = plus(local, sweep.offset_of(m));
        m = halo_.passing.contains(m.container) ? element_at(outside.at(m.container), base, at)
                                                : sdfg::element(shared_.at(m.container), at);
        m.combine = combine;
        return m;
      }
      for (sdfg::Expr& d : m.subset) d = d.substitute(values);
      return m;
    };
    std::vector<sdfg::Memlet> inputs;
    for (const sdfg::Memlet& m : sweep.what.inputs) inputs.push_back(placed(m, from));
    return sdfg::assignment(names_.fresh(sweep.state), placed(sweep.what.out, to), sweep.what.code.substitute(values),
                            std::move(inputs));
  };
  return in_threads(sweep.state + "_i", base, work);
}

// --- Kernels

Node OverlappedTiles::kernel(const GridPlaces& from, const GridPlaces& to, const Expr& begin) {
  std::vector<SweepBox> stored;
  for (const auto& [grid, place] : to)
    for (const SweepBox& box : written_.at(grid)) stored.push_back(box);
  std::vector<Loop> loops = blocks(hull_of(stored), own_);
  std::vector<Expr> block, extents(shape_.sizes.begin(), shape_.sizes.end());
  for (const Loop& l : loops) block.push_back(Expr::symbol(l.symbol));
  for (const auto& [grid, margins] : halo_.read) {
    const sdfg::Container place =
        sdfg::temporary(names_.fresh(grid + "_s"), sdfg_.find(grid)->type, extents, sdfg::Storage::device_shared);
    shared_[grid] = place.name;
    add_place(sdfg_, &loops.back(), place);
  }
  std::vector<Node> nodes;
  for (const auto& [grid, margins] : halo_.read)
    for (Node& n : load(grid, block, from)) nodes.push_back(std::move(n));
  for (std::size_t k = 0; k < halo_.sweeps.size(); ++k)
    if (halo_.sweeps[k])
      nodes.push_back(compute(sweeps_.all[k % sweeps_.all.size()], *halo_.sweeps[k], block,
                              begin + Expr(static_cast<std::int64_t>(k / sweeps_.all.size())), from, to));
  for (const auto& [grid, place] : to)
    if (!halo_.passing.contains(grid))
      for (Node& n : store(grid, block, to)) nodes.push_back(std::move(n));
  return in_loops(loops, std::move(nodes))[0];
}

Node OverlappedTiles::copy(const std::string& grid, const GridPlaces& from, const GridPlaces& to) {
  const std::vector<Loop> loops = blocks(around(grid), shape_.sizes);
  std::vector<Expr> block;
  for (const Loop& l : loops) block.push_back(Expr::symbol(l.symbol));
  SweepBox own;
  for (std::size_t d = 0; d < block.size(); ++d) own.push_back({block[d], block[d] + shape_.sizes[d]});
  Work work{.box = common(own, around(grid)), .among = accessed_.at(grid), .without = {}, .state = {}};
  work.state = [&](const std::vector<Expr>& local) {
    return sdfg::assignment(names_.fresh("copy_" + grid), element_at(to.at(grid), block, local),
                            ScalarExpr::make_input(0, sdfg_.find(grid)->type),
                            {element_at(from.at(grid), block, local)});
  };
  return in_loops(loops, {in_threads(grid + "_c", block, work)})[0];
}

}  // namespace sous::transforms
