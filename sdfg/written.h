// Which arrays a graph writes from end to end.
#pragma once

#include <set>
#include <string>

#include "sdfg/dependences.h"

namespace sous::sdfg {

// The containers of which every element, as the shape says, is surely written whenever the graph runs. One of which it
// cannot be told, or not within the budget, is not among them.
std::set<std::string> written_whole(const Sdfg& sdfg, const Budget& budget = {});

}  // namespace sous::sdfg
