// Sets of integer points described by conditions, and the one question that steps ask of them: is this set inside that
// union? A footprint is such a set: the elements that some loops touch, with the loops' variables quantified.
//
// isl finds the question easy where the left side alone has quantified variables: the complement of the right side then
// is a few inequalities.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "sdfg/dependences.h"

namespace sous::sdfg {

// The values of `dims` (symbols) for which every condition holds, for some values of `exists`. All other symbols are
// parameters. Conditions are affine (is_affine_condition).
struct Points {
  std::vector<std::string> dims;
  std::vector<std::string> exists;
  std::vector<ScalarExpr> conditions;
};

// low <= high, for `conditions`.
ScalarExpr at_most(const Expr& low, const Expr& high);
ScalarExpr equal(const Expr& a, const Expr& b);
// More conditions.
void append(std::vector<ScalarExpr>& to, const std::vector<ScalarExpr>& more);
// A loop takes the value `at`: begin <= at < end in its steps.
std::vector<ScalarExpr> runs(const Expr& begin, const Expr& end, std::int64_t step, const Expr& at);
// Whether all conditions are ones that isl understands.
bool is_affine(const Points& points);

// Whether every point of `part` is in one of `whole`, whatever the parameters are; `dims` are matched by place. Errors:
// isl.budget (sooner where `whole` has quantified variables).
Result<bool> is_within(const Points& part, const std::vector<Points>& whole, const Budget& budget = {});

// The symbols in the conditions that the set does not bind.
std::set<std::string> parameters_of(const Points& points);
// The set in isl's notation; the parameters are called p0, p1, …, the dims e0, e1, …. As a relation, it is one from the
// quantified variables to the dims.
std::string isl_text(const Points& points, const std::vector<std::string>& parameters, bool as_relation = false);

}  // namespace sous::sdfg
