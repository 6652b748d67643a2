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

// The first element of a row that all iterations go through is set by itself: the row does not end before it begins.
TEST(Filled, RowsOfWhichTheFirstElementIsSet) {
  EXPECT_TRUE(is_assumed("t[0] = k; for (int j = 1; j <= m; j++) t[j] = t[j - 1] + t[j];", m));
  EXPECT_TRUE(is_assumed("t[0] = k; for (int j = 1; j <= m; j++) if (y[j] > k) t[j] = t[j - 1]; else t[j] = y[j];", m));
  EXPECT_FALSE(is_assumed("for (int j = 1; j <= m; j++) t[j] = t[j - 1] + t[j];", m));
  EXPECT_FALSE(is_assumed("for (int j = 1; j <= m; j++) t[j] = t[j - 1] + t[j]; t[0] = k;", m));   // behind it
  EXPECT_FALSE(is_assumed("t[k * o] = k; for (int j = 1; j <= m; j++) t[k * o + j] = y[j];", m));  // rows of their own
  EXPECT_FALSE(is_assumed("if (o > 3) { t[0] = k; for (int j = 1; j <= m; j++) t[j] += t[j - 1]; }", m));
}

// What says how far ahead an innermost loop reads is asked not to be negative, where the entry can look at it.
TEST(Filled, DistancesThatAreNotNegative) {
  const auto natural = [](const std::string& body) {
    const auto unit = lift(
        "void f(int n, int m, const int *restrict d, int *restrict t, const char *restrict on) {\n"
        "  for (int k = 0; k < n; k++) " +
            body + "\n}\n",
        "a.c", {"-std=gnu17"});
    EXPECT_TRUE(unit && unit->nests.size() == 1) << body;
    const sdfg::Container* d = unit && unit->nests.size() == 1 ? unit->nests[0].sdfg.find("d") : nullptr;
    return d != nullptr && d->natural;
  };
  EXPECT_TRUE(natural("for (int j = m; j >= d[k]; j--) t[j] += t[j - d[k]];"));
  EXPECT_TRUE(natural("for (int j = m; j >= 0; j--) if (j >= d[k] && t[j - d[k]] > t[j]) t[j] = t[j - d[k]];"));
  EXPECT_FALSE(natural("for (int j = d[k]; j <= m; j++) t[j] += t[j - d[k]];"));
  EXPECT_FALSE(natural("for (int j = m; j >= d[k]; j--) t[j] += 1;"));
  EXPECT_FALSE(natural("if (on[k]) for (int j = m; j >= d[k]; j--) t[j] += t[j - d[k]];"));
}

}  // namespace
}  // namespace sous::frontends::c
