// Bounds of two loops after they have changed places (loop interchange of non-rectangular nests; Wolfe 1986; Bacon,
// Graham, Sharp 1994, section 6.2.1).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "sdfg/sdfg.h"

namespace sous::transforms {

struct LoopBounds {
  std::string symbol;
  sdfg::Expr begin, end;
  std::int64_t step = 1;
};

// `inner` directly inside `outer`. Result: [0] are begin and end of the loop that goes outside (it keeps inner's
// symbol), [1] those of the loop that goes inside (outer's symbol, bounds in terms of inner's). Both loops together run
// exactly the same set of points; for some values of the new outer loop the new inner one may be empty.
//   i in [0, n), j in [0, i + 1)   becomes   j in [0, n), i in [j, n)
// Nothing where the exchanged bounds cannot be written down exactly: inner's bounds are not (floor divisions of) linear
// forms in outer's symbol with constant coefficients, below max (begin) and min (end); one of them depends on the other
// and a step is not 1; or a bound reads a container.
std::optional<std::array<std::pair<sdfg::Expr, sdfg::Expr>, 2>> exchanged_bounds(const LoopBounds& outer,
                                                                                 const LoopBounds& inner);

}  // namespace sous::transforms
