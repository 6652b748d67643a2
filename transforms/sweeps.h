// Loops in time around sweeps: each iteration computes grids from grids, element by element, one sweep after another.
//
// A grid is an array that the loop writes. A sweep is a band of loops around one assignment, whose element and whose
// operands in grids lie at constant distances from the iteration: A(i, j) from B(i - 1, j), B(i, j + 1), …. A dimension
// may also be one place in it, as a boundary is: A(0, j). No iteration of a sweep needs what another one of it writes.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "transforms/step.h"

namespace sous::transforms {

struct Interval {
  sdfg::Expr begin, end;
  bool operator==(const Interval&) const = default;
};
// One interval in each dimension; of elements or of iterations.
using SweepBox = std::vector<Interval>;
SweepBox moved(SweepBox box, const std::vector<std::int64_t>& by);
// The least box around both.
SweepBox hull(const SweepBox& a, const SweepBox& b);
// Whether `inner` is known to be inside `outer`.
bool is_inside(const SweepBox& inner, const SweepBox& outer);
// The union of these in fewer boxes; `present` gets what is not negative where that is right.
std::vector<SweepBox> merged(std::vector<SweepBox> boxes, std::vector<sdfg::Expr>& present);

struct GridAccess {
  std::string grid;
  std::vector<std::int64_t> offset;  // from the iteration
};

struct Sweep {
  std::string state;
  sdfg::Assignment what;
  std::vector<sdfg::Expr> at;  // the iteration: in each dimension the loop's symbol, or the one place
  SweepBox iterations;
  GridAccess write;
  std::vector<GridAccess> reads;
  // Where the memlet is in a grid; of one that is an access of the sweep.
  std::vector<std::int64_t> offset_of(const sdfg::Memlet& m) const;
};

struct Sweeps {
  std::vector<Sweep> all;  // in order
  std::vector<std::string> grids;
  // Whether each iteration of the loop in time writes all of what it reads of the grid and what the loop ever writes
  // there, ahead of reading it: no value of it goes from one iteration to another.
  bool is_fresh(const std::string& grid) const;
  std::vector<SweepBox> written(const std::string& grid) const;   // without repetitions
  std::vector<SweepBox> accessed(const std::string& grid) const;  // the same
  bool is_grid(const std::string& container) const;
};

// Of `time`, a loop of the graph, where the grids have so many dimensions. Errors: overlap.body, overlap.subscripts,
// overlap.carried, overlap.alias.
Result<Sweeps> sweeps_of(const sdfg::Sdfg& sdfg, const sdfg::Loop& time, std::size_t dimensions);

// How far around its own elements a tile must have those of a grid, below and above, in each dimension.
struct Margin {
  std::int64_t below = 0, above = 0;
};
using Margins = std::vector<Margin>;

// What a tile computes of some iterations in time, so that its own elements come out right: each sweep as far around
// them as the sweeps behind it need.
struct Halo {
  std::vector<std::optional<Margins>> sweeps;  // iteration by iteration; nullopt: nobody needs it
  std::map<std::string, Margins> read;  // of the grids that are needed at the begin, and have a place in the tile
  // Grids that no sweep reads once one has written them: they are read where they come from and written where they go.
  std::set<std::string> passing;
  Margins all;  // the most of any that is in the tile
};
Halo halo_of(const Sweeps& sweeps, std::int64_t iterations);

}  // namespace sous::transforms
