// How far apart the rows are of memory that is used by flat subscripts, as these tell.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/c/ranges.h"

namespace sous::frontends::c {

// A subscript, and the ranges around it.
using FlatAccess = std::pair<sdfg::Expr, Box>;
// Whether something varies in the nest.
using Varies = std::function<bool(const sdfg::Atom&)>;
// Whether something over parameters is known to be negative where it is used.
using IsNegative = std::function<bool(const sdfg::Expr&)>;

// How far apart the rows of one dimension are: a polynomial of parameters, whose largest term is positive.
struct Stride {
  sdfg::Expr value = sdfg::Expr(1);

  // Of chained strides, the inner one is the smaller.
  bool operator<(const Stride& other) const;
  bool is_number() const { return value.constant().has_value(); }
};

// The dimensions that an array of rows has behind its outermost one.
struct Rows {
  std::vector<Stride> strides;  // innermost first
  std::vector<Stride> extents;
  bool multiples = true;  // each stride is the one inside times its extent: [i][-1] is [i-1][n-1]
};

// e as quotient * stride + remainder: 1101*i - 1 by 1100 is i and i - 1, 3*n*i + 2*n + j by 3*n is i and 2*n + j, and
// n*i + i + j by n + 1 is i and j.
std::pair<sdfg::Expr, sdfg::Expr> split(const sdfg::Expr& e, const Stride& stride);

// What a subscript multiplies by what varies in it: each term's own factors (n and 1 of n*i + i + j, where [i][i + j]
// is meant), or all that goes with it (n + 1, where [i][j] is).
enum class Factors : std::uint8_t { OfTerms, Whole };
void find_strides(const sdfg::Expr& at, const Varies& varies, Factors factors, const IsNegative& is_negative,
                  std::vector<Stride>& strides);

// Rows in rows, each as many as fit. Nullopt: they do not.
std::optional<Rows> rows_of(std::vector<Stride> strides);
// Rows that are no multiples of each other (of C and of C / heads elements, in t*C + h*size + i): the strides of outer
// loops are the larger ones. Of a dimension whose rows are no multiple of those inside, the subscripts say how long it
// is, and that it fits into a row is to be checked on entry. `loops`: from the outside in.
std::optional<Rows> loose_rows(const std::vector<FlatAccess>& accesses, const Varies& varies,
                               const std::vector<std::string>& loops, Ranges& ranges);

}  // namespace sous::frontends::c
