// Dynamic programs over intervals: what is best for [i, j] is the best of all places k to cut it in two.
#pragma once

#include <string>
#include <vector>

#include "transforms/step.h"

namespace sous::transforms {

struct IntervalTiles {
  std::string cuts;                  // steps with $block: tiles of both loops, those of a diagonal after the other
  std::vector<std::string> threads;  // of the nest behind them: its parallel loops over tiles
  std::vector<std::string> vectors;  // its loops over neighbouring elements, parallel
  std::string rows, columns;         // the two loops around the product of tiles
};

// For each outermost loop i with a loop j inside, in which updates that may change places take the best of x(i, k) and
// x(k, j), whichever they are. Between the ends of its rows and the begins of its columns, a tile is a product of those
// to its left and those below, which are done: that comes first, and then what the tile itself has a part in, row by
// row, from each element on to those to its right. Empty: there is none. Errors: isl.budget.
Result<std::vector<IntervalTiles>> interval_tiles_of(const Nest& nest, const StepContext& context);

}  // namespace sous::transforms
