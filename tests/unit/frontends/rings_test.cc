// Complex numbers, and loops that are taken apart where a ring closes.
#include <gtest/gtest.h>

#include <algorithm>

#include "frontends/c/lift.h"
#include "sdfg/text.h"

namespace sous::frontends::c {
namespace {

LiftedNest nest(const std::string& text, const std::vector<std::string>& arguments = {}) {
  const auto unit = lift(text, "test.c", arguments);
  EXPECT_TRUE(unit && unit->nests.size() == 1) << (unit && !unit->reasons.empty() ? unit->reasons[0].why : "none");
  return unit && !unit->nests.empty() ? unit->nests[0] : LiftedNest{};
}
std::string reason(const std::string& text, const std::vector<std::string>& arguments = {}) {
  const auto unit = lift(text, "test.c", arguments);
  return unit && !unit->reasons.empty() ? unit->reasons[0].code : "none";
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
int loops(const LiftedNest& n) {
  int count = 0;
  sdfg::visit(n.sdfg.root, [&](const sdfg::Node& node) { count += std::holds_alternative<sdfg::Loop>(node.value); });
  return count;
}

const std::string product =
    "void f(int n, const _Complex double *a, const _Complex double *restrict b, _Complex double *restrict c) {"
    "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) c[i * n + j] = a[i * n + j] * b[j * n + i]; }";

TEST(Complex, AnElementIsAnArrayOfTwoInItsRow) {
  const LiftedNest n = nest(product, {"-fcx-limited-range"});
  const sdfg::Container* c = n.sdfg.find("c");
  ASSERT_NE(c, nullptr);
  EXPECT_EQ(c->shape.size(), 3U) << sdfg::print(n.sdfg);
  EXPECT_EQ(c->shape.back(), sdfg::Expr(2));
  EXPECT_TRUE(has(sdfg::print(n.sdfg), "uncontracted(a[i, j, 0] * b[j, i, 0])")) << sdfg::print(n.sdfg);
}

TEST(Complex, InfinitiesAreRecoveredWhereNeitherPartIsANumber) {
  EXPECT_TRUE(has(sdfg::print(nest(product).sdfg), "inf(f64)"));
  EXPECT_FALSE(has(sdfg::print(nest(product, {"-fcx-limited-range"}).sdfg), "inf(f64)"));
}

TEST(Complex, WhatContractsAcrossExpressionsIsLeftToTheCompiler) {
  EXPECT_EQ(reason(product, {"-ffp-contract=fast", "-mfma"}), "c.floating-point");
  EXPECT_EQ(reason(product, {"-ffp-contract=fast"}), "none");
  // Of sums, where both hold a product, of which one is fused; and all that is in the function of one.
  const std::string head = "void f(int n, const double *x, _Complex double *restrict z) { for (int i = 0; i < n; i++) ";
  EXPECT_EQ(reason(head + "z[i] = z[i] + x[i] * x[n - i]; }", {"-ffp-contract=fast", "-mfma"}), "none");
  EXPECT_EQ(
      reason(head + "z[i] = __builtin_complex(x[i] * x[i], 1.0) + x[i] * x[n - i]; }", {"-ffp-contract=fast", "-mfma"}),
      "c.floating-point");
  EXPECT_EQ(reason(head + "z[i] = x[i] - z[i]; }", {"-ffp-contract=fast", "-mfma"}), "none");
  const auto two = lift(head + "z[i] *= 2; for (int i = 0; i < n; i++) z[i] += x[i]; }" +
                            "void g(int n, double *x) { for (int i = 0; i < n; i++) x[i] += 1; }",
                        "test.c", {"-ffp-contract=fast", "-mfma"});
  ASSERT_TRUE(two && two->nests.size() == 1);
  EXPECT_EQ(two->nests[0].function, "g");
}

TEST(Complex, MoreThanEightProductsWhoseInfinitiesCountAreLeft) {
  std::string many = "void f(int n, _Complex double *a) { for (int i = 0; i < n; i++) a[i] = a[i]";
  for (int k = 0; k < 8; ++k) many += " * a[i]";
  EXPECT_EQ(reason(many + "; }"), "none");
  EXPECT_EQ(reason(many + " * a[i]; }"), "c.floating-point");
  EXPECT_EQ(reason(many + " * a[i]; }", {"-fcx-limited-range"}), "none");
}

// One alone is left, not all nests of the file for want of its address.
TEST(Complex, RegistersHaveNoAddress) {
  EXPECT_EQ(reason("_Complex double f(int n, const _Complex double *z) { register _Complex double s = 0;"
                   "for (int i = 0; i < n; i++) s += z[i]; return s; }"),
            "c.register");
  EXPECT_EQ(reason("struct s { int a, b; }; int f(int n, const int *x) { register struct s t = {0, 0};"
                   "for (int i = 0; i < n; i++) t.a += x[i]; return t.a; }"),
            "c.register");
}

TEST(Rings, AreTakenApartAtTheirEnds) {
  for (const char* next : {"(i + 1) % n", "i == n - 1 ? 0 : i + 1", "i + 1 < n ? i + 1 : 0"}) {
    const LiftedNest n = nest(
        "void f(int n, const double *restrict x, double *restrict y) {"
        "for (int i = 0; i < n; i++) y[i] = x[" +
        std::string(next) + "]; }");
    const std::string text = sdfg::print(n.sdfg);
    EXPECT_EQ(loops(n), 3) << text;
    EXPECT_TRUE(has(text, "assume n - 2 >= 0") && !has(text, "mod")) << text;
  }
}

TEST(Rings, TheFirstIsTheOneThatIsZero) {
  for (const char* before : {"i ? i - 1 : n - 1", "!i ? n - 1 : i - 1", "i != 0 ? i - 1 : n - 1"}) {
    const LiftedNest n = nest(
        "void f(int n, const double *restrict x, double *restrict y) {"
        "for (int i = 0; i < n; i++) { y[i] = x[" +
        std::string(before) + "]; if (i) y[i] += 1; } }");
    const std::string text = sdfg::print(n.sdfg);
    EXPECT_EQ(loops(n), 3) << text;
    EXPECT_FALSE(has(text, "if (") || has(text, "select")) << text;
  }
}

TEST(Rings, ThreeDimensionsAreTakenApartInTheTwoInnermost) {
  const std::string at = "x[((i + 1) % n * n + (j + 1) % n) * n + (k + 1) % n]";
  const LiftedNest n = nest(
      "void f(int n, const double *restrict x, double *restrict y) { for (int i = 0; i < n; i++)"
      "for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) y[(i * n + j) * n + k] = " +
      at + "; }");
  EXPECT_EQ(loops(n), 1 + 3 + 9) << sdfg::print(n.sdfg);
}

TEST(Rings, ABorderThatRepeatsItsLastElementIsNone) {
  for (const char* next :
       {"i < n - 1 ? i + 1 : n - 1", "i > 0 ? i - 1 : 0", "i < 9 ? i : 9", "(i * 7) % n", "(i + 1) % 7"})
    EXPECT_EQ(loops(nest("void f(int n, const double *restrict x, double *restrict y) {"
                         "for (int i = 0; i < n; i++) y[i] = x[" +
                         std::string(next) + "]; }")),
              1)
        << next;
}

}  // namespace
}  // namespace sous::frontends::c
