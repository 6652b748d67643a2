// Sums whose length is another one in each row (triangular and symmetric matrices), for tiles of results that sum
// alike.
#pragma once

#include <cstdint>

#include "transforms/strategies/changed.h"
#include "transforms/strategies/products.h"

namespace sous::transforms {

// Whether the sum begins or ends elsewhere in each row or column.
bool is_uneven(const NestFacts& nest, const ProductBand& band);

// Cuts the rows of such products into tiles of so many, and each sum at the tile's end: what all rows of a tile sum
// becomes a nest of its own, ahead of what is left, or behind it. Whether there was one.
bool make_sums_even(Changed& nest, const NestFacts& original, std::int64_t rows);

}  // namespace sous::transforms
