// Which arrays a graph writes from end to end, and of which it reads what was there before.
#pragma once

#include <set>
#include <string>

#include "sdfg/dependences.h"

namespace sous::sdfg {

// The containers of which every element, as the shape says, is surely written whenever the graph runs. One of which it
// cannot be told, or not within the budget, is not among them.
std::set<std::string> written_whole(const Sdfg& sdfg, const Budget& budget = {});

// Whether each run of the graph, whatever the values of its parameters (which are as it assumes), reads of the
// container only what the same run has written before. False also where that is not known.
bool reads_only_its_own(const Sdfg& sdfg, const std::string& container);

}  // namespace sous::sdfg
