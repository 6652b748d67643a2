// A nest without its sizes: how long its loops and how large its arrays are says how much there is to do, not what. The
// same nest over `double A[700][700]`, over `double A[1000][1200]` and over sizes that only the run knows is one nest
// here, so that what was measured of one speaks for the others, as far as its shape and size reach
// (tuning-db/shape.h). Nothing is proven by it: whoever uses a recipe of another size proves it on the nest at hand.
#pragma once

#include <cstdint>
#include <string>

#include "sdfg/sdfg.h"

namespace sous::transforms {

// Numbers below this are structure: windows, taps, components, small blocks. Evidence for no loop reaches below it
// either (`sous bench shapes`).
inline constexpr std::int64_t least_size_constant = 32;

// Of bounds, shapes, strides and subscripts, what symbols of the graph and large constants add, or scale a loop
// variable by, becomes one symbol, however they make it up: n - 1 and 699, n * i and 700 * i. Divisors stay.
sdfg::Sdfg without_sizes(const sdfg::Sdfg& sdfg);

// The structural hash of a canonical nest without its sizes.
std::string sizeless_hash(const sdfg::Sdfg& canonical);

// Whether two nests with canonical names differ in sizes alone: loops, states and containers of one are those of the
// other.
bool differ_in_sizes_alone(const sdfg::Sdfg& a, const sdfg::Sdfg& b);

}  // namespace sous::transforms
