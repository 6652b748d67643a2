#include "transforms/strategies/products.h"

#include <algorithm>

namespace sous::transforms {

std::vector<std::string> ProductBand::order(Sums where) const {
  std::vector<std::string> loops = around;
  if (where == Sums::Outside) loops.insert(loops.end(), sums.begin(), sums.end());
  if (!rows.empty()) loops.push_back(rows);
  loops.push_back(columns);
  if (where == Sums::Inside) loops.insert(loops.end(), sums.begin(), sums.end());
  loops.push_back(sum);
  return loops;
}

std::optional<ProductBand> product_band(const NestFacts& nest, const std::string& first) {
  ProductBand band;
  band.written = nest.band(first);
  if (!nest.is_innermost(band.written.back())) return std::nullopt;
  band.sums = nest.reductions(band.written);
  std::vector<std::string> results;
  for (const std::string& loop : nest.parallel(band.written))
    if (nest.loop(loop).role.writes_used > 0) results.push_back(loop);
  if (band.sums.empty() || results.empty()) return std::nullopt;
  band.columns = nest.most_contiguous(results);
  band.sum = band.sums.back();
  band.sums.pop_back();
  // Rows: the innermost other loop of the result, so that batches stay outside.
  for (const std::string& loop : results)
    if (loop != band.columns) band.rows = loop;
  const auto taken = [&](const std::string& l) {
    return l == band.columns || l == band.sum || l == band.rows || std::ranges::find(band.sums, l) != band.sums.end();
  };
  for (const bool parallel : {true, false}) {
    for (const std::string& loop : band.written)
      if (!taken(loop) && nest.loop(loop).parallel == parallel) band.around.push_back(loop);
  }
  return band;
}

}  // namespace sous::transforms
