// Which neighbouring loops of a nest in normal form may be one loop again.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "transforms/step.h"

namespace sous::transforms {

struct Fusion {
  // Calls of `fuse`, in this order: each loop of a pair stands directly behind the other one by then.
  std::vector<std::pair<std::string, std::string>> pairs;
  std::vector<std::string> fused;     // the loops that others were fused into, the innermost first
  std::vector<std::string> parallel;  // of the nest after that: its outermost parallel loops
};

// Loops over the same range. Down to the outermost parallel loops, those that are parallel when they are one; inside
// them, those that hand on a temporary, as long as nothing is carried that was not carried before: what they hand on
// then needs no array. (Kennedy and McKinley 1993; Sarkar and Gao 1991.) Errors: isl.budget.
Result<Fusion> fusion_of(const Nest& nest, const StepContext& context);

}  // namespace sous::transforms
