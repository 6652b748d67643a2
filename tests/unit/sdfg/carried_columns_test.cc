// What stays in vectors while rows advance together, and what must not.
#include "sdfg/carried_columns.h"

#include <gtest/gtest.h>

#include "sdfg/text.h"

namespace sous::sdfg {
namespace {

// Rows i, of which each is a column behind the one before: the element of row i is that of column t - i.
std::string carried(const std::string& body, const std::string& rows = "simd private(v)") {
  const auto parsed = parse(
      "sdfg 1 t symbols n array A: i32[n, n] argument alias 1 array B: i32[n, n] argument alias 1 array C: i32[n] "
      "argument "
      "array s: i16[n, n] argument array best: i32 argument array sum: f64 argument array v: i32 stack transient "
      "arguments n, A, B, C, s, best, sum disjoint A, B loop t = 20 .. n { loop i = 1 .. 9 " +
      rows + " { " + body + " } }");
  EXPECT_TRUE(parsed) << parsed.error().to_string() << body;
  if (!parsed) return "";
  const auto found = carried_columns(*parsed, std::get<Loop>(parsed->root.nodes[0].value));
  if (!found) return "none";
  std::string result;
  for (const auto& [container, c] : *found) result += container + std::to_string(c.columns);
  return result;
}

const std::string own = "A[i, t - i]";

TEST(CarriedColumns, WhatRowsLeaveIsKept) {
  EXPECT_EQ(carried("s0: " + own + " = A[i, t - i - 1] + A[i - 1, t - i]"), "A1");
  EXPECT_EQ(carried("s0: " + own + " = A[i - 1, t - i - 1] + C[i]"), "A2");
  // What is ahead is as it was: in this row, in the next, and in this element.
  EXPECT_EQ(carried("s0: " + own + " = A[i, t - i - 1] + A[i, t - i + 1] + A[i + 1, t - i] + " + own), "A1");
  EXPECT_EQ(carried("s0: v[] = A[i, t - i - 1] s1: " + own + " = v[] s2: best[] = max(best[], v[])",
                    "simd private(v) reduce(max: best)"),
            "A1");
  EXPECT_EQ(carried("if (C[i] < 3) { s0: " + own + " = A[i, t - i - 1] } else { s1: " + own + " = 0 }"), "A1");
  // Of two arrays, one reads what the other has just got.
  EXPECT_EQ(carried("s0: " + own + " = B[i - 1, t - i] s1: B[i, t - i] = " + own + " + B[i, t - i - 1]"), "A0B1");
}

TEST(CarriedColumns, MemoryIsAsItWasOrNothingIsKept) {
  // Two rows before, or further behind than vectors are kept.
  EXPECT_EQ(carried("s0: " + own + " = A[i, t - i - 1] + A[i - 2, t - i]"), "none");
  EXPECT_EQ(carried("s0: " + own + " = A[i, t - i - 5]"), "none");
  EXPECT_EQ(carried("s0: " + own + " = A[i, t - i - 1] + A[i, i]"), "none");
  // Not written by all lanes, or twice, or in two places.
  EXPECT_EQ(carried("if (C[i] < 3) { s0: " + own + " = A[i, t - i - 1] }"), "none");
  EXPECT_EQ(carried("s0: " + own + " = A[i, t - i - 1] s1: " + own + " = 2"), "none");
  EXPECT_EQ(carried("s0: " + own + " = A[i, t - i - 1] s1: A[i, t - i + 1] = 2"), "none");
  // Which branch has written what the other reads?
  EXPECT_EQ(carried("if (C[i] < 3) { s0: " + own + " = A[i, t - i - 1] } else { s1: " + own + " = " + own + " }"),
            "none");
  // All rows the same element, or elements that no row lies along.
  EXPECT_EQ(carried("s0: A[0, t] = A[0, t - 1]"), "none");
  EXPECT_EQ(carried("s0: A[t - i, i] = A[t - i - 1, i]"), "none");
  // Squares of narrow elements there are none of; nothing is waited for; a sum in an order of its own.
  EXPECT_EQ(carried("s0: s[i, t - i] = s[i, t - i - 1]"), "none");
  EXPECT_EQ(carried("s0: " + own + " = C[i]"), "none");
  EXPECT_EQ(carried("s0: " + own + " = A[i, t - i - 1] s1: sum[] = sum[] + f64(" + own + ")",
                    "simd private(v) reduce(+: sum)"),
            "none");
  EXPECT_EQ(
      carried("s0: " + own + " = A[i, t - i - 1] s1: C[t] = max(C[t], " + own + ")", "simd private(v) reduce(max: C)"),
      "none");
}

// R has one row, which each row goes through two columns behind the one before; D has one element for each row.
TEST(CarriedColumns, ElementsThatAreHandedOn) {
  const auto kept = [](const std::string& body) {
    const auto parsed = parse(
        "sdfg 1 t symbols n array R: i32[n] argument array D: i32[n] argument array x: i32[n] argument array v: i32 "
        "stack transient arguments n, R, D, x loop t = 20 .. n { loop i = 1 .. 9 simd private(v) { " +
        body + " } }");
    EXPECT_TRUE(parsed) << body;
    if (!parsed) return std::string();
    const auto found = carried_columns(*parsed, std::get<Loop>(parsed->root.nodes[0].value));
    if (!found) return std::string("none");
    std::string result;
    for (const auto& [container, c] : *found) {
      static constexpr const char* kinds[] = {"own", "passed", "row"};
      result += container + " " + kinds[static_cast<int>(c.kind)] + std::to_string(c.columns) +
                (c.always ? "; " : " perhaps; ");
    }
    return result;
  };
  const std::string own = "R[t - 2*i]", left = "R[t - 2*i - 1]";
  EXPECT_EQ(kept("s0: " + own + " = " + own + " + " + left), "R passed2; ");
  EXPECT_EQ(kept("s0: v[] = " + own + " s1: " + own + " = D[i] + x[i] s2: D[i] = v[]"), "D row1; R passed2; ");
  EXPECT_EQ(kept("s0: v[] = " + own + " if (x[i] < v[]) { s1: " + own + " = " + left + " }"), "R passed2 perhaps; ");
  // What the row before has not overwritten yet.
  EXPECT_EQ(kept("s0: " + own + " = R[t - 2*i + 1] + " + left), "R passed2; ");
  // Branches that all write it need nobody who reads it.
  EXPECT_EQ(kept("if (x[i] < x[t]) { s1: " + own + " = " + left + " } else { s2: " + own + " = x[i] }"), "R passed2; ");
  // Nobody reads it in any case: it may not be there to be read.
  EXPECT_EQ(kept("if (x[i] < x[t]) { s1: " + own + " = " + left + " }"), "none");
  // What the row behind has overwritten, what is not reached, and what two rows before left behind.
  EXPECT_EQ(kept("s0: " + own + " = R[t - 2*i - 2]"), "none");
  EXPECT_EQ(kept("s0: " + own + " = R[t - 2*i + 2] + " + own), "none");
  EXPECT_EQ(kept("s0: " + own + " = " + own + " + R[i]"), "none");
  // Sums in rows that do not wait for each other.
  EXPECT_EQ(kept("s0: D[i] = D[i] + x[t]"), "none");
  // All rows have the same element at a time, or it goes the other way.
  EXPECT_EQ(kept("s0: R[t] = R[t] + R[t - 1]"), "none");
  EXPECT_EQ(kept("s0: R[t + i] = R[t + i] + R[t + i - 1]"), "none");
}

TEST(CarriedColumns, ReadsThatAreHandedOn) {
  const auto parsed = parse(
      "sdfg 1 t symbols n array A: i32[n, n] argument array x: i8[n] argument const array y: i8[n] argument const "
      "array "
      "z: i32[n] argument const array B: i32[n, n] argument const array v: i32 stack transient arguments n, A, x, y, "
      "z, "
      "B loop t = 20 .. n { loop i = 1 .. 9 "
      "simd private(v) { if (i32(y[t - i]) == z[t]) { s0: v[] = i32(x[i]) + z[t - 2*i] } else { s1: v[] = i32(x[i]) } "
      "s2: A[i, t - i] = A[i, t - i - 1] + v[] + B[t, i] + B[i, t] } }");
  ASSERT_TRUE(parsed);
  std::string result;
  for (const CarriedElement& c : passed_reads(*parsed, std::get<Loop>(parsed->root.nodes[0].value)))
    result += c.place.container + std::to_string(c.columns) + (c.kind == CarriedElement::Kind::Row ? " row; " : "; ");
  EXPECT_EQ(result, "y1; x1 row; ");
}

TEST(CarriedColumns, ContainersThatMayOverlapAreNotKept) {
  auto parsed = parse(
      "sdfg 1 t symbols n array A: i32[n, n] argument alias 1 array B: i32[n] argument alias 1 arguments n, A, B "
      "loop t = 20 .. n { loop i = 1 .. 9 simd { s0: A[i, t - i] = A[i, t - i - 1] + B[i] } }");
  ASSERT_TRUE(parsed);
  const auto kept = [&] { return carried_columns(*parsed, std::get<Loop>(parsed->root.nodes[0].value)).has_value(); };
  EXPECT_FALSE(kept());
  parsed->disjoint = {{"B", "A"}};
  EXPECT_TRUE(kept());
}

}  // namespace
}  // namespace sous::sdfg
