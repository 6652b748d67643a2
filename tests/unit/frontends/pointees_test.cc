// What single pointers lead to (`*n`), arrays counted from 1, and what a function has read before its nests.
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
std::string passed(const LiftedNest& nest, const std::string& argument) {
  const auto it = std::ranges::find(nest.arguments, argument, &Argument::name);
  return it == nest.arguments.end() ? "no such argument" : it->expression;
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
std::string shape(const LiftedNest& nest, const std::string& container) {
  const sdfg::Container* c = nest.sdfg.find(container);
  if (c == nullptr) return "no such container";
  std::string all;
  for (const auto& e : c->shape) all += "[" + e.to_string() + "]";
  return all;
}

// The bounds of f2c's loops are read when they are surely there.
TEST(LiftPointees, SizesPassedByAddressAreSymbols) {
  const LiftedNest n = nest(R"(void f(int *n, int *m, double *x) {
  int i, j, last;
  for (i = 1; i <= *n; i++) {
    last = *m;
    for (j = 1; j <= last; j++) x[j] += i;
  }
})");
  EXPECT_EQ(passed(n, "n"), "(*n)");
  EXPECT_EQ(passed(n, "m"), "(*m)");
  EXPECT_TRUE(has(n.guard, "(*n)")) << n.guard;
}

TEST(LiftPointees, WhatTheNestWritesOrFollowsIsNone) {
  for (const char* body : {"x[i] += *m, *m = i;", "x[i] += *m + m[1];", "x[i] += *m++;"}) {
    const auto unit = lift("void f(int n, int *m, double *x) { for (int i = 0; i < n; i++) " + std::string(body) + " }",
                           "test.c", {});
    ASSERT_TRUE(unit);
    for (const LiftedNest& n : unit->nests) EXPECT_NE(passed(n, "m"), "(*m)") << body;
  }
}

TEST(LiftPointees, AWriteOfTheSameTypeIsComparedWithIt) {
  const LiftedNest n = nest("void f(const int *n, int *x) { for (int i = 0; i < *n; i++) x[i] = i; }");
  EXPECT_TRUE(has(n.guard, "sous_apart((const void *)&((*n)), 0UL, sizeof((*n)), (const void *)(x)")) << n.guard;
}

TEST(LiftPointees, ArraysCountedFromOneHaveRowsOfTheirOwn) {
  const std::string loops = R"({
  a -= 1 + lda;
  for (int j = 1; j <= n; j++)
    for (int i = 1; i <= m; i++) a[i + j * lda] = 0;
})";
  const LiftedNest n = nest("void f(int n, int m, int lda, double *a) " + loops);
  EXPECT_EQ(shape(n, "a"), "[n][lda]");
  // m columns fit where lda is m.
  EXPECT_EQ(std::ranges::count(n.sdfg.assumptions, sdfg::Expr::symbol("lda") - sdfg::Expr::symbol("m")), 1)
      << sdfg::print(n.sdfg);
  EXPECT_EQ(passed(n, "a"), "(unsigned long)(a) + (unsigned long)(8LL * (long long)(lda) + 8LL)");
}

// What it writes is a part of the rows that it reads: nothing is shifted.
TEST(LiftPointees, TheInnerPartOfKnownRowsIsNotMoved) {
  const LiftedNest n = nest(R"(void f(int n, double *restrict a, const double *restrict b) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++) a[i * n + j] = b[i * n + j];
})");
  EXPECT_EQ(passed(n, "a"), "a");
}

const char* const before[] = {
    "if (*m == 0 || n == 0) return;",
    "if (n && !*m) return;",
    "int k = *m; if (k < 0) return;",
    "if (!*m) return;",
    "if (_Generic(*m, int: 0, default: 1)) return;",
    "if (!(*m > 0 && n > 0)) return;",
    "while (n > 100) n -= *m > 0;",
};
constexpr bool known[] = {true, false, true, true, false, true, false};

bool reads_on_entry(const std::string& text) {
  const LiftedNest n = nest("void g(void); void f(int n, const int *m, double *restrict x) { " + text +
                            " for (int i = 0; i < n; i++) if (x[i] > 0) x[i] += *m; }");
  return passed(n, "m") == "(*m)";
}

TEST(LiftPointees, WhatTheFunctionHasReadMayBeRead) {
  for (std::size_t k = 0; k < std::size(before); ++k) EXPECT_EQ(reads_on_entry(before[k]), known[k]) << before[k];
  EXPECT_FALSE(reads_on_entry(""));
}

// A function may give it back, a jump may pass the reading by, an assignment lead elsewhere.
TEST(LiftPointees, WhatMayBeGoneIsNot) {
  EXPECT_FALSE(reads_on_entry("if (*m == 0) return; g();"));
  EXPECT_TRUE(reads_on_entry("if (*m == 0) { g(); return; }"));
  EXPECT_FALSE(reads_on_entry("if (n > 3) goto on; if (*m == 0) return; on:;"));
  EXPECT_FALSE(reads_on_entry("if (*m == 0) return; m += n > 3;"));
  EXPECT_FALSE(reads_on_entry("if (sizeof(*m) == 0) return;"));
}

// A parser's functions call each other in circles: what they write is looked for once.
TEST(LiftPointees, CirclesOfCallsAreLookedIntoOnce) {
  std::string text = "int count;\n";
  constexpr int all = 12;
  const auto name = [](int k) { return "f" + std::to_string(k); };
  for (int k = 0; k < all; ++k) text += "static int " + name(k) + "(int x);\n";
  for (int k = 0; k < all; ++k) {
    text += "static int " + name(k) + "(int x) { int s = 0; if (x > 0) {";
    for (int j = 0; j < all; ++j) text += " s += " + name(j) + "(x - " + std::to_string(j + 1) + ");";
    text += " } return s; }\n";
  }
  text += "void all(int n, int *x) { for (int i = 0; i < n; i++) x[i] = f0(i) + f1(i); }\n";
  const auto unit = lift(text, "test.c", {});
  ASSERT_TRUE(unit);
  EXPECT_FALSE(unit->reasons.empty());
}

}  // namespace
}  // namespace sous::frontends::c
