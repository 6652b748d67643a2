// From expressions to isl: what counts as affine, and expressions and conditions in isl's notation. Internal to sdfg/.
#pragma once

#include <map>
#include <string>

#include "sdfg/scalar_expr.h"

namespace sous::sdfg {

// Sums of symbols with integer coefficients, floor division and modulo by positive constants, min and max of such.
bool is_quasi_affine(const Expr& e);
// Comparisons of quasi-affine integer expressions, joined by &&, || and !; no inputs.
bool is_affine_condition(const ScalarExpr& condition);

// In isl's notation; every symbol becomes names.at(symbol). Only for what the predicates above accept.
using IslNames = std::map<std::string, std::string>;
std::string isl_text(const Expr& e, const IslNames& names);
std::string isl_text(const ScalarExpr& condition, const IslNames& names);
// low <= high, as a conjunction without the piecewise forms that min and max would become.
std::string isl_at_most(const Expr& low, const Expr& high, const IslNames& names);
// symbol = begin, begin + step, … < end (> end for a negative step), with the symbol called `v`. `outer` are the names
// outside the loop.
std::string isl_loop(const std::string& symbol, const Expr& begin, const Expr& end, std::int64_t step, IslNames outer,
                     const std::string& v);
// Whether all symbols of `e` are in `names`.
bool names_known(const Expr& e, const IslNames& names);
// Whether |x| is in `e`, as a maximum or minimum of x and -x. Of what an absolute value is at least, isl would make two
// pieces of every set; where it says nothing of domains (how far rows lie apart), it is better left out.
bool has_absolute_value(const Expr& e);

}  // namespace sous::sdfg
