// Dependences that were computed are not computed again.
//
// What looks for a recipe asks about one nest from many sides: its normal form, what strategies write, what each recipe
// makes of it with the first steps of the one before, what runs for other shapes. Most of the graphs that come of this
// are equal, and isl takes a few to a few hundred milliseconds for the dependences of one, and as long again for what
// is then asked of them, which is kept beside them (Dependences::Data). Rejected: to hand them from each question to
// the next, through all that lies between; they would still not be shared between recipes that begin with the same
// steps.
//
// Found by the whole of what they are computed from, compared as values: nothing here can be out of date.
#pragma once

#include <deque>
#include <set>

#include "sdfg/dependences.h"

namespace sous::sdfg {

// While one of these lives, its thread computes the dependences of equal nests once. Of several the first one counts.
class DependenceMemory {
 public:
  DependenceMemory();
  DependenceMemory(const DependenceMemory&) = delete;
  DependenceMemory& operator=(const DependenceMemory&) = delete;
  ~DependenceMemory();

  // This thread's; null: it has none.
  static DependenceMemory* here();

  // What is known, for these statements at least; null: nothing is.
  const Result<Dependences>* find(const Scop& scop, const std::set<int>& statements, const Budget& budget);
  void keep(const Scop& scop, const std::set<int>& statements, const Budget& budget, const Result<Dependences>& result);

 private:
  struct Known {
    Scop scop;
    std::set<int> statements;
    unsigned long operations = 0;
    Result<Dependences> result;
  };
  std::deque<Known> known_;  // what was asked for last first
};

}  // namespace sous::sdfg
