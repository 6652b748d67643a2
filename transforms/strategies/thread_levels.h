// On which loops of a nest threads may be sent out, where nobody knows how long each of them is.
#pragma once

#include <string>
#include <vector>

#include "transforms/strategies/nest_facts.h"

namespace sous::transforms {

// Recipes of threads alone: on the outermost loops that threads may share; on the next ones inside of these, as far as
// there are any, which serve runs in which the outer ones are short (a batch of one); and so on, at most `most`.
// `workspaces`: also where threads want copies of what iterations use again, which takes longer to find out
// (workspaces.h).
std::vector<std::string> thread_levels(const NestFacts& nest, std::size_t most, bool workspaces);

}  // namespace sous::transforms
