// Sets and relations from isl's notation. Internal to sdfg/.
//
// isl's own reader makes a piecewise expression of each side of each comparison and intersects what comes of it one
// after the other: that took a third of the time in which a long recipe is applied, and a seventh where a nest's
// conditions are !=. Nearly all texts of ours are a few conjunctions, each the rows of a matrix; these are read here,
// and what is none (min, max) by isl.
#pragma once

#include <string>

#include "sdfg/isl_handle.h"

namespace sous::sdfg {

IslSet read_isl_set(isl_ctx* context, const std::string& text);
IslMap read_isl_map(isl_ctx* context, const std::string& text);

}  // namespace sous::sdfg
