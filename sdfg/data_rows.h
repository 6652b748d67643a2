// Rows that lie behind each other and whose lengths are data, as those of a sparse matrix or the particles in cells:
// `for (k = start[i]; k < start[i + 1]; k++)` in a loop over i, or with 1 less of both. How long one is only the run
// can tell, but all of them together have as many elements as lie between two values.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sdfg/sdfg.h"

namespace sous::sdfg {

struct DataRows {
  std::string starts;  // the container, of one dimension
  Expr first, last;    // places in it: the rows have starts[last] - starts[first] elements, if none is longer than 0
  Expr count;          // of rows
  std::vector<Expr> lengths;  // of the loops around: where all are positive, the nest reads both
};

// The loop of a branch that is nothing but a loop which begins at an unsigned element, where that is no more than
// INT64_MAX; null: it is another one.
const Loop* unsigned_loop(const If& branch);

// A walk through a nest that comes by such rows.
class RowWalk {
 public:
  // `walked`: all that is walked through.
  RowWalk(const Sdfg& sdfg, const Region& walked) : sdfg_(sdfg), written_(touched(walked).written) {}
  RowWalk(const Sdfg& sdfg, const Node& walked) : sdfg_(sdfg), written_(touched(walked).written) {}

  // The rows of which this loop is one, in the loops that the walk is in; with places, counts and lengths that are
  // known ahead of them. Nullopt: it is none, or stands under a condition, or what is written may change where they
  // begin.
  std::optional<DataRows> of(const Loop& loop) const;
  template <class Body>
  auto inside(const Loop& loop, const Body& body) {
    around_.push_back(&loop);
    auto result = body();
    around_.pop_back();
    return result;
  }
  // The arms of a branch. What may not run has no rows; but a loop that begins at an unsigned element is one also where
  // the Sdfg asks ahead of it whether that lies in the upper half: the program compares it with its end in any case.
  template <class Body>
  auto inside(const If& branch, const Body& body) {
    const bool perhaps = unsigned_loop(branch) == nullptr;
    conditions_ += perhaps;
    auto result = body();
    conditions_ -= perhaps;
    return result;
  }
  template <class Body>
  auto inside(const While& /*loop*/, const Body& body) {
    ++conditions_;
    auto result = body();
    --conditions_;
    return result;
  }

 private:
  const Sdfg& sdfg_;
  const std::set<std::string> written_;
  std::vector<const Loop*> around_;
  int conditions_ = 0;
};

// For estimates: where each row of a nest is as long as its container of starts has a symbol for.
using RowLengths = std::map<std::string, std::string>;
// Of all rows of the nest that RowWalk tells, new symbols; empty: it has none.
RowLengths row_lengths(const Sdfg& nest);
// What the nest, or what recipes made of it, is for such rows: starts[i] is i times the symbol.
Sdfg with_equal_rows(Sdfg nest, const RowLengths& lengths);

}  // namespace sous::sdfg
