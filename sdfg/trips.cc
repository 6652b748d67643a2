#include "sdfg/trips.h"

#include <algorithm>
#include <cstdlib>

namespace sous::sdfg {

std::optional<std::int64_t> most_trips(const Loop& loop) {
  const bool up = loop.step > 0;
  std::optional<std::int64_t> least;
  for (const Expr& high : up ? min_pieces(loop.end) : min_pieces(loop.begin))
    for (const Expr& low : up ? max_pieces(loop.begin) : max_pieces(loop.end))
      if (const auto distance = (high - low).constant(); distance && (!least || *distance < *least)) least = distance;
  if (!least) return std::nullopt;
  const std::int64_t step = std::abs(loop.step), whole = std::max<std::int64_t>(0, *least);
  return whole / step + (whole % step != 0 ? 1 : 0);
}

}  // namespace sous::sdfg
