// What a compiler's options allow it to do with floating-point numbers. Which of them counts beside which others,
// compilers see differently: what is said here is what gcc 12 and clang 19 make of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sous::client {

// Where a product and a sum may become one operation.
enum class Contraction : std::uint8_t { Off, InExpressions, Everywhere };

struct FloatingPoint {
  Contraction contraction = Contraction::InExpressions;
  bool reassociate = false;       // sums may be reordered
  bool no_nans = false;           // nothing is ever a NaN
  bool approximate_math = false;  // exp and the like, in other digits
  bool math_errno = true;         // functions of math.h set it
  bool limited_range = false;     // products of complex numbers by the plain formula
};

FloatingPoint floating_point(const std::vector<std::string>& arguments, bool gcc);
// The same as clang is told it: the front end's parser, whatever compiler it was said to.
std::vector<std::string> clang_options(const FloatingPoint& allowed);

}  // namespace sous::client
