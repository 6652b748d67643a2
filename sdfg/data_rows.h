// Rows that lie behind each other and whose lengths are data, as those of a sparse matrix or the particles in cells:
// `for (k = start[i]; k < start[i + 1]; k++)` in a loop over i. How long one is only the run can tell, but all of them
// together have as many elements as lie between two values.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sdfg/sdfg.h"

namespace sous::sdfg {

struct DataRows {
  std::string starts;  // the container, of one dimension
  Expr first, last;    // places in it: the rows have starts[last] - starts[first] elements, if none is longer than 0
  Expr count;          // of rows
};
// `around`: the loops that the loop stands in, outermost first. None of the places and the count reads anything.
std::optional<DataRows> data_rows(const Loop& loop, const std::vector<const Loop*>& around);

// For estimates: where each row of a nest is as long as its container of starts has a symbol for.
using RowLengths = std::map<std::string, std::string>;
// Of all rows of the nest, new symbols; empty: it has none.
RowLengths row_lengths(const Sdfg& nest);
// What the nest, or what recipes made of it, is for such rows: starts[i] is i times the symbol.
Sdfg with_equal_rows(Sdfg nest, const RowLengths& lengths);

}  // namespace sous::sdfg
