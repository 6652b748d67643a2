// What a nest is given to compute when it is measured: arrays of drawn numbers.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sdfg/sdfg.h"

namespace sous::client {

enum class Inputs : std::uint8_t {
  Tame,   // any numbers do: what is executed does not depend on them
  Drawn,  // conditions, iterations of while loops and subscripts come of drawn numbers: subscripts inside their arrays,
          // and a speed that holds for data like it
  Strangers,  // the same for a nest that a stranger sent: it runs only where it surely stays inside of its arrays
              // (client/contained.h), so no subscript comes of data
};

// Errors: measure.gather (such data is no input for it: a bound that is read from memory, and where it has to be tame a
// condition or a subscript, too).
Result<void> takes(const sdfg::Sdfg& nest, Inputs inputs);

// What an array without a known extent is given, in elements: as much as a matrix of the largest extent has.
std::int64_t drawn_extent(const std::map<std::string, std::int64_t>& sizes);

// Of the arrays whose elements are used in subscripts: what each element has to be below, for these sizes. Where the
// extent is not known, the largest one that is. (Subscripts that are computed from elements may still lie outside: then
// the program that measures fails, measure.run.)
std::map<std::string, std::int64_t> subscript_limits(const sdfg::Sdfg& nest,
                                                     const std::map<std::string, std::int64_t>& sizes);

// The C expression of an element, with `tame()` drawing from [0, 1). `below`: of a subscript, else 0.
std::string drawn_element(sdfg::ElementType type, Inputs inputs, std::int64_t below);

}  // namespace sous::client
