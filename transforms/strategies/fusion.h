// Which neighbouring loops of a nest in normal form may be one loop again, with parallel loops outermost.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "transforms/step.h"

namespace sous::transforms {

struct Fusion {
  // All that was done, in this order: interchanges by which a parallel loop goes outwards past those around that are
  // not, and what makes two loops neighbours and fuses them. Tiles are of `some_columns` iterations.
  std::vector<StepCall> steps;
  std::map<std::string, std::vector<std::string>> parts;  // of a loop, the others that were fused into it
  std::vector<std::string> fused;                         // the loops that others were fused into, the innermost first
  std::vector<std::string> parallel;                      // of the nest after that: its outermost parallel loops
  // Each of these, and those in it that are handed out to threads with it (loops_to_share.h).
  std::map<std::string, std::vector<std::string>> together;
  // For each loop over tiles that went outwards, the loop that it went past last.
  std::map<std::string, std::string> past;
  static constexpr std::int64_t some_columns = 128;
};

// Whether what makes a loop's iterations independent leaves them to threads: of what they sum, each thread keeps a
// copy.
bool sums_little(const Nest& nest, const Independence& independence);

// A loop that is parallel goes outwards past loops that are not, if that brings little more from memory: sums over all
// others, of each, are as the program had them. Where it would bring more (a sequential loop over the rows of what is
// met along them), and the loop is all that is inside, tiles of it go outwards: blocks of columns. Then, down to the
// outermost parallel loops, those over nearly the same range that are parallel when they are one, or of which the first
// does nothing but to give temporaries their first values. Inside them loops over the same range of which one hands
// something on to the other, or that read elements which lie side by side: where they are parallel as one, too, or what
// is handed on is a temporary, which then needs no array, and nothing is carried that was not carried before. What
// stands between two loops of which one hands a temporary to the other goes before or behind them where it may.
// (Kennedy and McKinley 1993; Sarkar and Gao 1991.) Errors: isl.budget.
Result<Fusion> fusion_of(const Nest& nest, const StepContext& context);

}  // namespace sous::transforms
