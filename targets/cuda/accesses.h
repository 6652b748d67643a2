// What the threads of a block touch between two barriers.
//
// A container that threads share may be several buffers, which take turns: its first subscript then says which one, the
// same for all threads, as a number modulo how many there are. Two accesses of it are apart where these numbers differ
// by a constant that is no multiple of that. Otherwise containers are touched as a whole.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "sdfg/sdfg.h"

namespace sous::targets {

// Of each container the number of the buffer, where that is known.
using Touches = std::map<std::string, std::optional<sdfg::Expr>>;
struct Accesses {
  Touches read, written;
  void add(const Accesses& more);
  // From here on symbols have other values.
  void forget_buffers();
};

// Of the node, without the containers in `own`: what each thread has for itself.
Accesses accesses_of(const sdfg::Sdfg& sdfg, const sdfg::Node& node, const std::set<std::string>& own);

// Whether one of them may write what the other one touches.
bool conflict(const sdfg::Sdfg& sdfg, const Accesses& some, const Accesses& others);

}  // namespace sous::targets
