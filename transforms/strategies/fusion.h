// Which neighbouring loops of a nest in normal form may be one loop again, with parallel loops outermost.
#pragma once

#include <string>
#include <vector>

#include "transforms/step.h"

namespace sous::transforms {

struct Fusion {
  // Two loops, and the steps that make them neighbours and fuse them, in this order.
  struct Pair {
    std::string first, second;
    std::vector<StepCall> steps;
  };
  std::vector<StepCall> before;  // interchanges: a parallel loop goes outwards past those around that are not
  std::vector<Pair> pairs;
  std::vector<std::string> fused;     // the loops that others were fused into, the innermost first
  std::vector<std::string> parallel;  // of the nest after that: its outermost parallel loops
};

// Whether what makes a loop's iterations independent leaves them to threads: of what they sum, each thread keeps a
// copy.
bool sums_little(const Nest& nest, const Independence& independence);

// A loop that is parallel goes outwards past loops that are not, if that brings little more from memory: sums over all
// others, of each, are as the program had them. Then, down to the outermost parallel loops, those over nearly the same
// range that are parallel when they are one, or of which the first does nothing but to give temporaries their first
// values. Inside them loops over the same range of which one hands something on to the other: where they are parallel
// as one, too, or what is handed on is a temporary, which then needs no array, and nothing is carried that was not
// carried before. What stands between two loops of which one hands a temporary to the other goes before or behind them
// where it may. (Kennedy and McKinley 1993; Sarkar and Gao 1991.) Errors: isl.budget.
Result<Fusion> fusion_of(const Nest& nest, const StepContext& context);

}  // namespace sous::transforms
