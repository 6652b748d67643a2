// Loops that fill what an iteration reads a single element of: that they run is asked on entry.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "frontends/c/lift.h"
#include "sdfg/text.h"

namespace sous::frontends::c {
namespace {

// What is assumed of the only nest with this body: for n iterations, a table of doubles t and another one y.
std::vector<sdfg::Expr> assumed(const std::string& body) {
  const std::string text =
      "void f(int n, int m, int o, double *restrict t, double *restrict y) {\n  for (int k = 0; k < n; k++) {" + body +
      "}\n}\n";
  const auto unit = lift(text, "a.c", {"-std=gnu17"});
  EXPECT_TRUE(unit && unit->nests.size() == 1) << text;
  return unit && unit->nests.size() == 1 ? unit->nests[0].sdfg.assumptions : std::vector<sdfg::Expr>{};
}
bool is_assumed(const std::string& body, const sdfg::Expr& what) { return std::ranges::count(assumed(body), what) > 0; }

const sdfg::Expr m = sdfg::Expr::symbol("m"), o = sdfg::Expr::symbol("o");

TEST(Filled, TheLoopThatFillsWhatOneElementIsReadOfRuns) {
  const std::string fill = "for (int j = 0; j < m; j++) t[j] = k + j; ",
                    walk = "for (int i = m - 1; i > 0; i--) for (int j = 0; j < i; j++) t[j] += t[j + 1]; ";
  EXPECT_TRUE(is_assumed(fill + walk + "y[k] = t[0];", m - 1));
  // What comes back to the same elements need not run; what fills others has to.
  EXPECT_FALSE(is_assumed(fill + "for (int p = 0; p < o; p++) t[0] *= 2; y[k] = t[0];", o - 1));
  EXPECT_TRUE(is_assumed(
      "for (int j = 0; j < m; j++) t[j] = k + j; for (int i = 0; i < o; i++) t[7 + i] = i; y[k] = t[8];", o - 1));
}

TEST(Filled, OtherwiseNothingIsAssumed) {
  const std::string fill = "for (int j = 0; j < m; j++) t[j] = k + j; ";
  EXPECT_FALSE(is_assumed(fill + "for (int j = 0; j < m; j++) y[k] += t[j];", m - 1));  // by what fills it
  EXPECT_FALSE(is_assumed("y[k] = t[0]; " + fill, m - 1));                              // ahead of it
  EXPECT_FALSE(is_assumed(fill + "t[m + k] = 1; y[k] = t[0];", m - 1));                 // each its own
  EXPECT_FALSE(is_assumed("if (o > 3) { " + fill + "} y[k] = t[0];", m - 1));           // filled or not
  EXPECT_FALSE(is_assumed("for (int j = 0; j < k; j++) t[j] = j; y[k] = t[0];", m - 1));
}

}  // namespace
}  // namespace sous::frontends::c
