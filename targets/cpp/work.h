// How much a nest does, as a C++ expression over what is known before it runs.
#pragma once

#include <optional>
#include <string>

#include "sdfg/data_rows.h"
#include "targets/cpp/expressions.h"

namespace sous::targets {

struct Work {
  std::string text;                // a double
  std::optional<double> constant;  // its value, where it is known now
  bool is_sum = false;             // needs parentheses as a factor
};

// Executions of states below `node`, as a product of extents: bounds that depend on loops inside `node` are taken at
// their widest; rows whose lengths are data (sdfg::RowWalk) have their mean length; other extents that depend on data,
// and the iterations of a `while`, count as one.
Work work(const sdfg::Node& node, const Expressions& expressions);
Work work(const sdfg::Region& region, const Expressions& expressions);

// The pieces of such expressions.
Work constant_work(double value);
Work work_of_extent(const sdfg::Expr& extent, const Expressions& expressions);
Work product(const Work& a, const Work& b);
Work sum(const Work& a, const Work& b);

// How long rows are in the mean, a double; read ahead of the nest where it reads where they begin and end.
Work mean_length(const sdfg::DataRows& rows, const Expressions& expressions);

}  // namespace sous::targets
