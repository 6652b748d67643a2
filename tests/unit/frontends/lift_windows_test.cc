// Windows that slide over what is read: how far their subscripts reach, as conditions tell.
#include <gtest/gtest.h>

#include "frontends/c/lift.h"

namespace sous::frontends::c {
namespace {

// The only nest.
LiftedNest nest(const std::string& text) {
  auto unit = lift(text, "test.c", {});
  EXPECT_TRUE(unit.has_value()) << unit.error().to_string();
  EXPECT_EQ(unit->nests.size(), 1u);
  return unit->nests.empty() ? LiftedNest{} : unit->nests[0];
}

// Of filters with borders, strides and gaps that are open no more is known than what their conditions ask.
TEST(LiftWindows, ConditionsWithStridesSayHowFarASubscriptReaches) {
  const sdfg::Expr n = sdfg::Expr::symbol("n");
  const auto in = [](const std::string& with_p) {
    return nest(R"(void f(int n, int m, int taps, int stride, int border, int gap, const float *restrict x,
                          const float *restrict w, float *restrict y) {
  for (int i = 0; i < m; i++) {
    float s = 0;
    for (int k = 0; k < taps; k++) {
      int p = i * stride - border + k * gap;
      )" + with_p +
                R"(
    }
    y[i] = s;
  }
})");
  };
  for (const char* with_p : {
           "if (p >= 0 && p < n) s += x[p] * w[k];",
           "if (p < 0 || p >= n) continue; s += x[p] * w[k];",
           "if (p >= 0) if (n > p) s += x[p] * w[k];",
           // What is read to be asked, too, and what follows.
           "if (p >= 0 && p < n && x[p] > s) s = x[p];",
           "if (p < 0 || p >= n || x[p] < s) continue; s = x[p];",
       }) {
    const LiftedNest lifted = in(with_p);
    ASSERT_NE(lifted.sdfg.find("x"), nullptr);
    EXPECT_EQ(lifted.sdfg.find("x")->shape, std::vector{n}) << with_p;
    EXPECT_TRUE(lifted.sdfg.assumptions.empty()) << with_p << " " << lifted.sdfg.assumptions[0].to_string();
  }
  // On one side alone: the other end follows from the loops, and strides are rather positive than negative.
  const LiftedNest causal = nest(R"(void f(int n, int taps, int gap, const float *restrict x, const float *restrict w,
                                             float *restrict y) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < taps; k++)
      if (i - k * gap >= 0) y[i] += x[i - k * gap] * w[k];
})");
  ASSERT_NE(causal.sdfg.find("x"), nullptr);
  EXPECT_EQ(causal.sdfg.find("x")->shape, std::vector{n});
  EXPECT_EQ(causal.sdfg.assumptions, std::vector{sdfg::Expr::symbol("gap")});
}

}  // namespace
}  // namespace sous::frontends::c
