// Which loops over rows that wait for the row before may run several rows at a time, each some columns behind it.
#pragma once

#include <string>
#include <vector>

#include "transforms/step.h"

namespace sous::transforms {

// Neither of the two loops is parallel, `columns` is the only thing directly inside `rows`, and holds one statement.
// What that makes of the element before takes two operations of floating point and more, one after the other: the next
// element waits for them, and for little else. Skewed by `factor` times the row and exchanged, the loop over rows is
// parallel.
struct Staggered {
  std::string rows, columns;
  int factor = 1;  // the least
};

// Errors: isl.budget.
Result<std::vector<Staggered>> staggered_of(const Nest& nest, const StepContext& context);

}  // namespace sous::transforms
