// A cheap condition ahead of a call of generated code: a function that is called millions of times with small arrays
// is to run its own loops, without a call that declines (some 12 ns, where rows are checked more).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "frontends/lifted.h"

namespace sous::frontends::c {

// What a guard's last condition begins with, which compares addresses: the others say what may be read.
inline constexpr std::string_view kept_apart = "__extension__({ int sous_holds = ";

// What may be read where the condition stands.
enum class Reads : std::uint8_t {
  Variables,  // those that have a value wherever they stand
  Members,    // what the guard says may be read, even if it has no value
};

// Holds, but for rounding, wherever one of Replacement::shapes does: "(n >= 32 || (double)(n) * (double)(m) >= 4e4)".
// It reads each as what it is: an `int` that was widened ahead of the program's loops may change what a compiler makes
// of these. Empty: nothing can be said so.
std::string least_shape(const Replacement& replacement, Reads reads);

}  // namespace sous::frontends::c
