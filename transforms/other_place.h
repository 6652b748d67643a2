// What the steps share that give a container another place for as long as a loop runs, or one iteration of it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "sdfg/sdfg.h"

namespace sous::transforms {

// Whether all that touches the container inside the loop are memlets: no bound, subscript, private or reduction; and
// nothing that is written there may share memory with what it is accessed for there.
bool is_alone(const sdfg::Sdfg& sdfg, const sdfg::Loop& loop, const std::string& container);

// Whether the container's contents matter to others than the loop: it is neither transient nor dead, or touched by more
// than the nodes inside the loop.
bool is_seen_outside(const sdfg::Sdfg& sdfg, const sdfg::LoopPlace& loop, const std::string& container);

// Accesses of `from` become accesses of `to`, with the subsets that `moved` makes of theirs; nullopt: this one stays.
// (Then no access node may serve memlets of both kinds: those of assignments have one each.)
void redirect(sdfg::Region& region, const std::string& from, const std::string& to,
              const std::function<std::optional<sdfg::Subset>(const sdfg::Subset&)>& moved);

}  // namespace sous::transforms
