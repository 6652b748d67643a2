// Where expressions over parameters lie by the types of those: interval arithmetic that does not overflow.
#pragma once

#include "frontends/c/ranges.h"

namespace sous::frontends::c {

using Wide = __int128;
struct WideInterval {
  Wide lo, hi;
};
// The ends are exact up to 2^120; of what has no known end, they are that.
WideInterval interval(const sdfg::Expr& e, const std::map<std::string, Interval>& parameters);

// Where the parameters of `e` are at most this, its value is below 2^63; nullopt: where none is small enough.
std::optional<std::int64_t> limit_of_parameters(const sdfg::Expr& e);

}  // namespace sous::frontends::c
