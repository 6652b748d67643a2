// Loops of pivots: each iteration k updates all elements (i, j) of an array from themselves, from one element of column
// k and from one of row k: shortest paths, transitive closures, widest paths.
//
//   for k: for i: for j: A(i, j) = f(A(i, j), A(i, k), A(k, j))
//
// Row and column k are updated on the way. What an element sees of them is exact: row k as it was where i <= k and as
// it is from then on where i > k, column k as it was where j <= k and as it is where j > k.
#pragma once

#include <string>
#include <vector>

#include "transforms/step.h"

namespace sous::transforms {

struct PivotUpdate {
  enum class Of { Own, Column, Row, Other };

  std::string array, state;
  std::string pivots, rows, columns;                    // the loops' symbols: k, i, j
  sdfg::Expr begin, end_pivots, end_rows, end_columns;  // the loops begin alike; rows and columns go as far at least
  sdfg::Subset own;                                     // A(i, j)
  sdfg::ScalarExpr code;                                // f
  std::vector<sdfg::Memlet> inputs;
  std::vector<Of> kinds;  // of the inputs

  sdfg::Memlet at(const sdfg::Expr& row, const sdfg::Expr& column) const;
};

// Of a loop of the graph. Errors: block-pivots.body, block-pivots.bounds, block-pivots.subscripts, block-pivots.alias.
Result<PivotUpdate> pivot_update_of(const sdfg::Sdfg& sdfg, const sdfg::Loop& pivots);

}  // namespace sous::transforms
