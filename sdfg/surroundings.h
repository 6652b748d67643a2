// Questions about what surrounds a part of a schedule tree: the values that the parameters (under the Sdfg's
// assumptions) and the variables of the loops and guards around it can take together, as a small set of integers that
// isl decides about.
//
// Every answer is sound and none is complete: what is not affine, and what needs more than a small budget of isl
// operations, is "not known", which is false.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sdfg/schedule_tree.h"

namespace sous::sdfg {

class Surroundings {
 public:
  // Inside the loops and guards of `chain` (their children are not looked at), outermost first.
  explicit Surroundings(const Scop& scop, const std::vector<ScheduleNode>& chain = {});

  void enter(const ScheduleLoop& loop);     // inside one more loop; its symbol is new
  void where(const ScalarExpr& condition);  // only where it holds
  void same(const Expr& a, const Expr& b);  // only where they are equal

  bool at_most(const Expr& low, const Expr& high) const;  // low <= high, always
  bool always(const ScalarExpr& condition) const;         // it holds, always
  bool never() const;                                     // there are no such values: what is here never runs

 private:
  bool expressible(const Expr& e) const;
  bool expressible(const ScalarExpr& condition) const;
  bool impossible(const std::string& besides) const;  // nowhere does this hold, too

  std::map<std::string, std::string> names_;  // what isl calls the symbols
  std::vector<std::string> variables_;        // of the loops entered, as isl calls them
  std::string parameters_;                    // "[p0, p1] -> "
  std::string constraints_ = "0 = 0";
};

// Whether two memlets of one container (points, not ranges) are different elements for every pair of iterations: one of
// the loops `of_first`, one of the loops `of_second`, both in the same surroundings. The two sides' loops may have the
// same symbols.
bool apart(const Surroundings& common, const std::vector<ScheduleLoop>& of_first, const Subset& first,
           const std::vector<ScheduleLoop>& of_second, const Subset& second);

}  // namespace sous::sdfg
