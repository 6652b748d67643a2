// A small prover for signs of symbolic expressions: what loop bounds and assumptions imply. Sound, not complete:
// non_negative(e) is true only if e >= 0 wherever the facts hold.
#pragma once

#include <string>
#include <vector>

#include "sdfg/sdfg.h"

namespace sous::transforms::normal {

class Facts {
 public:
  Facts() = default;
  explicit Facts(const sdfg::Sdfg& sdfg) : positive_(sdfg.assumptions) {}

  // Inside the body of this loop: begin <= symbol < end, and so begin < end. Loops with a step other than 1 add only
  // their one certain bound.
  void enter(const sdfg::Loop& loop) { enter(loop.symbol, loop.begin, loop.end, loop.step); }
  void enter(const std::string& symbol, const sdfg::Expr& begin, const sdfg::Expr& end, std::int64_t step = 1);

  bool non_negative(const sdfg::Expr& e) const { return prove(e, 8); }
  // Without the min and max operands that the facts decide.
  sdfg::Expr simplify(const sdfg::Expr& e) const;

 private:
  struct SymbolBounds {
    std::string symbol;
    std::vector<sdfg::Expr> at_least, at_most;
  };
  bool prove(const sdfg::Expr& e, int depth) const;

  std::vector<SymbolBounds> ranges_;  // outer loops first
  std::vector<sdfg::Expr> positive_;  // each >= 0
};

}  // namespace sous::transforms::normal
