// Sweeps over grids in a loop in time, and sizes to run them with: what the tests of overlap and time_tile share.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sdfg/text.h"
#include "tests/support/rewritten.h"

namespace sous::transforms {

using sdfg::Sdfg;

inline Sdfg nest(const std::string& containers, const std::string& arguments, const std::string& body) {
  const auto sdfg =
      sdfg::parse("sdfg 1 t symbols n, m, s " + containers + " arguments n, m, s, " + arguments + " " + body);
  if (!sdfg) ADD_FAILURE() << sdfg.error().to_string();
  return sdfg.value_or(Sdfg{});
}

inline const std::string grids = "array A: f64[n, m] argument array B: f64[n, m] argument";
inline const std::string inner = "loop i = 1 .. n - 1 { loop j = 1 .. m - 1 { ";
inline const std::string inner2 = "loop k = 1 .. n - 1 { loop l = 1 .. m - 1 { ";

// Between two grids, five points.
inline const Sdfg between =
    nest(grids, "A, B",
         "loop t = 0 .. s { " + inner +
             "s0: B[i, j] = (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j]) * 0.2 } } " + inner2 +
             "s1: A[k, l] = (B[k, l] + B[k, l - 1] + B[k, l + 1] + B[k + 1, l] + B[k - 1, l]) * 0.2 } } }");
// Fields that are updated where they are, with an edge that is given for each time; grids that differ in where they are
// written.
inline const Sdfg fields = nest(
    "array X: f32[n, m] argument array Y: f32[n, m] argument array H: f32[n, m] argument array edge: f32[s] argument",
    "X, Y, H, edge",
    "loop t = 0 .. s { loop j = 0 .. m { s0: Y[0, j] = edge[t] } "
    "loop i1 = 1 .. n { loop j1 = 0 .. m { s1: Y[i1, j1] = Y[i1, j1] - f32(0.5) * (H[i1, j1] - H[i1 - 1, j1]) } } "
    "loop i2 = 0 .. n { loop j2 = 1 .. m { s2: X[i2, j2] = X[i2, j2] - f32(0.5) * (H[i2, j2] - H[i2, j2 - 1]) } } "
    "loop i3 = 0 .. n - 1 { loop j3 = 0 .. m - 1 { s3: H[i3, j3] = H[i3, j3] - f32(0.7) * (X[i3, j3 + 1] - X[i3, j3] + "
    "Y[i3 + 1, j3] - Y[i3, j3]) } } }");
// Corners, a copy back, and integers, whose values depend on time and place.
inline const Sdfg corners =
    nest("array A: i32[n, m] argument array B: i32[n, m] argument array w: i32[m] argument", "A, B, w",
         "loop t = 1 .. s { loop i = 1 .. n - 1 { loop j = 2 .. m - 1 { "
         "s0: B[i, j] = A[i - 1, j - 2] + A[i + 1, j + 1] * w[j] - A[i, j] } } "
         "loop k = 1 .. n - 1 { loop l = 2 .. m - 1 { s1: A[k, l] = B[k, l] + {t + k}i32 } } }");
inline const Sdfg line = nest("array x: f64[n] argument array y: f64[n] argument", "x, y",
                              "loop t = 0 .. s { loop i = 1 .. n - 1 { s0: y[i] = (x[i - 1] + x[i] + x[i + 1]) * 0.3 } "
                              "loop j = 1 .. n - 1 { s1: x[j] = (y[j - 1] + y[j] + y[j + 1]) * 0.3 } }");
inline const Sdfg cube =
    nest("array A: f64[n, m, n] argument array B: f64[n, m, n] argument", "A, B",
         "loop t = 0 .. s { loop i = 1 .. n - 1 { loop j = 1 .. m - 1 { loop k = 1 .. n - 1 { "
         "s0: B[i, j, k] = A[i + 1, j, k] - A[i - 1, j, k] + A[i, j + 1, k] - A[i, j, k - 1] } } } "
         "loop i2 = 1 .. n - 1 { loop j2 = 1 .. m - 1 { loop k2 = 1 .. n - 1 { "
         "s1: A[i2, j2, k2] = B[i2 + 1, j2, k2] * 0.5 + B[i2, j2 - 1, k2] + B[i2, j2, k2 + 1] } } } }");

inline std::vector<tests::Sizes> sizes() {
  std::vector<tests::Sizes> all;
  for (const auto& [n, m] : {std::pair{9, 11}, {1, 7}, {2, 2}, {3, 3}, {17, 5}, {0, 4}})
    for (const int s : {0, 1, 3, 5, 8}) all.push_back({{"n", n}, {"m", m}, {"s", s}});
  return all;
}

}  // namespace sous::transforms
