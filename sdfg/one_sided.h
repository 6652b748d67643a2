// Subscripts by data of which no more is known than that they are not negative: `w - weight[i]` lies at w or below.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "sdfg/sdfg.h"

namespace sous::sdfg {

// All elements are known not to be negative: Container::natural, or by their type.
bool is_natural(const Container& container);

struct OneSided {
  Expr end;            // reads nothing
  bool above = false;  // the value is `end` or more; else `end` or less
};
// Of `end` plus elements that are not negative, each times a constant, all of the same sign. nullopt: it is another
// sum.
std::optional<OneSided> one_sided(const Expr& e, const Sdfg& sdfg);

// Where an innermost loop reads elements of what it writes, and how far from these data say: the arrays of integers in
// which that stands, if only later iterations write what is read as long as none of their elements is negative. Nothing
// but that can say then whether iterations may be lanes. Empty: it is not so.
std::set<std::string> distances_ahead(const Loop& loop);

// Whether an innermost loop reads elements of an array that it writes, and data, the same for all its iterations, say
// how far from these: compilers take it that it waits for them.
bool is_at_data_distance(const Loop& loop);

// Arguments of which that is so in a part of the Sdfg, and which may have negative elements.
std::set<std::string> decisive_signs(const Sdfg& sdfg, const Region& part);

}  // namespace sous::sdfg
