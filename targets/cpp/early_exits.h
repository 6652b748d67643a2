// Where a while loop is left in the middle of its body.
//
// The normal form has no `break`: a flag is cleared, and what follows in the body runs only while it is set. Printed as
// such, LLVM turns the flag and what depends on it into selects, and each iteration waits for the one before (a search
// for the first match took ten times as long as the program's own loop). A `break` keeps the exit a branch.
#pragma once

#include <set>

#include "sdfg/sdfg.h"

namespace sous::targets {

// The states behind which nothing runs before the loop ends, so that a `break` may stand there: they clear (or set) the
// temporary scalar that the loop goes on for, and what follows in its body, if anything, runs only where it goes on.
// Pointers are into `loop`; loops inside it have exits of their own.
std::set<const sdfg::State*> early_exits(const sdfg::While& loop, const sdfg::Sdfg& sdfg);

}  // namespace sous::targets
