// Memory that a loop uses anew in each iteration, as what keeps its iterations from threads.
#pragma once

#include <optional>

#include "transforms/strategies/changed.h"

namespace sous::transforms {

// The nest with a copy for each iteration of what its outermost loops fill anew before they read it, where that is all
// that keeps threads from sharing them. Nullopt: of no loop it is.
std::optional<Changed> with_own_workspaces(const NestFacts& nest);

}  // namespace sous::transforms
