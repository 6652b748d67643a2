// How far a nest's accesses go that depend on values in memory: what has to be looked at ahead of the nest to know it.
// An inspector (Saltz, Mirchandaney, Crowley: Run-time parallelization and scheduling of loops, 1991), made as small as
// it can be: of loops whose bounds no data give, the first and the last iteration are enough; of index arrays, the
// elements between the first and the last one that the nest reads, which lie in one object and may be read.
//
// What is looked at the nest does not change, unless it writes into it by a container that this is asked about: where
// that turns out to lie apart, by the values before the nest, it did not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sdfg/sdfg.h"

namespace sous::sdfg {

// An integer at each point of some loops.
struct Visits {
  struct Loop {
    std::string symbol;
    Expr begin, end;  // they may read elements, which the nest reads there in any case
    std::int64_t step = 1;
    // Whether each iteration has to be looked at: bounds of loops inside depend on it, or the value not linearly.
    bool through = false;
    bool unless_negative = false;  // where `begin` is negative as a signed integer, there are no iterations
    bool operator==(const Loop&) const = default;
  };
  std::vector<Loop> loops;  // outermost first
  Expr value;  // linear in the loops that are not gone through; may read elements, which the nest reads there in any
               // case
  bool operator==(const Visits&) const = default;
};

// A subscript: `fixed`, and for each of the elements its value times `factor`.
struct Reach {
  struct Element {
    std::string container;
    Visits place;  // from the container's base, in elements; all of them are read by the nest in any case
    Expr factor;   // over parameters
  };
  Visits fixed;
  std::vector<Element> elements;
};

// Of all accesses to the container, the subscript in its outermost dimension. nullopt: that cannot be looked at ahead
// of the nest, or would take as long as the nest itself.
std::optional<std::vector<Reach>> reaches(const Sdfg& sdfg, const std::string& container);

// Of all that the nest reads of a container of integers: the values. nullopt: as for `reaches`.
std::optional<std::vector<Reach>> values_read(const Sdfg& sdfg, const std::string& container);

// Whether as many elements are looked at as the nest's accesses by them are: no loop around them comes back to the
// same.
bool meets_each_once(const std::vector<Reach>& reaches);

}  // namespace sous::sdfg
