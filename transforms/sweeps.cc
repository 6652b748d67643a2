#include "transforms/sweeps.h"

#include <algorithm>
#include <set>

#include "sdfg/planted_fault.h"
#include "transforms/normal/util.h"

namespace sous::transforms {

using sdfg::Expr;
using sdfg::Loop;
using sdfg::Memlet;

// --- Boxes

SweepBox moved(SweepBox box, const std::vector<std::int64_t>& by) {
  for (std::size_t d = 0; d < box.size(); ++d) box[d] = {box[d].begin + by[d], box[d].end + by[d]};
  return box;
}

namespace {

Expr lesser(const Expr& a, const Expr& b) {
  const auto distance = (a - b).constant();
  return !distance ? Expr::min(a, b) : *distance <= 0 ? a : b;
}
Expr greater(const Expr& a, const Expr& b) {
  const auto distance = (a - b).constant();
  return !distance ? Expr::max(a, b) : *distance >= 0 ? a : b;
}

// How far the second begins behind the first, where both are alike but for one dimension, in which they are as long.
std::optional<std::pair<std::size_t, std::int64_t>> apart_in_one(const SweepBox& a, const SweepBox& b) {
  std::optional<std::pair<std::size_t, std::int64_t>> found;
  for (std::size_t d = 0; d < a.size(); ++d) {
    if (a[d] == b[d]) continue;
    const auto begins = (b[d].begin - a[d].begin).constant(), ends = (b[d].end - a[d].end).constant();
    if (found || !begins || !ends || *begins < 0 || *ends < 0) return std::nullopt;
    found = {d, *begins};
  }
  return found;
}

}  // namespace

SweepBox hull(const SweepBox& a, const SweepBox& b) {
  SweepBox result;
  for (std::size_t d = 0; d < a.size(); ++d)
    result.push_back({lesser(a[d].begin, b[d].begin), greater(a[d].end, b[d].end)});
  return result;
}

bool is_inside(const SweepBox& inner, const SweepBox& outer) {
  for (std::size_t d = 0; d < inner.size(); ++d)
    if ((inner[d].begin - outer[d].begin).constant().value_or(-1) < 0 ||
        (outer[d].end - inner[d].end).constant().value_or(-1) < 0)
      return false;
  return true;
}

std::vector<SweepBox> merged(std::vector<SweepBox> boxes, std::vector<Expr>& present) {
  while (true) {
    // Those that begin next to each other first: they are one if they have as many elements as that at least.
    std::optional<std::array<std::size_t, 2>> pair;
    std::pair<std::size_t, std::int64_t> least{};
    for (std::size_t a = 0; a < boxes.size(); ++a)
      for (std::size_t b = 0; b < boxes.size(); ++b) {
        if (a == b) continue;
        if (is_inside(boxes[b], boxes[a])) {
          boxes.erase(boxes.begin() + static_cast<std::ptrdiff_t>(b));
          return merged(std::move(boxes), present);
        }
        const auto apart = apart_in_one(boxes[a], boxes[b]);
        if (apart && (!pair || apart->second < least.second)) pair = {a, b}, least = *apart;
      }
    if (!pair) return boxes;
    const auto [a, b] = *pair;
    const std::size_t d = least.first;
    present.push_back(boxes[a][d].end - boxes[b][d].begin);
    boxes[a] = hull(boxes[a], boxes[b]);
    boxes.erase(boxes.begin() + static_cast<std::ptrdiff_t>(b));
  }
}

// --- Sweeps

std::vector<std::int64_t> Sweep::offset_of(const Memlet& m) const {
  std::vector<std::int64_t> offset;
  for (std::size_t d = 0; d < at.size(); ++d) offset.push_back((m.subset[d] - at[d]).constant().value());
  return offset;
}

bool Sweeps::is_grid(const std::string& container) const { return std::ranges::find(grids, container) != grids.end(); }

bool Sweeps::is_fresh(const std::string& grid) const {
  bool read = false;
  for (const Sweep& s : all) {
    for (const GridAccess& r : s.reads) read = read || r.grid == grid;
    if (s.write.grid == grid && read) return false;
  }
  return true;
}

std::vector<SweepBox> Sweeps::written(const std::string& grid) const {
  std::vector<SweepBox> boxes;
  for (const Sweep& s : all) {
    if (s.write.grid != grid) continue;
    const SweepBox box = moved(s.iterations, s.write.offset);
    if (std::ranges::find(boxes, box) == boxes.end()) boxes.push_back(box);
  }
  return boxes;
}

std::vector<SweepBox> Sweeps::accessed(const std::string& grid) const {
  std::vector<SweepBox> boxes = written(grid);
  for (const Sweep& s : all)
    for (const GridAccess& r : s.reads) {
      if (r.grid != grid) continue;
      const SweepBox box = moved(s.iterations, r.offset);
      if (std::ranges::find(boxes, box) == boxes.end()) boxes.push_back(box);
    }
  return boxes;
}

namespace {

class Reader {
 public:
  Reader(const sdfg::Sdfg& sdfg, const Loop& time, std::size_t dimensions)
      : sdfg_(sdfg), time_(time), dimensions_(dimensions), touched_(sdfg::touched(time.body)) {}

  Result<Sweeps> run() {
    Sweeps sweeps;
    sweeps.grids.assign(touched_.written.begin(), touched_.written.end());
    TRY_VOID(check_grids(sweeps.grids));
    for (const sdfg::Node& n : time_.body.nodes) {
      TRY(Sweep one, sweep(n));
      sweeps.all.push_back(std::move(one));
    }
    if (std::ranges::all_of(sweeps.grids, [&](const std::string& g) { return sweeps.is_fresh(g); }))
      return fail("overlap.carried", "no iteration needs what another one has computed", time_.symbol);
    return sweeps;
  }

 private:
  bool is_written(const std::string& container) const { return touched_.written.contains(container); }

  Result<void> check_grids(const std::vector<std::string>& grids) const {
    for (const std::string& name : grids) {
      const sdfg::Container& c = *sdfg_.find(name);
      if (c.shape.size() != dimensions_)
        return fail("overlap.subscripts", "'" + name + "' has not as many dimensions as there are loops", name);
      for (const auto* others : {&touched_.read, &touched_.written})
        for (const std::string& other : *others)
          if (other != name && normal::may_overlap(sdfg_, name, other))
            return fail("overlap.alias", "'" + name + "' and '" + other + "' may be the same memory", name);
    }
    if (normal::exprs_read(time_.body, [&](const std::string& c) { return is_written(c); }))
      return fail("overlap.subscripts", "a bound or a subscript is read from what the loop writes", time_.symbol);
    return {};
  }

  // The bands of loops and their only statement.
  Result<Sweep> sweep(const sdfg::Node& node) const {
    std::vector<const Loop*> loops;
    const sdfg::Node* at = &node;
    while (const auto* loop = std::get_if<Loop>(&at->value)) {
      if (loop->step != 1 || !std::holds_alternative<sdfg::Sequential>(loop->schedule) || !loop->privates.empty() ||
          !loop->reductions.empty() || loop->body.nodes.size() != 1)
        return fail("overlap.body", "loop " + loop->symbol + " is no plain one of a sweep", loop->symbol);
      loops.push_back(loop);
      at = &loop->body.nodes[0];
    }
    const auto what = normal::assignment_of(*at);
    if (!what) return fail("overlap.body", "a sweep is not one assignment in loops", time_.symbol);
    Sweep result{.state = std::get<sdfg::State>(at->value).name,
                 .what = *what,
                 .at = {},
                 .iterations = {},
                 .write = {},
                 .reads = {}};
    TRY_VOID(place(result, loops));
    TRY(result.write, access(result, what->out));
    for (const Memlet& m : what->inputs) {
      if (!is_written(m.container)) continue;
      TRY(GridAccess read, access(result, m));
      result.reads.push_back(std::move(read));
    }
    if (what->out.combine) result.reads.push_back(result.write);
    for (const GridAccess& r : result.reads)
      if (r.grid == result.write.grid && r.offset != result.write.offset && !planted(Fault::sweep_in_place_taken))
        return fail("overlap.carried", "a sweep reads of '" + r.grid + "' what other iterations of it write", r.grid);
    return result;
  }

  // Which loop goes along which dimension of the grid that is written, from where to where.
  Result<void> place(Sweep& sweep, std::vector<const Loop*> loops) const {
    const std::vector<const Loop*> all = loops;
    const auto varies = [&](const Expr& e) {
      return e.uses(time_.symbol) || !e.reads().empty() ||
             std::ranges::any_of(all, [&](const Loop* l) { return e.uses(l->symbol); });
    };
    for (const sdfg::Expr& dim : sweep.what.out.subset) {
      const auto own = std::ranges::find_if(loops, [&](const Loop* l) { return dim.uses(l->symbol); });
      if (own == loops.end()) {
        if (varies(dim))
          return fail("overlap.subscripts", "a place in '" + sweep.what.out.container + "' moves", time_.symbol);
        sweep.at.push_back(dim);
        sweep.iterations.push_back({dim, dim + 1});
        continue;
      }
      const Loop& loop = **own;
      if (varies(loop.begin) || varies(loop.end))
        return fail("overlap.body", "the bounds of loop " + loop.symbol + " move", loop.symbol);
      sweep.at.push_back(Expr::symbol(loop.symbol));
      sweep.iterations.push_back({loop.begin, loop.end});
      loops.erase(own);
    }
    if (!loops.empty())
      return fail("overlap.body", "loop " + loops[0]->symbol + " goes along no dimension", loops[0]->symbol);
    return {};
  }

  Result<GridAccess> access(const Sweep& sweep, const Memlet& m) const {
    GridAccess result{.grid = m.container, .offset = {}};
    for (std::size_t d = 0; d < m.subset.size(); ++d) {
      const auto offset = (m.subset[d] - sweep.at[d]).constant();
      if (!offset)
        return fail("overlap.subscripts", "an element of '" + m.container + "' is at no constant distance",
                    m.container);
      result.offset.push_back(*offset);
    }
    return result;
  }

  const sdfg::Sdfg& sdfg_;
  const Loop& time_;
  const std::size_t dimensions_;
  const sdfg::Touched touched_;
};

// `margins` as large as those too.
void widen(std::optional<Margins>& margins, const Margins& by) {
  if (!margins) margins = by;
  for (std::size_t d = 0; d < by.size(); ++d) {
    (*margins)[d].below = std::max((*margins)[d].below, by[d].below);
    (*margins)[d].above = std::max((*margins)[d].above, by[d].above);
  }
}

// Whether no sweep reads the grid once one has written it.
bool passes(const std::string& grid, const Sweeps& sweeps, const Halo& halo) {
  bool written = false;
  for (std::size_t k = 0; k < halo.sweeps.size(); ++k) {
    const Sweep& sweep = sweeps.all[k % sweeps.all.size()];
    if (!halo.sweeps[k]) continue;
    const bool reads = std::ranges::any_of(sweep.reads, [&](const GridAccess& r) { return r.grid == grid; });
    if (written && reads && !planted(Fault::sweep_reads_past_tile)) return false;
    if (sweep.write.grid != grid) continue;
    if (sweep.what.out.combine) return false;
    written = true;
  }
  return written;
}

}  // namespace

Result<Sweeps> sweeps_of(const sdfg::Sdfg& sdfg, const Loop& time, std::size_t dimensions) {
  return Reader(sdfg, time, dimensions).run();
}

Halo halo_of(const Sweeps& sweeps, std::int64_t iterations) {
  const std::size_t dimensions = sweeps.all[0].at.size();
  std::map<std::string, std::optional<Margins>> need;
  for (const std::string& grid : sweeps.grids)
    if (!sweeps.is_fresh(grid)) need[grid] = Margins(dimensions);
  Halo halo;
  for (std::int64_t k = 0; k < iterations; ++k)
    for (auto sweep = sweeps.all.rbegin(); sweep != sweeps.all.rend(); ++sweep) {
      const std::optional<Margins> written = need[sweep->write.grid];
      halo.sweeps.push_back(written);
      if (!written) continue;
      // What is not written in the sweep keeps its value: the element itself stays needed.
      for (const GridAccess& read : sweep->reads) {
        Margins margins = *written;
        for (std::size_t d = 0; d < dimensions; ++d) {
          const std::int64_t ahead = read.offset[d] - sweep->write.offset[d];
          margins[d].below -= ahead;
          margins[d].above += ahead;
        }
        widen(need[read.grid], margins);
      }
    }
  std::ranges::reverse(halo.sweeps);
  std::optional<Margins> all = Margins(dimensions);
  for (const auto& margins : halo.sweeps)
    if (margins) widen(all, *margins);
  for (const auto& [grid, margins] : need) {
    if (!margins) continue;
    if (!sweeps.is_fresh(grid) && passes(grid, sweeps, halo)) {
      halo.passing.insert(grid);
      continue;
    }
    halo.read[grid] = *margins;
    widen(all, *margins);
  }
  halo.all = *all;
  return halo;
}

}  // namespace sous::transforms
