#include "transforms/strategies/even_sums.h"

#include <algorithm>

#include "transforms/strategies/writing.h"

namespace sous::transforms {
namespace {

bool moves_with(const NestFacts& nest, const std::string& loop, const std::string& other) {
  return nest.begins_with(loop, other) || nest.ends_with(loop, other);
}

// A product with its loops around, then its rows, its sum and its columns; the sum alone is uneven, at one end.
bool make_even(Changed& nest, const NestFacts& original, const std::string& first, std::int64_t rows) {
  const auto band = product_band(nest.facts, first);
  if (!band || band->rows.empty() || !band->sums.empty()) return false;
  if (std::ranges::any_of(band->around, [&](const std::string& l) { return !nest.facts.loop(l).parallel; }))
    return false;
  std::vector<std::string> order = band->around;
  order.insert(order.end(), {band->rows, band->sum, band->columns});
  Changed inside = nest;
  const std::string moved = permutation(band->written, order);
  if (!moved.empty() && !inside.admits(original, moved)) return false;
  const bool begins = inside.facts.begins_with(band->sum, band->rows),
             ends = inside.facts.ends_with(band->sum, band->rows);
  if (begins == ends || moves_with(inside.facts, band->columns, band->rows) ||
      moves_with(inside.facts, band->columns, band->sum) || moves_with(inside.facts, band->sum, band->columns))
    return false;
  const std::string tiles = inside.facts.fresh(band->rows + "_t"), size = std::to_string(rows);
  if (!inside.admits(original,
                     call("tile", "loops=[" + band->rows + "], sizes=[" + size + "]") +
                         call("split", "loop=" + band->sum + ", at=" + tiles + (begins ? ", offset=" + size : "")) +
                         call("distribute", "loop=" + band->rows) + call("distribute", "loop=" + tiles)))
    return false;
  for (auto around = band->around.rbegin(); around != band->around.rend(); ++around)
    if (!inside.admits(original, call("distribute", "loop=" + *around))) return false;
  nest = std::move(inside);
  return true;
}

}  // namespace

bool is_uneven(const NestFacts& nest, const ProductBand& band) {
  return moves_with(nest, band.sum, band.columns) || (!band.rows.empty() && moves_with(nest, band.sum, band.rows)) ||
         (!band.rows.empty() && moves_with(nest, band.rows, band.sum)) || moves_with(nest, band.columns, band.sum);
}

bool make_sums_even(Changed& nest, const NestFacts& original, std::int64_t rows) {
  bool any = false;
  for (const std::string& first : nest.facts.outermost()) any = make_even(nest, original, first, rows) || any;
  return any;
}

}  // namespace sous::transforms
