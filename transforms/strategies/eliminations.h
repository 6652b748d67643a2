// Factorizations in blocks on a GPU: nests whose outermost loop eliminates, in each iteration, one row and column from
// all those behind.
#pragma once

#include <optional>
#include <string>

#include "transforms/step.h"

namespace sous::transforms {

// The steps of a blocked factorization (Dongarra, Du Croz, Hammarling, Duff 1990), of a nest that is one loop. The loop
// that eliminates comes outermost, where it is not already: what follows a sum becomes its last iteration, and sums are
// moved outward. It is cut into blocks of iterations, and what these do in turn: with the block's own rows and columns
// (in one block of the GPU, whose threads meet), with the panels beside them (many such blocks), and with everything
// behind, a product like any other. Nullopt: the nest is none, or does not take these steps. Errors: isl.budget.
Result<std::optional<std::string>> elimination_in_blocks(const Nest& nest, const StepContext& context);

}  // namespace sous::transforms
