#include "transforms/strategies/products.h"

#include <algorithm>

namespace sous::transforms {

std::vector<std::string> ProductBand::order() const {
  std::vector<std::string> loops = around;
  if (!rows.empty()) loops.push_back(rows);
  loops.push_back(columns);
  loops.push_back(sum);
  return loops;
}

std::optional<ProductBand> product_band(const NestFacts& nest, const std::string& first) {
  ProductBand band;
  band.written = nest.band(first);
  if (!nest.is_innermost(band.written.back())) return std::nullopt;
  const auto sums = nest.reductions(band.written);
  std::vector<std::string> results;
  for (const std::string& loop : nest.parallel(band.written))
    if (nest.loop(loop).role.writes_used > 0) results.push_back(loop);
  if (sums.empty() || results.empty()) return std::nullopt;
  band.columns = nest.most_contiguous(results);
  band.sum = sums.back();
  // Rows: the innermost other loop of the result, so that batches stay outside.
  for (const std::string& loop : results)
    if (loop != band.columns) band.rows = loop;
  const auto taken = [&](const std::string& l) { return l == band.columns || l == band.sum || l == band.rows; };
  for (const bool parallel : {true, false}) {
    for (const std::string& loop : band.written)
      if (!taken(loop) && nest.loop(loop).parallel == parallel) band.around.push_back(loop);
  }
  return band;
}

}  // namespace sous::transforms
