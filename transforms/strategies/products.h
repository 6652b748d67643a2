// What a nest is as a product: which loops make a tile of the result, and which one sums.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "transforms/strategies/nest_facts.h"

namespace sous::transforms {

// A perfect band whose innermost loop holds statements only.
struct ProductBand {
  std::vector<std::string> written;  // as it is
  std::vector<std::string> around;   // all other loops: parallel ones first
  std::vector<std::string> sums;     // further sums
  std::string rows;                  // empty: a single row
  std::string columns, sum;
  // The further sums outside of the tile, for blocks of them; or all of them inside, while it stays in registers.
  enum class Sums : std::uint8_t { Outside, Inside };
  std::vector<std::string> order(Sums where) const;
};

// Of the outermost loop `first`. Nullopt: no loop carries a sum, or none gives elements of the result.
std::optional<ProductBand> product_band(const NestFacts& nest, const std::string& first);

}  // namespace sous::transforms
