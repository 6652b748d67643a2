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
