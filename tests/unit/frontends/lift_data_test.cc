// Where data lies: rows by pointers, structures in arrays, scalars beside arrays, what data leads to.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "frontends/c/lift.h"
#include "sdfg/text.h"
#include "sdfg/unknown_extent.h"

namespace sous::frontends::c {
namespace {

TranslationUnit lifted(const std::string& text, const std::vector<std::string>& arguments = {}) {
  auto unit = lift(text, "test.c", arguments);
  EXPECT_TRUE(unit.has_value()) << unit.error().to_string();
  return unit ? *unit : TranslationUnit{};
}

// The only nest, or its reason.
LiftedNest nest(const std::string& text, const std::vector<std::string>& arguments = {}) {
  TranslationUnit unit = lifted(text, arguments);
  EXPECT_EQ(unit.nests.size(), 1u) << (unit.reasons.empty() ? "no reasons" : unit.reasons[0].why);
  return unit.nests.empty() ? LiftedNest{} : unit.nests[0];
}
std::string reason(const std::string& text, const std::vector<std::string>& arguments = {}) {
  TranslationUnit unit = lifted(text, arguments);
  EXPECT_EQ(unit.nests.size(), 0u);
  return unit.reasons.empty() ? "" : unit.reasons[0].code;
}
std::string passed(const LiftedNest& nest, const std::string& argument) {
  const auto it = std::ranges::find(nest.arguments, argument, &Argument::name);
  return it == nest.arguments.end() ? "no such argument" : it->expression;
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// The alias classes of the containers: which may be the same memory.
std::string classes(const LiftedNest& nest) {
  std::map<int, std::string> members;
  std::string all;
  for (const sdfg::Container& c : nest.sdfg.containers)
    if (c.alias_class != 0) members[c.alias_class] += (members[c.alias_class].empty() ? "" : "=") + c.name;
  for (const auto& [number, names] : members)
    if (has(names, "=")) all += (all.empty() ? "" : " ") + names;
  // What the entry has to look at data for, to compare.
  for (const auto& [a, b] : nest.sdfg.disjoint)
    if (sdfg::ends_by_data(*nest.sdfg.find(a)) || sdfg::ends_by_data(*nest.sdfg.find(b)))
      all += (all.empty() ? "" : " ") + a + "|" + b;
  return all;
}

TEST(LiftRows, RowsNeedNotBeMultiplesOfEachOther) {
  const LiftedNest n = nest(R"(void f(int n, int row, int heads, int size, float *x) {
  for (int i = 0; i < n; i++)
    for (int h = 0; h < heads; h++)
      for (int k = 0; k < size; k++) x[i * row + h * size + k] = k;
})");
  const sdfg::Expr row = sdfg::Expr::symbol("row"), size = sdfg::Expr::symbol("size"),
                   heads = sdfg::Expr::symbol("heads");
  ASSERT_NE(n.sdfg.find("x"), nullptr);
  EXPECT_EQ(n.sdfg.find("x")->strides, (std::vector<sdfg::Expr>{row, size, sdfg::Expr(1)}));
  EXPECT_TRUE(has(sdfg::print(n.sdfg), "x[i, h, k]")) << sdfg::print(n.sdfg);
  EXPECT_EQ(std::ranges::count(n.sdfg.assumptions, row - heads * size), 1) << sdfg::print(n.sdfg);
}

TEST(LiftRows, OfWhatIsOnlyReadNoRowsAreAssumed) {
  const LiftedNest n = nest(R"(void f(int n, int row, int heads, int size, const float *restrict x, float *restrict y) {
  for (int i = 0; i < n; i++)
    for (int h = 0; h < heads; h++)
      for (int k = 0; k < size; k++) y[k] += x[i * row + h * size + k];
})");
  ASSERT_NE(n.sdfg.find("x"), nullptr);
  EXPECT_EQ(n.sdfg.find("x")->shape.size(), 1u) << sdfg::print(n.sdfg);
}

// Whether the two arrays are told apart on entry.
bool told_apart(const std::string& body) {
  const LiftedNest n =
      nest("static const int table[3] = {-1, 0, 2};\nvoid f(int n, int m, double by, int *x, const int *y) {\n" + body +
           "\n}\n");
  const bool apart = classes(n).empty();
  EXPECT_EQ(apart, !n.sdfg.disjoint.empty() || (has(n.guard, "x") && has(n.guard, "y"))) << n.guard;
  return apart;
}

TEST(LiftAliases, ClampsAndConditionsSayHowFarASubscriptReaches) {
  const auto loop = [](const std::string& at) { return "for (int i = 0; i < n; i++) {" + at + "}"; };
  EXPECT_TRUE(told_apart(loop("int k = (int)(by * i); k = k < 0 ? 0 : k > m - 1 ? m - 1 : k; x[i] = y[k];")));
  EXPECT_TRUE(told_apart(loop("int k = (int)(by * i); if (k < 0) k = 0; if (k >= m) k = m - 1; x[i] = y[k];")));
  EXPECT_TRUE(told_apart(loop("int k = (int)(by * i); x[i] = 0; if (k >= 0 && k < m) x[i] = y[k];")));
  EXPECT_TRUE(told_apart(loop("for (int j = 0; j < 3; j++) { int k = (i + table[j] + n) % n; x[3 * i + j] = y[k]; }")));
  EXPECT_TRUE(told_apart(loop("for (int j = 0; j < 3; j++) x[3 * i + j] = y[i + table[j]];")));
  // Bounded on one side, behind the condition, or before what bounds it.
  EXPECT_FALSE(told_apart(loop("int k = (int)(by * i); k = k < 0 ? 0 : k; x[i] = y[k];")));
  EXPECT_FALSE(told_apart(loop("int k = (int)(by * i); if (k >= 0 && k < m) x[i] = 0; x[i] += y[k];")));
  EXPECT_FALSE(told_apart("int k = 0; " + loop("x[i] = y[k]; k = (int)(by * i); if (k < 0) k = 0; ")));
  // Of the nest's own variable, what an iteration leaves to the next.
  EXPECT_FALSE(told_apart(loop("int k = 0; for (int j = 0; j < m; j++) { x[i] += y[k]; k = (int)(by * j); }")));
}

TEST(LiftAliases, WhatIterationsLeaveBehindSaysHowFarASubscriptReaches) {
  const auto loop = [](const std::string& at) { return "for (int i = 0; i < n; i++) {" + at + "}"; };
  EXPECT_TRUE(told_apart(loop("int k = m - 1; for (int j = 0; j < m; j++) { x[i] += y[k]; k = j; }")));
  EXPECT_TRUE(told_apart(loop("x[i] = 0; for (int j = 0, k = m - 1; j < m; k = j++) if (y[k] > i) x[i]++;")));
  EXPECT_TRUE(told_apart(loop("int k = 0; for (int j = 1; j < m; j++) if (y[j] > y[k]) k = j; x[i] = y[k];")));
  EXPECT_TRUE(told_apart(loop("int k = 0, l = 0; for (int j = 0; j < m; j++) { x[i] += y[l]; l = k; k += 1; }")));
  // It moves on, nobody knows how often.
  EXPECT_FALSE(told_apart(loop("int k = 0; for (int j = 0; j < m; j++) { x[i] += y[k]; k += y[j] & 1; }")));
  EXPECT_FALSE(told_apart(loop("int k = 0; for (int j = 0; j < m; j++) { x[i] += y[k]; if (y[j]) k = k + j; }")));
  // Behind a loop that may not have run, the value from before it is one of those.
  const LiftedNest n = nest(R"(void f(int n, int m, int c, int *x, const int *y) {
  for (int i = 0; i < n; i++) { int k = c; for (int j = 0; j < m; j++) k = j; x[i] = y[k]; }
})");
  EXPECT_TRUE(has(n.guard, "(c)")) << n.guard;
}

TEST(LiftAliases, IntegerArithmeticSaysHowFarASubscriptReaches) {
  const auto loop = [](const std::string& at) { return "for (int i = 0; i < n; i++) {" + at + "}"; };
  EXPECT_TRUE(told_apart(loop("int k = (int)(((long long)i * m << 8) / n); x[i] = y[k >> 8];")));
  EXPECT_TRUE(told_apart(loop("int k = i * m / n; x[i] = k + 1 < m ? y[k + 1] : y[k];")));
  EXPECT_TRUE(told_apart(loop("x[i] = y[i * m / n];")));
  EXPECT_TRUE(told_apart(loop("for (int j = 0; j < m; j++) x[i * m + j] = y[(i * m / n) * m + j];")));
  EXPECT_TRUE(told_apart(loop("int k = (int)(by * i) & 63; x[i] = y[k] + y[63 - k];")));
  EXPECT_TRUE(told_apart(loop("int k = ((int)(by * i) & 255) / 3; x[i] = y[2 * k];")));
  // What is not surely a number of the type, what is rounded towards zero, what is divided by what may be negative.
  EXPECT_FALSE(told_apart(loop("int k = (int)(by * i); x[i] = y[k >> 4];")));
  EXPECT_FALSE(told_apart(loop("int k = (int)(by * i) % 64; x[i] = y[(unsigned)k % 64u + (unsigned)k];")));
  EXPECT_FALSE(told_apart(loop("int k = i / m; x[i] = y[k * n];")));
  // Compilers let bits be shifted out, and the sign in.
  EXPECT_FALSE(told_apart(loop("int k = ((int)(by * i) & 255) << 24 >> 24; x[i] = y[k];")));
}

// A table of constants has its values where it is converted, too: for directions that face each other.
TEST(LiftRows, ATableOfConstantsNamesRows) {
  const LiftedNest n = nest(R"(static const int across[3] = {0, 2, 1};
void f(int n, double *f) {
  for (int i = 0; i < n; i++) for (int q = 0; q < 3; q++) f[(unsigned long)q * n + i] += f[(unsigned long)across[q] * n + i];
})");
  EXPECT_TRUE(has(sdfg::print(n.sdfg), "f[across[q], i]")) << sdfg::print(n.sdfg);
  const LiftedNest negative = nest(R"(static const int across[3] = {0, 2, -1};
void f(int n, double *f) {
  for (int i = 0; i < n; i++) for (int q = 0; q < 3; q++) f[(unsigned long)q * n + i] += f[(unsigned long)across[q] * n + i];
})");
  EXPECT_FALSE(has(sdfg::print(negative.sdfg), "across[q], i]")) << sdfg::print(negative.sdfg);
}

// The column is a value of the nest's own variable, that of a row of which every element is written.
TEST(LiftRows, AVariableNamesAColumn) {
  const LiftedNest n = nest(R"(void f(int n, int m, float *d) {
  for (int t = 1; t < n; t++) {
    int k = 0;
    for (int j = 1; j < m; j++) if (d[(t - 1) * m + j] > d[(t - 1) * m + k]) k = j;
    for (int j = 0; j < m; j++) d[t * m + j] -= d[(t - 1) * m + k];
  }
})");
  EXPECT_TRUE(has(sdfg::print(n.sdfg), "d[t - 1, k[]]")) << sdfg::print(n.sdfg);
}

TEST(LiftRows, ATableIsOneArrayOfEvenlySpacedRows) {
  const LiftedNest n = nest(R"(void f(int n, int m, double **a) {
  for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i][j] *= 2;
})");
  EXPECT_EQ(sdfg::print(n.sdfg.root, n.sdfg),
            "loop i = 0 .. n {\n  loop j = 0 .. m {\n    s0: a[i, j] = a[i, j] * 2.0\n  }\n}\n");
  ASSERT_NE(n.sdfg.find("a"), nullptr);
  EXPECT_EQ(n.sdfg.find("a")->strides[0], sdfg::Expr::symbol("a_row"));
  ASSERT_EQ(n.sdfg.assumptions.size(), 1u);  // rows do not overlap
  const sdfg::Expr row = sdfg::Expr::symbol("a_row");
  EXPECT_EQ(n.sdfg.assumptions[0], sdfg::Expr::max(row, -row) - sdfg::Expr::symbol("m"));
  EXPECT_EQ(passed(n, "a"), "(a)[(0LL)]");
  EXPECT_TRUE(has(n.guard, "(unsigned long)(a)[sous_k + 1] - (unsigned long)(a)[sous_k] == sous_d")) << n.guard;
  // The table is looked at only where both loops have iterations.
  EXPECT_TRUE(n.guard.starts_with("(long long)(n) + -1LL >= 0 && (long long)(m) + -1LL >= 0 && ")) << n.guard;
}

TEST(LiftRows, TheFirstRowAndColumnNeedNotBeZero) {
  const LiftedNest n = nest(R"(void f(int n, int m, float **a) {
  for (int i = 1; i <= n; i++) for (int j = 1; j <= m; j++) a[i][j] = 0;
})");
  EXPECT_TRUE(has(sdfg::print(n.sdfg.root, n.sdfg), "a[i - 1, j - 1] = 0.0f")) << sdfg::print(n.sdfg.root, n.sdfg);
  EXPECT_EQ(passed(n, "a"), "(unsigned long)((a)[(1LL)]) + (unsigned long)(4LL)");
}

TEST(LiftRows, OnlyWhatTheNestSurelyReadsOfTheTableIsRead) {
  EXPECT_EQ(reason("void f(int n, double **a, int *c) { for (int i = 0; i < n; i++) if (c[i]) a[i][0] = 0; }"),
            "c.pointer.to-pointer");
  EXPECT_EQ(reason("void f(int n, double **a, int *c) { for (int i = 0; i < n; i++) a[c[i]][0] = 0; }"),
            "c.pointer.to-pointer");
  // The condition leaves out rows between two that are surely used.
  const LiftedNest n = nest(R"(void f(int n, double **a, const int *c) {
  for (int i = 0; i < n; i++) { a[i][0] = 1; if (c[i]) a[n - 1 - i][1] = 0; }
})");
  EXPECT_EQ(passed(n, "a"), "(a)[(0LL)]");
}

TEST(LiftRows, WhatBothWaysOfABranchComeToIsUsed) {
  const auto of = [](const std::string& otherwise) {
    return "void f(int n, double **a, const int *c) { for (int i = 0; i < n; i++) if (c[i]) a[i][0] = 1; else " +
           otherwise + " }";
  };
  EXPECT_EQ(passed(nest(of("a[i][1] = 2;")), "a"), "(a)[(0LL)]");
  EXPECT_EQ(reason(of("a[i + 1][1] = 2;")), "c.pointer.to-pointer");
}

TEST(LiftRows, AConditionThatTheEntryCanAskLeadsToARow) {
  const LiftedNest n = nest(R"(void f(int n, int c, double **a) {
  for (int i = 0; i < n; i++) { if (i == c) continue; a[i][0] = a[i][1]; }
})");
  EXPECT_TRUE(has(n.guard, "(long long)(c) != 0") || has(n.guard, "-1LL * (long long)(c) != 0")) << n.guard;
  // Row c is one of those of the loop, and stands in where the condition leaves out an end.
  const LiftedNest eliminate = nest(R"(void f(int n, int m, int c, double **a) {
  for (int i = 0; i < n; i++) { if (i == c) continue; a[i][0] -= a[c][0]; }
})");
  EXPECT_EQ(passed(eliminate, "a"), "(a)[(0LL)]");
}

TEST(LiftRows, NoMoreThanTheRowsThatLoopsComeTo) {
  const LiftedNest steps = nest(R"(void f(int n, double **a) { for (int i = 0; i < n; i += 3) a[i][0] = 0; })");
  EXPECT_TRUE(has(steps.guard, "sous_k < (") && !has(steps.guard, "sous_k < ((long long)(n) + -1LL)")) << steps.guard;
  const LiftedNest below = nest(R"(void f(int n, double **a, double *restrict x) {
  for (int i = 0; i < n; i++) for (int k = 0; k < i; k++) x[i] -= a[i][k] * x[k];
})");
  EXPECT_EQ(passed(below, "a"), "(a)[(1LL)]");
}

TEST(LiftRows, ATableOfTheFileHasAllOfItsRows) {
  const std::string of = "void f(int n, const int *c) { for (int i = 0; i < n; i++) if (c[i]) a[i][0] = 1; }";
  const LiftedNest n = nest("static double *a[8]; " + of);
  EXPECT_TRUE(has(n.guard, "8LL + -1LL * (long long)(n) >= 0") || has(n.guard, "-1LL * (long long)(n) + 8LL >= 0"))
      << n.guard;
  EXPECT_EQ(reason("static double **a; " + of), "c.pointer.to-pointer");
}

TEST(LiftRows, BytesThatMayBeTheTableAreComparedWithIt) {
  const char* text = R"(void f(int n, int m, %T **p) {
  for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) p[i][j] = 0;
})";
  const auto of = [&](const std::string& type) {
    return std::string(text).replace(std::string(text).find("%T"), 2, type);
  };
  const std::string entries = "(const void *)&(p)[(0LL)], 0UL, ";
  EXPECT_TRUE(has(nest(of("unsigned char")).guard, entries));
  EXPECT_FALSE(has(nest(of("double")).guard, entries));
  EXPECT_TRUE(has(nest(of("double"), {"-fno-strict-aliasing"}).guard, entries));
}

TEST(LiftRecords, EachMemberIsAnArrayOfItsOwn) {
  const LiftedNest n = nest(R"(struct body { double x; float mass; int kind; double v[3]; };
void f(int n, struct body *b) {
  for (int i = 0; i < n; i++) { b[i].x += b[i].v[2] * b[i].mass; (b + i)->kind++; }
})");
  EXPECT_EQ(sdfg::print(n.sdfg.root, n.sdfg), R"(loop i = 0 .. n {
  s0: b_x[i] = b_x[i] + b_v[i, 2] * f64(b_mass[i])
  s1: b_kind[i] = b_kind[i] + 1
}
)");
  EXPECT_EQ(n.sdfg.find("b_x")->strides, (std::vector<sdfg::Expr>{sdfg::Expr(5)}));
  EXPECT_EQ(n.sdfg.find("b_kind")->strides, (std::vector<sdfg::Expr>{sdfg::Expr(10)}));
  EXPECT_EQ(n.sdfg.find("b_v")->strides, (std::vector<sdfg::Expr>{sdfg::Expr(5), sdfg::Expr(1)}));
  EXPECT_EQ(passed(n, "b_kind"), "(unsigned long)(b) + (unsigned long)(12LL)");
  EXPECT_TRUE(n.sdfg.disjoint.empty());
}

TEST(LiftRecords, MembersOfTwoArraysMayBeTheSame) {
  const LiftedNest n = nest(R"(struct p { double x, y; };
void f(int n, struct p *a, const struct p *b) { for (int i = 0; i < n; i++) a[i].x = b[i].x + b[i].y; })");
  EXPECT_EQ(n.sdfg.disjoint.size(), 2u);
}

// An increment inside of a value is a statement before it, once.
TEST(LiftEffects, AnIncrementInASubscriptIsDoneOnce) {
  const LiftedNest n = nest(
      "void f(int n, const int *k, int *restrict next, double *restrict to) {"
      " for (int i = 0; i < n; i++) to[next[k[i]]++] = i; }");
  EXPECT_EQ(sdfg::print(n.sdfg.root, n.sdfg),
            "loop i = 0 .. n {\n  s0: old[] = next[k[i]]\n  s1: next_1[] = old[] + 1\n  s2: next[k[i]] = next_1[]\n"
            "  s3: at[] = i64(old[])\n  s4: to[at[]] = f64({i}i32)\n}\n");
  for (const std::string body : {"x[next[i]++] += 1;", "x[i] = g(next) + next[i]++;", "while (next[i]++ < 9) x[i] = 0;",
                                 "x[next[next[i]++]++] = 0;"})
    EXPECT_EQ(reason("static int g(int *p) { return p[0]; } void f(int n, int *restrict next, double *restrict x) {"
                     " for (int i = 0; i < n; i++) { " +
                     body + " } }"),
              "c.side-effect");
}

TEST(LiftRecords, WhatMayBeLongerOrAnythingIsLeftAlone) {
  EXPECT_EQ(reason("struct s { int n; int at[1]; }; void f(int n, struct s *s) { for (int i = 0; i < n; i++) "
                   "s[0].at[i] = s[1].n; }"),
            "c.struct");
  EXPECT_EQ(reason("struct __attribute__((may_alias)) s { int x, y; }; void f(int n, struct s *s) { for (int i = 0; i "
                   "< n; i++) s[i].x = 0; }"),
            "c.struct");
  EXPECT_EQ(reason("union u { int i; float f; }; struct s { union u u; }; void f(int n, struct s *s) { for (int i = 0; "
                   "i < n; i++) s[i].u.i = 0; }"),
            "c.union");
  EXPECT_EQ(
      reason("struct s { _Atomic int x; }; void f(int n, struct s *s) { for (int i = 0; i < n; i++) s[i].x = 0; }"),
      "c.volatile");
}

TEST(LiftRecords, AMemberReadUnderAConditionIsReadInPlace) {
  const LiftedNest n = nest(R"(struct s { int n; double scale; };
void f(int n, struct s *s, double *restrict x) { for (int i = 0; i < n; i++) if (x[i] > 0) x[i] *= s->scale; })");
  EXPECT_EQ(passed(n, "s_scale"), "(unsigned long)(s) + (unsigned long)(8LL)");
  EXPECT_EQ(n.guard, "");
}

TEST(LiftApart, AScalarInMemoryIsComparedWithWhatIsWritten) {
  const std::string loop = "void f(int n, double *x) { for (int i = 0; i < n; i++) x[i] *= omega; }";
  EXPECT_TRUE(has(nest("double omega; " + loop).guard,
                  "sous_apart((const void *)&(omega), 0UL, sizeof(omega), (const void *)(x)"));
  EXPECT_EQ(nest("static double omega; " + loop).guard, "");
  EXPECT_NE(nest("static double omega; double *leak(void) { return &omega; } " + loop).guard, "");
  EXPECT_NE(nest("static double omega; __asm__(\"\"); " + loop).guard, "");
  EXPECT_EQ(nest("float omega; " + loop).guard, "");
  EXPECT_NE(nest("float omega; " + loop, {"-fno-strict-aliasing"}).guard, "");
}

// malloc gives large blocks at descending addresses: the rows reach as far down as they do up.
TEST(LiftApart, RowsLieAboveOrBelowTheFirst) {
  const LiftedNest n = nest(R"(double omega;
void f(int n, double **a) { for (int i = 0; i < n; i++) a[i][0] *= omega; })");
  EXPECT_TRUE(has(n.guard, "(const void *)((a)[(0LL)]), (unsigned long)(8LL * ((0LL) < ("))
      << n.guard;  // from min(0, …)
}

TEST(LiftSubscripts, BoundsThatAnIndexIsKeptBetweenAreInOrder) {
  const LiftedNest n =
      nest(R"(static int clamp(int v, int low, int high) { return v < low ? low : v > high ? high : v; }
void f(int n, int low, int high, int *restrict to, const int *restrict from) {
  for (int i = 0; i < n; i++) to[i] = from[clamp(i, low, high)];
})");
  EXPECT_TRUE(std::ranges::count(n.sdfg.assumptions, sdfg::Expr::symbol("high") - sdfg::Expr::symbol("low")))
      << sdfg::print(n.sdfg);
}

// One more off than equal values allow: i = n - 3 gives n - 1, and the smaller of the two is i.
TEST(LiftSubscripts, AComparisonOfOtherValuesIsNoMinimum) {
  for (const char* at : {"i < n - 3 ? i : n - 1", "k"}) {
    const LiftedNest n = nest(R"(void f(int n, int *restrict to, const int *restrict from) {
  for (int i = 0; i < n; i++) { int k = i; if (i >= n - 3) k = n - 1; to[i] = from[)" +
                              std::string(at) + "]; }\n}");
    EXPECT_FALSE(has(sdfg::print(n.sdfg), "min(")) << sdfg::print(n.sdfg);
  }
}

// The first values of a filter have fewer taps: what they are made of begins where the array does.
TEST(LiftSubscripts, AsManyAsThereAreSoFar) {
  for (const char* most : {"taps - 1", "63"}) {
    const LiftedNest n = nest(
        "void f(long n, long taps, const float *h, const float *x, float *restrict y) {"
        "for (long i = 0; i < n; i++) { float sum = 0; long m = i < " +
        std::string(most) + " ? i : " + most +
        "; for (long k = 0; k <= m; k++) sum += h[k] * x[i - k]; y[i] = sum; } }");
    EXPECT_TRUE(n.sdfg.assumptions.empty()) << sdfg::print(n.sdfg);
    EXPECT_EQ(n.sdfg.find("x")->shape, std::vector{sdfg::Expr::symbol("n")}) << sdfg::print(n.sdfg);
  }
}

// Of each way to write it: the extent is known, and so the array is told apart from what is written.
TEST(LiftSubscripts, AnIndexKeptBetweenBoundsBelongsToAnArrayOfKnownExtent) {
  const std::string get = R"(static unsigned char get(const unsigned char *p, int w, int h, int x, int y) {
    if (x < 0) x = 0; if (x >= w) x = w - 1; if (y < 0) y = 0; else if (y > h - 1) y = h - 1; return p[y * w + x]; })";
  const auto blur = [&](const std::string& body) {
    const LiftedNest n = nest(get + R"(void f(int w, int h, const unsigned char *in, unsigned char *out) {
      for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) for (int k = -1; k <= 1; k++) {)" +
                              body + "} }");
    EXPECT_EQ(n.sdfg.disjoint.size(), 1u) << sdfg::print(n.sdfg);
    EXPECT_EQ(n.sdfg.find("in")->shape.size(), 2u) << sdfg::print(n.sdfg);
    EXPECT_EQ(n.sdfg.containers.size(), 2u) << sdfg::print(n.sdfg);
    return sdfg::print(n.sdfg.root, n.sdfg);
  };
  const std::string first = blur("out[y * w + x] += get(in, w, h, x + k, y + k);");
  EXPECT_NE(first.find("in[max(0, min(h - 1, k + y)), min(w - 1, max(0, k + x))]"), std::string::npos) << first;
  blur("int a = x + k < 0 ? 0 : x + k >= w ? w - 1 : x + k; out[y * w + x] += in[y * w + a];");
  blur("int a = x + k; if (a < 0) a = 0; if (a >= w) a = w - 1; out[y * w + x] += in[y * w + a];");
  blur("int a = x + k; if (a >= w) a = w - 1; else if (a < 0) a = 0; out[y * w + x] += in[y * w + a];");
  blur("int a = x + k < 0 ? -(x + k) : x + k; if (w - 1 < a) a = w - 1; out[y * w + x] += in[y * w + a];");
}

TEST(LiftApart, RestrictMembersAreApartFromWhatCannotBeBasedOnThem) {
  const std::string head = "struct v { double *restrict a, *restrict b; double *c; }; ";
  const auto overlaps = [&](const std::string& parameters, const std::string& body) {
    return nest(head + "void f(int n, " + parameters + ") { for (int i = 0; i < n; i++) " + body + " }")
        .sdfg.disjoint.size();
  };
  EXPECT_EQ(overlaps("struct v *s", "s->a[i] = s->b[i];"), 0u);
  EXPECT_EQ(overlaps("struct v *s, double *x", "s->a[i] = x[i];"), 0u);
  EXPECT_EQ(overlaps("struct v *s", "s->a[i] = s->c[i];"), 1u);
  EXPECT_EQ(overlaps("struct v *s, struct v *t", "s->a[i] = t->b[i];"), 1u);
}

// A pointer that is read from memory was there before: it is not based on a parameter that is followed and no more.
TEST(LiftApart, ARestrictParameterThatIsOnlyFollowedIsApartFromWhatIsRead) {
  const std::string head = "struct csr { int n; int *start, *at; double *val; }; void g(double *);";
  const std::string loop =
      "for (int i = 0; i < A->n; i++) for (int k = A->start[i]; k < A->start[i + 1]; k++) y[i] += A->val[k] * "
      "x[A->at[k]]; }";
  EXPECT_EQ(nest(head + "void f(struct csr *A, const double *x, double *restrict y) {" + loop).sdfg.disjoint.size(),
            0u);
  for (const std::string before : {"A->val = y;", "g(&y[1]);"})
    EXPECT_EQ(classes(nest(head + "void f(struct csr *A, double *x, double *restrict y) { " + before + loop)),
              "A_val|y");
}

// As far as nobody knows on entry: where data says which element it is.
TEST(LiftApart, ABlockFromMallocIsApartFromWhatWasThereBefore) {
  const std::string head = "void *malloc(unsigned long); void *calloc(unsigned long, unsigned long); int g[9], *h; ";
  const std::string loop = "for (int i = 0; i < n; i++) bins[at[i]]++; }";
  const auto classes_of = [&](const std::string& function) { return classes(nest(head + function + loop)); };
  const std::string block = "int *bins = malloc(n);";
  EXPECT_EQ(classes_of("void f(int n) { int *at = calloc(n, 4); " + block), "");
  EXPECT_EQ(classes_of("void f(int n, int *at) { " + block), "");
  EXPECT_EQ(classes_of("void f(int n) { int *at = g; " + block), "bins|at");
  EXPECT_EQ(classes_of("void f(int n, int *at) { " + block + " at = bins + 1; "), "bins|at");
  EXPECT_EQ(classes_of("void f(int n) { " + block + " int *at = malloc(n); at = bins + 1; "), "bins|at");
  EXPECT_EQ(classes_of("void set(int **); void f(int n) { " + block + " int *at = malloc(n); set(&at); "), "bins|at");
  EXPECT_EQ(classes_of("void f(int n, int *at) { " + block + " __asm__(\"\" : \"=r\"(at) : \"0\"(bins)); "), "bins|at");
  EXPECT_EQ(classes_of("void f(int n, int **table) { " + block + " int *at = table[0]; "), "bins|at");
  EXPECT_EQ(classes_of("void *own(int n) { return h; } void f(int n, int *at) { int *bins = own(n); "), "bins|at");
}

// What a nest writes may come back as values, so that the call is pure: variables of the function's own, if they fit
// into registers and nothing else can be seen of the call.
TEST(LiftValues, OnlyOwnVariablesThatFitAndNothingElse) {
  const auto values = [](const std::string& declarations, const std::string& statement, bool math_errno = true) {
    const LiftedNest n =
        nest("double exp(double); double outside; double f(int n, double *restrict y, const double *x) { " +
             declarations + " for (int i = 0; i < n; i++) { " + statement + " } return s + t; }");
    std::string all;
    for (const std::string& name : values_of(n, n.sdfg, math_errno)) all += name + " ";
    return all;
  };
  const std::string two = "float t = 0; double s = 0; ";
  EXPECT_EQ(values(two, "t += 1; s += x[i];"), "s t ");  // the larger one first
  EXPECT_EQ(values(two, "s += x[i]; y[i] = 1;"), "");
  EXPECT_EQ(values(two, "s += x[i]; outside += 1;"), "");
  EXPECT_EQ(values(two, "s += exp(x[i]);"), "");
  EXPECT_EQ(values(two, "s += exp(x[i]);", false), "s ");
  EXPECT_EQ(values("double s = 0, t = 0;", "s += x[i]; t -= x[i];"), "");
  EXPECT_EQ(values(two, "while (s < x[i]) s += 1;"), "");
}

TEST(LiftApart, DataOfANarrowTypeLeadsNoFurtherThanItsType) {
  const auto guard = [](const std::string& index) {
    return nest("void f(int n, const unsigned char *px, int *bins) { for (int i = 0; i < n; i++) { " + index + " } }")
        .guard;
  };
  EXPECT_TRUE(has(guard("bins[px[i]]++;"), "(const void *)(bins), (unsigned long)(0LL), (unsigned long)(1024LL)"));
  EXPECT_TRUE(has(guard("int v = px[i] / 4; bins[v + 1]++;"),
                  "(const void *)(bins), (unsigned long)(0LL), (unsigned long)(260LL)"));
  EXPECT_EQ(classes(nest("void f(int n, const int *at, int *bins) { for (int i = 0; i < n; i++) bins[at[i]]++; }")),
            "bins|at");
}

TEST(LiftApart, APointerMayPointIntoTheMiddle) {
  const LiftedNest n = nest(
      "void f(int n, double *restrict x, const double *y) { for (int i = 0; i < n; i++) x[i] = y[i - 1] + y[i + 1]; }");
  EXPECT_TRUE(has(sdfg::print(n.sdfg.root, n.sdfg), "x[i] = y[i] + y[i + 2]"));
  EXPECT_EQ(passed(n, "y"), "(unsigned long)(y) + (unsigned long)(-8LL)");
}

// restrict says nothing of what is reached by the same pointer.
// An argument is tried as an index, then as a value: what was refused once is not known the second time.
TEST(LiftRecords, AMemberThatIsNotAlignedIsRefusedEachTime) {
  EXPECT_EQ(reason("struct __attribute__((packed)) s { char c; int x; }; static int g(int v) { return v + 1; }\n"
                   "void f(int n, struct s *p, int *y) { for (int i = 0; i < n; i++) y[i] = g(p[i].x); }"),
            "c.struct");
}

TEST(LiftApart, AMemberOfTheFirstStructureIsOneOfAll) {
  const LiftedNest n = nest(R"(struct p { double x, y; };
void f(int n, struct p *restrict p) { for (int i = 0; i < n; i++) p[i].x += p->x; })");
  EXPECT_TRUE(has(n.guard, "(const void *)&(p->x)")) << n.guard;
}

TEST(LiftApart, AConstantOfTheFileIsAnExtent) {
  const LiftedNest n = nest(R"(static const int m = 12;
void f(int n, double x[n][m]) { for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) x[i][j] = 0; })");
  EXPECT_EQ(n.sdfg.find("x")->shape[1], sdfg::Expr(12));
}

// As two types it is two arrays, which are one where C lets them be.
TEST(LiftData, AParameterToVoidIsAnArrayOfWhatItIsCastTo) {
  const LiftedNest n = nest(R"(void f(int n, void *y, const void *x) {
  for (int i = 0; i < n; i++) ((double *)y)[2 * i] = ((const double *)x)[i] + ((unsigned char *)y)[i];
})");
  std::vector<std::string> arrays;
  for (const Argument& a : n.arguments)
    if (a.kind == Argument::Kind::Array) arrays.push_back(a.type + " " + a.expression);
  EXPECT_EQ(arrays, (std::vector<std::string>{"double x", "unsigned char y", "double y"}));
  EXPECT_EQ(n.sdfg.disjoint.size(), 1u);
  EXPECT_EQ(classes(n), "y=y_1");
  EXPECT_EQ(classes(nest("void f(int n, void *restrict y, int *restrict s) {"
                         " for (int i = 0; i < n; i++) { ((char *)y)[i] = 1; s[0] += ((int *)y)[i]; } }")),
            "y=y_1");
}

TEST(LiftOverlaps, WhatNobodyCanCompareIsOneClass) {
  EXPECT_EQ(classes(nest("void f(int n, const int *at, double *x, const double *y) {"
                         " for (int i = 0; i < n; i++) x[at[i]] = y[i]; }")),
            "y|x");
  // Of another type, restrict, or read alone: apart.
  EXPECT_EQ(classes(nest("void f(int n, const int *at, double *x, const float *y) {"
                         " for (int i = 0; i < n; i++) x[at[i]] = y[i]; }")),
            "");
  EXPECT_EQ(classes(nest("void f(int n, const int *at, double *restrict x, const double *y) {"
                         " for (int i = 0; i < n; i++) x[at[i]] = y[i]; }")),
            "");
  EXPECT_EQ(classes(nest("void f(int n, const int *at, float *x, const double *y, const double *z) {"
                         " for (int i = 0; i < n; i++) x[i] = y[at[i]] * z[at[i]]; }")),
            "");
  // Bytes may be anything.
  EXPECT_EQ(classes(nest("void f(int n, const int *at, char *x, const double *restrict y) {"
                         " for (int i = 0; i < n; i++) x[at[i]] = y[i]; }")),
            "x|at");
}

// The Sdfg reads a bound once, and a scalar when it is used.
TEST(LiftOverlaps, BoundsAndScalarsAreNoneOfAClass) {
  EXPECT_EQ(lifted("void f(int n, const int *at, int *x, const int *last) { for (int i = 0; i < n; i++)"
                   " for (int k = 0; k < last[i]; k++) if (i % 3) x[at[k + 1]] = 3; }")
                .nests.size(),
            0u);
  EXPECT_EQ(reason("double v; static void put(double v, double *p, const int *at) { p[at[0]] = 1; p[at[1]] = v; }"
                   " void f(int n, const int *at, double *x) { for (int i = 0; i < n; i++) put(v, x, at + i); }"),
            "c.alias.unknown-extent");
}

TEST(LiftData, AnUnsignedVariableHoldsWhatIsReadAsItsType) {
  const auto nests = [](const std::string& variable, const std::string& condition) {
    return lifted(
               "void f(int n, const unsigned *at, const unsigned short *few, double *x) { for (int i = 0; i < n; i++) "
               "for (" +
               variable + " k = at[i]; " + condition + "; k++) x[i] += k; }")
        .nests.size();
  };
  EXPECT_EQ(nests("unsigned", "k < at[i + 1]"), 1u);
  EXPECT_EQ(nests("unsigned", "k < few[i]"), 1u);
  // It would wrap at the largest value, or reach no larger one.
  EXPECT_EQ(nests("unsigned", "k <= at[i + 1]"), 0u);
  EXPECT_EQ(nests("unsigned short", "k < at[i + 1]"), 0u);
}

TEST(LiftOverlaps, AScalarIsComparedByItsAddress) {
  const LiftedNest n = nest(
      "double g; void f(int n, const unsigned char *at, double *x) {"
      " for (int i = 0; i < n; i++) { x[at[i]] = i; g += x[i]; } }");
  EXPECT_TRUE(has(n.guard, "(const void *)&(g)")) << n.guard;
  EXPECT_FALSE(has(n.guard, "(const void *)(g)")) << n.guard;
}

TEST(LiftRecords, AWholeStructureIsItsMembers) {
  const LiftedNest n = nest(R"(struct c { double re, im; };
void f(int n, struct c *x, const struct c *restrict y) {
  for (int i = 0; i < n; i++) { struct c t = y[i]; t.re += 1; x[i] = t; }
})");
  const std::string text = sdfg::print(n.sdfg.root, n.sdfg);
  for (const char* part :
       {"t_re[] = y_re[i]", "t_im[] = y_im[i]", "t_re[] = t_re[] + 1.0", "x_re[i] = t_re[]", "x_im[i] = t_im[]"})
    EXPECT_TRUE(has(text, part)) << part << " in\n" << text;
  EXPECT_TRUE(n.sdfg.find("t_re")->transient);
}

// A temporary, where the nest sets it first and nobody reads it afterwards; memory otherwise.
TEST(LiftRecords, AStructureOfTheFunctionIsATemporaryWhereNobodySeesIt) {
  const auto is_temporary = [](const std::string& before, const std::string& after) {
    const LiftedNest n = nest(
        "struct c { double re, im; }; double f(int n, struct c *x, const struct c *y) { struct c t;"
        " for (int i = 0; i < n; i++) {" +
        before + " t = y[i]; x[i].re = t.re; } " + after + " }");
    return n.sdfg.find("t_re") != nullptr && n.sdfg.find("t_re")->transient;
  };
  EXPECT_TRUE(is_temporary("", "return 0;"));
  EXPECT_FALSE(is_temporary("", "return t.im;"));
  EXPECT_FALSE(is_temporary("x[i].im = t.im;", "return 0;"));
}

TEST(LiftRecords, APointerGivenToACalledFunctionIsTheCallers) {
  const LiftedNest n = nest(R"(struct m { long n; double *data; };
struct v { int tag; struct m m; };
static double get(const struct m *a, long i) { return a->data[i]; }
static double second(const struct m *b, long i) { return get(b, i + 1); }
void f(struct m *a, struct v *v, double *restrict x) {
  for (long i = 0; i < a->n; i++) x[i] = get(a, i) + second(&v->m, get(a, i) > 0 ? i : 0);
})");
  EXPECT_EQ(passed(n, "a_data"), "a->data");
  EXPECT_EQ(passed(n, "v_m_data"), "v->m.data");
}

TEST(LiftRecords, WhatIsNoSumOfMembersIsRefused) {
  const auto of = [](const std::string& members, const std::string& body = "x[i] = y[i];") {
    return reason("struct s { " + members +
                  " }; void g(struct s *); void f(int n, struct s *x, struct s *y) {"
                  " for (int i = 0; i < n; i++) { " +
                  body + " } }");
  };
  EXPECT_EQ(of("char tag; double x;"), "c.struct");
  EXPECT_EQ(of("int a : 3; int b;"), "c.bit-field");
  EXPECT_EQ(of("union { int a; float b; } u;"), "c.union");
  EXPECT_EQ(of("_Bool set;"), "c.struct");
  EXPECT_EQ(of("double a[40];"), "c.struct");
  EXPECT_EQ(of("double a; double b;", "struct s t = y[i]; g(&t); x[i] = t;"), "c.call.unknown-effects");
  EXPECT_EQ(of("double a; double b;", "struct s t = y[i], *q = &t; t.b = 0; x[i] = *q;"), "c.address-taken");
}

TEST(LiftRecords, WhatFunctionsTakeAndReturnIsATemporaryForEachMember) {
  const LiftedNest n = nest(R"(struct c { double re, im; };
static struct c times(struct c a, struct c b) { return (struct c){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
void f(int n, struct c *z, struct c by) { for (int i = 0; i < n; i++) z[i] = times(z[i], by); })");
  // Of what is passed by value, and written by nobody, the parameter is another name.
  EXPECT_EQ(passed(n, "by_re"), "by.re");
  for (const char* own : {"a_re", "times_im"}) {
    ASSERT_NE(n.sdfg.find(own), nullptr) << own;
    EXPECT_TRUE(n.sdfg.find(own)->transient) << own;
  }
}

TEST(LiftRecords, ValuesAreTakenBeforeTheyAreStored) {
  const std::string of = R"(struct p { int x, y; };
void f(int n, struct p *p) { for (int i = 0; i < n; i++) p[i] = (struct p){p[i].y, p[i].x}; })";
  const LiftedNest n = nest(of);
  const std::string text = sdfg::print(n.sdfg.root, n.sdfg);
  EXPECT_LT(text.find("t_y[] ="), text.find("p_x[i] =")) << text;
}

TEST(LiftCalls, OneWithEffectsStandsAloneInItsExpression) {
  const std::string draw = "static unsigned s; static unsigned draw(void) { s = s * 5 + 1; return s; }";
  const auto of = [&](const std::string& value) {
    return draw + "void f(int n, unsigned *restrict x, unsigned k) { for (int i = 0; i < n; i++) x[i] = " + value +
           "; }";
  };
  EXPECT_EQ(lifted(of("draw()")).nests.size(), 1u);
  EXPECT_EQ(lifted(of("k * (draw() >> 3) + 1")).nests.size(), 1u);
  for (const char* value : {"draw() + draw()", "draw() + s", "draw() + x[i]", "k ? draw() : 0", "k && draw()"})
    EXPECT_EQ(reason(of(value)), "c.call.not-inlinable") << value;
}

TEST(LiftCalls, WhatAFunctionWritesByTheFunctionsThatItCalls) {
  const auto of = [](const std::string& g) {
    return "double s; static void set(double *to, double v) { to[0] = v; } static void count(void) { s++; } struct p { "
           "double *at; };"
           "static double g(double *p) { double t[2]; struct p q; " +
           g + " return t[0]; } void f(int n, double *x) { for (int i = 0; i < n; i++) x[i] = x[i] + g(x); }";
  };
  EXPECT_EQ(lifted(of("set(t, 3); set(&t[1], 4); t[0]++;")).nests.size(), 1u);
  for (const char* g :
       {"set(p, 3);", "count();", "double *r = t; r = p; set(r, 2);", "set(&s, 1);", "q.at = p; q.at[0] = 1;"})
    EXPECT_EQ(reason(of(g)), "c.call.not-inlinable") << g;
}

TEST(LiftCalls, OfAsManyFunctionsAsAreLookedAt) {
  const auto of = [](int functions) {
    std::string text, value = "x[i]";
    for (int k = 0; k < functions; ++k) {
      const std::string name = "g" + std::to_string(k);
      text += "static int " + name + "(int v) { return v + " + std::to_string(k) + "; }\n";
      value += " + " + name + "(i)";
    }
    return text + "void f(int n, int *x) { for (int i = 0; i < n; i++) x[i] = " + value + "; }";
  };
  EXPECT_EQ(lifted(of(100)).nests.size(), 1u);
  EXPECT_EQ(reason(of(101)), "c.budget");
}

TEST(LiftCalls, VariablesWhoseAddressIsPassedAreVariables) {
  const auto of = [](const std::string& functions, const std::string& body) {
    return functions + " void f(int n, double *restrict x) { for (int i = 0; i < n; i++) { double t = 1; " + body +
           " } }";
  };
  const std::string set = "static void set(double *to, double v) { *to = v; }";
  EXPECT_EQ(lifted(of(set, "set(&t, x[i]); x[i] = t * 2;")).nests.size(), 1u);
  EXPECT_EQ(reason(of(set, "double *p = &t; set(p, 1); x[i] = t;")), "c.address-taken");
  EXPECT_EQ(reason(of("static void set(double *to, int k) { to[k] = 0; }", "set(&t, i); x[i] = t;")), "c.pointer");
  EXPECT_EQ(reason(of("void g(double *);", "g(&t); x[i] = t;")), "c.call.unknown-effects");
}

TEST(LiftPointers, WhereOnePointsIsKept) {
  const LiftedNest n = nest(R"(void f(int n, int *restrict at, double *restrict x) {
  for (int i = 0; i < n; i++) { double *p = x + at[i]; at[i] = 0; *p = i; }
})");
  const std::string text = sdfg::print(n.sdfg.root, n.sdfg);
  EXPECT_TRUE(has(text, "at_1[] = at[i]") && has(text, "x[at_1[]] =")) << text;
}

// The statements of a nest, without its declarations.
std::string loops(const std::string& text) {
  const LiftedNest n = nest(
      "void *memset(void *, int, unsigned long), *memcpy(void *, const void *, unsigned long),\n"
      "    *memmove(void *, const void *, unsigned long);\n" +
      text);
  return sdfg::print(n.sdfg.root, n.sdfg);
}

TEST(LiftBlocks, SetBytesAreLoopsOverElements) {
  EXPECT_EQ(loops("void f(int n, int m, double *restrict s) {\n"
                  "  for (int i = 0; i < n; i++) { memset(s + i * m, 0, m * sizeof *s); s[i * m] += 1; }\n}"),
            "loop i = 0 .. n {\n  loop k = 0 .. m {\n    s0: s[i, k] = 0.0\n  }\n  s1: s[i, 0] = s[i, 0] + 1.0\n}\n");
  EXPECT_EQ(
      loops("void f(int n, int (*a)[3][2]) { for (int i = 0; i < n; i++) memset(a[i], 0xff, sizeof a[i]); }"),
      "loop i = 0 .. n {\n  loop k = 0 .. 3 {\n    loop k_1 = 0 .. 2 {\n      s0: a[i, k, k_1] = -1\n    }\n  }\n}\n");
}

TEST(LiftBlocks, WhatIsNoWholeNumberOfElementsIsLeftAlone) {
  const std::string set =
      "void *memset(void *, int, unsigned long); void *memmove(void *, const void *, unsigned long);";
  const auto of = [&](const std::string& statement) {
    return reason(set + "void f(int n, int k, double *x, float (*y)[4]) { for (int i = 0; i < n; i++) " + statement +
                  " }");
  };
  EXPECT_EQ(of("memset(x, 0, k);"), "c.call.unknown-effects");
  EXPECT_EQ(of("memset(x, 1, 8);"), "c.call.unknown-effects");           // no value that C names
  EXPECT_EQ(of("memset(&y[i][1], 0, 16);"), "c.call.unknown-effects");   // into the next row
  EXPECT_EQ(of("memmove(x + 1, x, 8 * k);"), "c.call.unknown-effects");  // backwards
  EXPECT_EQ(reason("static void *memset(void *p, int c, unsigned long n) { *(char *)p = 5; return p; }\n"
                   "void f(int n, double *x) { for (int i = 0; i < n; i++) memset(x, 0, 8); }"),
            "c.type");
}

TEST(LiftBlocks, ATableOfAnInnerBlockIsWrittenOutInTheCall) {
  const LiftedNest n = nest(R"(void f(int n, double *restrict x) {
  for (int i = 0; i < n; i++) { static const float t[2][2] = {{0.5f, -1}, {3}}; x[i] *= t[i & 1][0]; }
})");
  EXPECT_EQ(passed(n, "t"),
            "__extension__({ static const float sous_table[4] = {0x1p-1,-0x1p+0,0x1.8p+1,0x0p+0,}; sous_table; })");
  EXPECT_TRUE(n.sdfg.find("t")->constant);
  EXPECT_EQ(
      reason("void f(int n, double *x) { for (int i = 0; i < n; i++) { static int t[2] = {1}; x[i] = t[i & 1]; } }"),
      "c.static");
}

TEST(LiftBlocks, WhatAListLeavesOutIsZero) {
  EXPECT_EQ(loops("void f(int n, int *x) { for (int i = 0; i < n; i++) { int t[20] = {0, i}; x[i] = t[i & 7]; } }"),
            "loop i = 0 .. n {\n  loop k = 0 .. 20 {\n    s0: t[k] = 0\n  }\n  s1: t[1] = {i}i32\n"
            "  s2: x[i] = t[i mod 8]\n}\n");
}

TEST(LiftBlocks, APointerIsComparedWithNullOnEntry) {
  const LiftedNest n = nest(R"(void f(int n, double *x, const double *by) {
  for (int i = 0; i < n; i++) x[i] *= by ? by[i] : 2;
})");
  EXPECT_EQ(passed(n, "by_there"), "((by) != 0)");
  EXPECT_EQ(reason("void f(int n, double *x) { for (int i = 0; i < n; i++) if (x + n) x[i] = 0; }"), "c.pointer");
}

TEST(LiftBlocks, NullThatACallPassesDecides) {
  const TranslationUnit unit = lifted(R"(static void g(int n, double *x, const double *by) {
  for (int j = 0; j < n; j++) if (by != 0) x[j] *= by[j]; else x[j] = 1;
}
void f(int n, int m, double *restrict x) { for (int i = 0; i < n; i++) g(m, x, 0); })");
  ASSERT_EQ(unit.nests.size(), 2u);
  EXPECT_EQ(sdfg::print(unit.nests[1].sdfg.root, unit.nests[1].sdfg),
            "loop i = 0 .. n {\n  loop j = 0 .. m {\n    s0: x[j] = 1.0\n  }\n}\n");
}

TEST(LiftBlocks, AFunctionMayReturnWhatItAssigns) {
  EXPECT_EQ(loops("struct s { unsigned at; };\n"
                  "static unsigned next(struct s *g) { return g->at = g->at * 5u + 1u; }\n"
                  "void f(int n, unsigned *x) {\n"
                  "  for (int i = 0; i < n; i++) { struct s g = {7}; next(&g); x[i] = next(&g) / 3u; }\n}"),
            "loop i = 0 .. n {\n  s0: g_at[] = u32(7)\n  s1: g_at[] = g_at[] * 5u32 + 1u32\n  s2: next[] = g_at[]\n"
            "  s3: g_at[] = g_at[] * 5u32 + 1u32\n  s4: x[i] = g_at[] / 3u32\n}\n");
}

TEST(LiftBlocks, AConditionOverDataIsNoBound) {
  EXPECT_TRUE(has(loops(R"(void f(int n, int (*restrict a)[9]) {
  for (int r = 0; r < n; r++) { int j; for (j = 7; j >= 0 && a[r][j] > 0; j--) a[r][j + 1] = a[r][j]; }
})"),
                  "while"));
}

TEST(LiftBlocks, AFunctionMayReturnTheAddress) {
  EXPECT_EQ(
      loops("static double *at(double *a, int i, int j) { return &a[i * 20 + j]; }\n"
            "void f(int n, double *a) { for (int i = 0; i < n; i++) for (int j = 0; j < 16; j++) *at(a, i, j) += 1; }"),
      "loop i = 0 .. n {\n  loop j = 0 .. 16 {\n    s0: a[i, j] = a[i, j] + 1.0\n  }\n}\n");
}

}  // namespace
}  // namespace sous::frontends::c
