// What a nest does, read off its loops and memlets for given sizes: the common ground of size classes and features.
// Estimates, for ranking and never for legality: bounds are evaluated as intervals, and a loop whose bounds depend on
// outer loops has the trip count that it has in the middle of their ranges (exact for the usual triangles).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sdfg/sdfg.h"

namespace sous::tuning_db {

struct Interval {
  double lo = 0, hi = 0;
};
using IntervalMap = std::map<std::string, Interval>;

// Bounds of `e` for symbols within their intervals; nullopt if a symbol is missing or a container is read.
std::optional<Interval> evaluate(const sdfg::Expr& e, const IntervalMap& symbols);

struct LoopFact {
  const sdfg::Loop* loop = nullptr;
  std::vector<int> around;  // indices of the enclosing loops, outermost first
  int height = 0;           // 0: innermost; else 1 + the largest height inside
  double trips = 0;
  bool triangular = false;  // a bound uses an outer loop's symbol
  bool known = true;        // the bounds could be evaluated
  double middle = 0;        // of its values, for `stride`; 0: not known
};
struct AccessFact {
  const sdfg::Container* container = nullptr;
  const sdfg::Memlet* memlet = nullptr;
  bool write = false;
  int statement = 0;  // index into statements
};
struct StatementFact {
  const sdfg::State* state = nullptr;
  const sdfg::ScalarExpr* code = nullptr;
  std::vector<int> loops;  // outermost first
  double executions = 0;
  int whiles = 0;                   // around it
  const sdfg::If* under = nullptr;  // the innermost If around it, in its innermost loop
};
struct NestFacts {
  std::vector<LoopFact> loops;  // preorder
  std::vector<StatementFact> statements;
  std::vector<AccessFact> accesses;
  int ifs = 0, whiles = 0;
  bool sizes_known = true;  // every bound could be evaluated from the given sizes alone
  IntervalMap symbols;      // the values used, assumed ones included

  double work() const;  // executions of all statements
  // Bytes of the bounding boxes that the accesses span while the loops of height < free_height run, the others
  // standing in the middle of their ranges: one box for each container. All of them: the footprint.
  // `below`: an outermost loop (index), and only what is inside it; -1: everything.
  double footprint(int free_height, int below = -1) const;
  double footprint() const { return footprint(1 << 20); }
  // The same, but two rows far from each other are two rows, not all that are between them.
  double touched(int free_height, int below = -1) const;
  // Elements between the places touched by two consecutive iterations of the loop; nullopt: not linear.
  std::optional<double> stride(const AccessFact& access, int loop) const;
  // Whether a loop inside of `outer`, around the statement, is more than twice as long in its first iteration as near
  // its last, or the other way round. (That over the points of a tile is not.) Where nobody knows: true.
  bool lengths_change(const StatementFact& statement, int outer) const;

 private:
  // Of the loops inside of `outer` in its first iteration or near its last; empty: not known.
  std::vector<double> lengths(const StatementFact& statement, int outer, bool last) const;
};

// Pointers are into `nest`. A symbol without a value gets `assumed`, as has a bound that cannot be evaluated; both arms
// of an If count, as if it took each every time (vector code does run both); a While counts as one iteration.
NestFacts facts(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes, double assumed = 1024);
// The same without what is accessed: for what is asked of many sizes.
NestFacts facts_without_accesses(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes,
                                 double assumed = 1024);

}  // namespace sous::tuning_db
