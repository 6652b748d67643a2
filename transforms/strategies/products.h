// What a nest is as a product: which loops make a tile of the result, and which one sums.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "transforms/strategies/nest_facts.h"

namespace sous::transforms {

// A perfect band whose innermost loop holds statements only, in the order around, rows, columns, sum.
struct ProductBand {
  std::vector<std::string> written;  // as it is
  std::vector<std::string> around;   // all other loops: parallel ones first, then further sums
  std::string rows;                  // empty: a single row
  std::string columns, sum;
  std::vector<std::string> order() const;
};

// Of the outermost loop `first`. Nullopt: no loop carries a sum, or none gives elements of the result.
std::optional<ProductBand> product_band(const NestFacts& nest, const std::string& first);

}  // namespace sous::transforms
