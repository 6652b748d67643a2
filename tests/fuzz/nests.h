// Small nests in canonical names: what recipes from outside are applied to, and what queries ask for.
#pragma once

#include <array>
#include <string_view>

namespace sous::fuzz {

inline constexpr std::string_view product = R"(sdfg 1 nest
symbols n0, n1, n2
array a0: f64[n0, n1] argument
array a1: f64[n0, n2] argument
array a2: f64[n2, n1] argument
arguments n0, n1, n2, a0, a1, a2

loop i0 = 0 .. n0 {
  loop i1 = 0 .. n2 {
    loop i2 = 0 .. n1 {
      s0: a0[i0, i2] = a0[i0, i2] + a1[i0, i1] * a2[i1, i2]
    }
  }
}
)";

inline constexpr std::string_view stencil = R"(sdfg 1 nest
symbols n0, n1
array a0: f64[n0, n0] argument
array a1: f64[n0, n0] argument
arguments n0, n1, a0, a1

loop i0 = 0 .. n1 {
  loop i1 = 1 .. n0 - 1 {
    loop i2 = 1 .. n0 - 1 {
      s0: a0[i1, i2] = 0.25 * (a1[i1, i2 - 1] + a1[i1, i2 + 1] + a1[i1 - 1, i2] + a1[i1 + 1, i2])
    }
  }
  loop i3 = 1 .. n0 - 1 {
    loop i4 = 1 .. n0 - 1 {
      s1: a1[i3, i4] = a0[i3, i4]
    }
  }
}
)";

inline constexpr std::string_view triangle = R"(sdfg 1 nest
symbols n0
array a0: f64[n0, n0] argument
array a1: f64[n0] argument
arguments n0, a0, a1

loop i0 = 0 .. n0 {
  loop i1 = 0 .. i0 {
    s0: a1[i0] = a1[i0] - a0[i0, i1] * a1[i1]
  }
}
)";

inline constexpr std::array nests = {product, stencil, triangle};

}  // namespace sous::fuzz
