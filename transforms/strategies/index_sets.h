// Which loops of a nest are parallel once single iterations, at which the nest writes what all others read (the row and
// the column of a pivot), stand by themselves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "transforms/step.h"

namespace sous::transforms {

struct IndexSets {
  // Calls of `split`, in this order. `at` is empty for a point that is counted from the loop's own begin or end.
  struct Cut {
    std::string loop, at;
    std::int64_t offset = 0;
  };
  std::vector<Cut> cuts;
  // Of the nest after that:
  std::vector<std::string> threads;  // its outermost parallel loops that hold loops
  bool uneven = false;               // iterations of these take more or less
  std::vector<std::string> vectors;  // its innermost parallel loops along which neighbouring elements are written
};

// From the outside in, each loop that is not parallel is cut before and behind a point at which it meets an element
// that its other iterations touch as well; kept is a cut after which a part is parallel. The points are where
// subscripts say so: iteration i meets X(i + a, …), all of them X(k + b, …). (Index-set splitting: Griebl, Feautrier,
// Lengauer 2000.) Errors: isl.budget.
Result<IndexSets> index_sets_of(const Nest& nest, const StepContext& context);

}  // namespace sous::transforms
