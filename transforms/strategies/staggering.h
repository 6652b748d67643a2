// Which loops over rows that wait for the row before may run several rows at a time, each some columns behind it; and
// which in tiles, those of a diagonal at a time.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "transforms/step.h"

namespace sous::transforms {

// Neither of the two loops is parallel, `columns` is the only thing directly inside `rows` once the statements that
// stand before it are iterations of it, and the loops of `fused` that stand behind it are one with it, in this order;
// and it holds statements only. Skewed by `factor` times the row and exchanged, the loop over rows is parallel.
struct Staggered {
  struct Loop {
    std::string name;
    int sunk = 0;   // statements before it
    int shift = 0;  // iterations by which it is delayed
  };
  std::string rows, columns;
  bool expanded = false;  // what statements keep in variables of a row, which has an element for each row first
  int sunk = 0;           // statements before `columns`
  std::vector<Loop> fused;
  bool sinks() const {
    return sunk > 0 || std::ranges::any_of(fused, [](const Loop& loop) { return loop.sunk > 0; });
  }
  int factor = 1;        // the least
  bool one_row = false;  // an array is written of which each row has the same elements
  // What its one statement makes of the element before takes two operations of floating point and more, one after the
  // other: the next element waits for them, and for little else.
  bool waits = false;
};
// The same two loops, but what columns hold does not matter: skewed by `factor` (0: as they are) they go in tiles, at
// least twice as many columns as rows; the loop over tiles of columns skewed by `wave` times that over tiles of rows,
// and exchanged with it, that over rows is parallel.
struct Tileable {
  std::string rows, columns;
  int factor = 0, wave = 1;  // the least
};

// Errors: isl.budget.
Result<std::vector<Staggered>> staggered_of(const Nest& nest, const StepContext& context);

// Of each outermost loop that is not parallel, and so on inside, the first two. Errors: isl.budget.
Result<std::vector<Tileable>> tileable_of(const Nest& nest, const StepContext& context);

}  // namespace sous::transforms
