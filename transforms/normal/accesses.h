// How the accesses below a loop move in memory when its symbol grows by one.
#pragma once

#include <optional>
#include <vector>

#include "sdfg/schedule_tree.h"

namespace sous::transforms::normal {

struct TreeAccess {
  sdfg::Memlet memlet;  // over the tree's loop symbols
  bool writes = false;
};
// Accesses of all leaves below, opaque statements included.
std::vector<TreeAccess> accesses_below(const sdfg::Scop& scop, const sdfg::ScheduleTree& tree);

// Stride in bytes along `symbol`, parameters taken as 1000 (sizes are unknown; outer dimensions are large). Nothing
// where the subscript is not linear in it.
std::optional<std::int64_t> byte_stride(const sdfg::Sdfg& frame, const TreeAccess& access, const std::string& symbol);

}  // namespace sous::transforms::normal
