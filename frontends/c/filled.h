// Arrays that each iteration of a loop fills anew and reads a single element of behind that: the result of a dynamic
// program, the root of a tree of options.
#pragma once

#include <vector>

#include "sdfg/sdfg.h"

namespace sous::frontends::c {

// What makes the loops run that fill such arrays, over parameters, each >= 0: where they do not, that element would be
// what another iteration left behind, for which the whole loop had to wait. And how often those run, at least 0 times,
// that go through a row of which the statements before them set the first element, as those of a dynamic program do
// that keeps one row: then both may be one loop.
std::vector<sdfg::Expr> runs_of_filling_loops(const sdfg::Sdfg& sdfg);

}  // namespace sous::frontends::c
