// Whether what a nest takes for granted of its sizes is so of any that programs have.
#pragma once

#include <vector>

#include "sdfg/sdfg.h"

namespace sous::frontends::c {

// Whether these (each >= 0) hold, and the region's loops have iterations, for some sizes that programs have:
// small or large, the one or the other larger, one of them (a distance, a step) negative, some of two or three sizes
// (an image and half of it in each direction). Where one loop takes an array for rows and another for one long row, a
// row would have to be as long as all of them; where a subscript moves by a stride, a window shorter than that.
bool is_plausible(const std::vector<sdfg::Expr>& assumptions, const sdfg::Region& region);

}  // namespace sous::frontends::c
