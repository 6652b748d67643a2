// Bounds of expressions over ranges of loop variables.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "sdfg/expr.h"

namespace sous::sdfg {

// The values of a loop variable, over symbols from outside the loops that are looked at.
struct Extremes {
  Expr low, high;
};
using ExtremesOf = std::map<std::string, Extremes>;

// What factors are, beside constants, that what varies is multiplied with or divided by.
enum class Signs { NotNegative, Unknown };

// What `e` never exceeds (`largest`), or never falls below, over the ranges: that very value where each range stands in
// `e` once. nullopt: data decides, or a sign that nobody knows.
std::optional<Expr> extreme(const Expr& e, bool largest, const ExtremesOf& ranges, Signs signs);

}  // namespace sous::sdfg
