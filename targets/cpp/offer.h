// The lines of an entry that decide whether the GPU takes a call (targets::Offer).
#pragma once

#include <string>

#include "targets/cpp/expressions.h"
#include "targets/target.h"

namespace sous::targets {

// "sous::gpu::Offer offer({…}, work, launches);"
std::string offer_text(const Offer& offer, const sdfg::Region& emitted, const Expressions& expressions,
                       const std::string& name);

// Launches are counted as executions of a region are: what is one launch, as one statement.
sdfg::Region launches(const sdfg::Region& emitted);

}  // namespace sous::targets
