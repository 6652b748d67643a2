#pragma once

#include <algorithm>

#include "sdfg/sdfg.h"

namespace sous::sdfg {

// The deepest nest of loops in the region, `while` included.
inline int loop_depth(const Region& region) {
  int depth = 0;
  for (const Node& node : region.nodes) {
    match(
        node.value, [](const State&) {}, [&](const Loop& l) { depth = std::max(depth, 1 + loop_depth(l.body)); },
        [&](const While& w) { depth = std::max(depth, 1 + loop_depth(w.body)); },
        [&](const If& i) { depth = std::max({depth, loop_depth(i.then_body), loop_depth(i.else_body)}); });
  }
  return depth;
}

}  // namespace sous::sdfg
