// How much a nest does, as a C++ expression over what is known before it runs.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "targets/cpp/expressions.h"

namespace sous::targets {

struct Work {
  std::string text;                // a double
  std::optional<double> constant;  // its value, where it is known now
  bool is_sum = false;             // needs parentheses as a factor
};

// Executions of states below `node`, as a product of extents: bounds that depend on loops inside `node` are taken at
// their widest; rows whose lengths are data have their mean length, where MeanLengths says it; other extents that
// depend on data, and the iterations of a `while`, count as one.
Work work(const sdfg::Node& node, const Expressions& expressions);
Work work(const sdfg::Region& region, const Expressions& expressions);

// The pieces of such expressions.
Work constant_work(double value);
Work work_of_extent(const sdfg::Expr& extent, const Expressions& expressions);
Work product(const Work& a, const Work& b);
Work sum(const Work& a, const Work& b);

// Of rows whose lengths are data (sdfg/data_rows.h): how long they are in the mean, while a walk is in the loops around
// them. Their ends may be read ahead of the nest where it reads them in any case: where each loop around them has an
// iteration, and no condition stands around them. Nothing is said where what is written may change them.
class MeanLengths {
 public:
  MeanLengths(const Expressions& expressions, std::set<std::string> written)
      : expressions_(expressions), written_(std::move(written)) {}

  // A double.
  std::optional<Work> of(const sdfg::Loop& loop) const;
  template <class Body>
  auto inside(const sdfg::Loop& loop, const Body& body) {
    around_.push_back(&loop);
    auto result = body();
    around_.pop_back();
    return result;
  }
  // What may not run.
  template <class Body>
  auto perhaps(const Body& body) {
    ++conditions_;
    auto result = body();
    --conditions_;
    return result;
  }

 private:
  const Expressions& expressions_;
  const std::set<std::string> written_;
  std::vector<const sdfg::Loop*> around_;
  int conditions_ = 0;
};

}  // namespace sous::targets
