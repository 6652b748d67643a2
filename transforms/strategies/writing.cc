#include "transforms/strategies/writing.h"

#include <algorithm>

namespace sous::transforms {

std::string permutation(std::vector<std::string> from, const std::vector<std::string>& to) {
  std::string steps;
  for (std::size_t place = 0; place < to.size(); ++place) {
    auto at = static_cast<std::size_t>(std::ranges::find(from, to[place]) - from.begin());
    for (; at > place; --at) {
      steps += call("interchange", "outer=" + from[at - 1] + ", inner=" + from[at]);
      std::swap(from[at - 1], from[at]);
    }
  }
  return steps;
}

std::vector<std::string> first_and(std::int64_t first, std::vector<std::int64_t> others) {
  std::erase(others, first);
  std::vector<std::string> result{std::to_string(first)};
  for (const std::int64_t n : others) result.push_back(std::to_string(n));
  return result;
}

std::string in_diagonals(const Tileable& band) {
  const std::string &a = band.rows, &b = band.columns, rows = a + "_t", columns = b + "_t";
  const std::string skewed =
      band.factor > 0 ? call("skew", "loop=" + b + ", by=" + a + ", factor=" + std::to_string(band.factor)) : "";
  return skewed + call("tile", "loops=[" + a + ", " + b + "], sizes=[$rows, $columns], count=numbers") +
         call("skew", "loop=" + columns + ", by=" + rows + ", factor=" + std::to_string(band.wave)) +
         call("interchange", "outer=" + rows + ", inner=" + columns) +
         call("parallelize", "loop=" + rows + ", kind=dynamic");
}

}  // namespace sous::transforms
