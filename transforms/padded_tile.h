// A tile cut off by the end of its loops, computed as a whole: past the end it repeats the last iteration, with
// accumulators of its own that are never stored. So full and partial tiles share one kernel without masks.
//
// Condition. What the tile's iterations write are accumulators, so that further ones change nothing; no operation of
// theirs may fail; and what they read, the nest reads anyway: element (i, k) of an operand for an iteration i past the
// end is element (last, k), which some instance of the statement reads, and which no other thread writes meanwhile.
// That is proven, on the elements.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "transforms/step.h"

namespace sous::transforms {

// One of a tile's two loops.
struct TileSide {
  std::string symbol;                   // inside the tile
  sdfg::Expr first;                     // of the tile
  std::int64_t size = 1;                // iterations in a tile
  sdfg::Expr begin, end;                // the iterations that there are (the inner side's may use the outer symbol)
  std::optional<sdfg::Expr> limit;      // the last iteration of all; nullopt: no tile is ever partial
  std::vector<sdfg::ScalarExpr> whole;  // when all are there
};

struct PaddedTile {
  TileSide outer, inner;
  // For reads: symbols of the tile, no further than the limits.
  std::map<std::string, sdfg::Expr> repeated() const;
  sdfg::ScalarExpr is_whole() const;
  bool never_partial() const { return outer.whole.empty() && inner.whole.empty(); }
};

// `outer` and `inner` as they are in the nest's tree, `inner` directly inside `outer` and around `third`, which holds
// statements only. `tiles`: the loops over tiles that take their place. Errors: `refusal`, isl.budget.
Result<PaddedTile> pad(const Nest& nest, const sdfg::ScheduleLoop& outer, const sdfg::ScheduleLoop& inner,
                       const sdfg::ScheduleLoop& third, const std::vector<Size>& sizes,
                       const std::pair<sdfg::ScheduleLoop, sdfg::ScheduleLoop>& tiles, std::string_view refusal);

}  // namespace sous::transforms
