// Loops that count by what they step, in any spelling: what they become, and what is left alone.
#include <gtest/gtest.h>

#include <algorithm>

#include "frontends/c/lift.h"
#include "sdfg/text.h"

namespace sous::frontends::c {
namespace {

TranslationUnit lifted(const std::string& text) {
  auto unit = lift(text, "test.c", {});
  EXPECT_TRUE(unit.has_value()) << unit.error().to_string();
  return unit ? *unit : TranslationUnit{};
}

// The body of the only nest, without the declarations.
std::string root(const std::string& text) {
  const TranslationUnit unit = lifted(text);
  EXPECT_EQ(unit.nests.size(), 1u) << text << (unit.reasons.empty() ? "no reasons" : unit.reasons[0].why);
  return unit.nests.size() == 1 ? sdfg::print(unit.nests[0].sdfg.root, unit.nests[0].sdfg) : "";
}

std::string only_reason(const std::string& text) {
  const TranslationUnit unit = lifted(text);
  EXPECT_TRUE(unit.nests.empty()) << text;
  EXPECT_EQ(unit.reasons.size(), 1u);
  return unit.reasons.empty() ? "" : unit.reasons[0].code;
}

bool assumes(const LiftedNest& nest, const std::string& text) {
  return std::ranges::any_of(nest.sdfg.assumptions, [&](const sdfg::Expr& e) { return e.to_string() == text; });
}

TEST(LiftSteps, EverySpellingOfACountDown) {
  const std::string plain = "loop n = 0 .. n_1 {\n  s0: x[n] = 1.0\n}\n";
  const auto body = [](const std::string& loop) { return root("void f(int n, double *x) { " + loop + " }"); };
  EXPECT_EQ(body("while (n--) *x++ = 1;"), plain);
  EXPECT_EQ(body("while (n-- > 0) { *x = 1; x++; }"), plain);
  EXPECT_EQ(body("while (n > 0) { *x++ = 1; n--; }"), plain);
  EXPECT_EQ(body("while (0 < n) { *x++ = 1; n = n - 1; }"), plain);
  EXPECT_EQ(body("for (; n; n--) *x++ = 1;"), plain);
  EXPECT_EQ(body("do *x++ = 1; while (--n);"), plain);
  EXPECT_EQ(body("do { *x++ = 1; n -= 1; } while (n > 0);"), plain);
}

TEST(LiftSteps, WhatIsSetBeforeTheLoopIsKnown) {
  const std::string plain = "loop i = 0 .. n {\n  s0: x[i] = 1.0\n}\n";
  EXPECT_EQ(root("void f(int n, double *x) { int i = 0; while (i < n) x[i++] = 1; }"), plain);
  EXPECT_EQ(root("void f(int n, double *x) { int i; i = 0; n += 0; while (i < n) { x[i] = 1; i += 1; } }"), plain);
  // Not by way of a label, nor where it is changed in between.
  EXPECT_NE(root("void f(int n, int m, double *x) { int i = 0; i = m; while (i < n) x[i++] = 1; }"), plain);
  EXPECT_NE(root("void f(int n, double *x) { int i = 0; if (n > 9) i = 1; while (i < n) x[i++] = 1; }"), plain);
}

TEST(LiftSteps, ADoLoopRunsOnceWhereTheEntryHasNotShownThatItsConditionHolds) {
  const TranslationUnit unit = lifted("void f(unsigned n, double *x) { do *x++ = 1; while (--n); }");
  ASSERT_EQ(unit.nests.size(), 1u);
  EXPECT_TRUE(assumes(unit.nests[0], "n_1 - 1"));
}

TEST(LiftSteps, AStepThatTheRunKnows) {
  const TranslationUnit unit = lifted("void f(int n, int s, double *x) { for (int i = 0; i < n; i += s) x[i] = 0; }");
  ASSERT_EQ(unit.nests.size(), 1u);
  EXPECT_EQ(sdfg::print(unit.nests[0].sdfg.root, unit.nests[0].sdfg),
            "loop i = 0 .. trips {\n  s0: x[i, 0] = 0.0\n}\n");
  EXPECT_TRUE(assumes(unit.nests[0], "s - 1"));
}

TEST(LiftSteps, AStepThatMayNotJumpOverItsBound) {
  const TranslationUnit unit = lifted("void f(int n, double *x) { int i = 0; while (i != n) { x[i] = 0; i += 2; } }");
  ASSERT_EQ(unit.nests.size(), 1u);
  EXPECT_TRUE(assumes(unit.nests[0], "-(n mod 2)")) << sdfg::print(unit.nests[0].sdfg);
}

TEST(LiftSteps, StridesThatTheRunKnows) {
  EXPECT_EQ(root(R"(void f(int n, double a, double *x, int incx, double *y, int incy) {
  int i = 0, ix = 0, iy = 0;
  while (i < n) {
    y[iy] += a * x[ix];
    ix += incx;
    iy += incy;
    i++;
  }
})"),
            "loop i = 0 .. n {\n  s0: y[i, 0] = y[i, 0] + a[] * x[i, 0]\n}\n");
}

TEST(LiftSteps, PointersThatWalkThroughRows) {
  EXPECT_EQ(root(R"(void f(int w, int h, unsigned char *to, int stride, const unsigned char *from) {
  while (h--) {
    unsigned char *q = to;
    int k = w;
    while (k--) *q++ = *from++;
    to += stride;
  }
})"),
            "loop h = 0 .. h_1 {\n  loop k = 0 .. w {\n    s0: to[h, k] = from[h, k]\n  }\n}\n");
}

TEST(LiftSteps, SymbolsArePassedInTheTypesThatTheyHave) {
  const TranslationUnit unit = lifted(
      "void f(double *p, int n, unsigned m, short k, long l) {\n"
      "  for (long i = 0; i < n; i++)\n"
      "    for (long j = 0; j < m; j++)\n"
      "      for (long t = 0; t < k; t++) p[i * l + j] += t;\n"
      "}");
  ASSERT_EQ(unit.nests.size(), 1u);
  std::map<std::string, std::string> types;
  for (const Argument& a : unit.nests[0].arguments)
    if (a.kind == Argument::Kind::Symbol) types[a.name] = a.type;
  EXPECT_EQ(types, (std::map<std::string, std::string>{
                       {"n", "int"}, {"m", "unsigned int"}, {"k", "int"}, {"l", "long long"}}));
  EXPECT_EQ(symbol_types(unit.nests[0]).size(), 3u);
}

TEST(LiftSteps, HowFarAnotherPointerIsIsReadOnEntry) {
  const TranslationUnit unit = lifted("void f(double *p, double *end) { while (p != end) *p++ = 0; }");
  ASSERT_EQ(unit.nests.size(), 1u);
  const LiftedNest& nest = unit.nests[0];
  ASSERT_EQ(nest.arguments[0].name, "distance");
  EXPECT_EQ(nest.arguments[0].expression, "((long long)((unsigned long)(p) - (unsigned long)(end)) / 8)");
  EXPECT_NE(nest.guard.find("% 8 == 0"), std::string::npos);
}

TEST(LiftSteps, WhatIsLeftBehind) {
  const auto epilogue = [](const std::string& text) {
    const TranslationUnit unit = lifted(text);
    EXPECT_EQ(unit.nests.size(), 1u) << text;
    return unit.nests.empty() ? "" : unit.nests[0].epilogue;
  };
  EXPECT_EQ(epilogue("unsigned f(unsigned n, int *x) { while (n--) x[n] = 0; return n; }"),
            "long long sous_final_n = -1LL;\nn = (__typeof__(n))sous_final_n;\n");
  EXPECT_EQ(epilogue("int f(int n, int *x) { while (n > 0) x[--n] = 0; return n; }"),
            "long long sous_final_n = 0LL;\nn = (__typeof__(n))sous_final_n;\n");
}

TEST(LiftSteps, ABoundThatTheLoopChangesIsComparedAnewEachTime) {
  // i < j - i, not i < j.
  const std::string text = root("void f(int j, int *x) { for (int i = 0; i < j; i++, j--) x[i] += x[j]; }");
  EXPECT_EQ(text, "loop i = 0 .. (j + 1) floordiv 2 {\n  s0: x[i] = x[i] + x[-i + j]\n}\n");
  EXPECT_EQ(text, root("void f(int j, int *x) { for (int i = 0; i < j; i++) { x[i] += x[j]; j--; } }"));
  EXPECT_EQ(only_reason("void f(int n, int *x) { for (int i = 0; i < n; i++) if (x[i]++ > 5) n--; }"),
            "c.loop.bound-changes");
}

TEST(LiftSteps, WhatDoesNotCountIsLeftAlone) {
  const auto reason = [](const std::string& body) {
    return only_reason("int g(int); int f(int n, int m, int *x, int *p) { " + body + " return n; }");
  };
  EXPECT_EQ(reason("while (x[n] > 0) n--;"), "c.while");
  EXPECT_EQ(reason("while (n > 0) { x[n] = 0; if (x[m]) continue; n--; }"), "c.while");
  EXPECT_EQ(reason("while (n > 0) { x[n] = 0; n -= x[n + 1]; }"), "c.while");
  EXPECT_EQ(reason("while (n > 0) { x[n] = 0; n /= 2; }"), "c.while");
  EXPECT_EQ(reason("while (n < m) { x[n] = 0; n--; }"), "c.while");
  EXPECT_EQ(reason("while (n > 0 || m > 0) { x[n] = 0; n--; m--; }"), "c.while");
  EXPECT_EQ(reason("while (n > 0) { x[n] = g(n); n--; }"), "c.call.unknown-effects");
  EXPECT_EQ(reason("while (n > 0) { n--; x[n] = 0; if (x[n + 1]) break; }"), "c.while");
}

// From the second iteration on, j is what the inner loop has left.
TEST(LiftSteps, AnInnerLoopsVariableBeforeThatLoop) {
  const auto codes = [](const std::string& body) {
    const TranslationUnit unit = lifted("void f(int n, int j, int m, int *restrict x) {\n" + body + " }");
    for (const LiftedNest& nest : unit.nests) EXPECT_EQ(nest.line, 3) << "the inner loop alone";
    return unit.reasons.empty() ? "" : unit.reasons[0].code;
  };
  EXPECT_EQ(codes("for (int i = 0; i < n; i++) { x[i] = j;\n for (j = 0; j < m; j++) x[i] += j; }"),
            "c.induction-variable");
  EXPECT_EQ(codes("for (int i = 0; i < n; i++)\n for (; j < m; j++) x[i] += j;"), "c.induction-variable");
  EXPECT_EQ(codes("for (int i = 0; i < j; i++)\n for (j = 0; j < 3; j++) x[i] += j;"), "c.loop.bound-changes");
}

TEST(LiftSteps, WhatCannotBeFollowedLiesInMemory) {
  EXPECT_EQ(root(R"(void f(int n, int *restrict to, const int *restrict x) {
  int k = 0;
  for (int i = 0; i < n; i++) {
    to[k++] = x[i];
    if (x[i] > 0) k += 2;
  }
})"),
            R"(loop i = 0 .. n {
  s0: to[k[]] = x[i]
  s1: k[] = k[] + 1
  s2: k[] = k[] + select(x[i] > 0, 2, 0)
}
)");
}

// Rows in turns, where they are written so; what is only read by a remainder is left as it is.
TEST(LiftSteps, RowsInTurns) {
  const auto body = [](const std::string& statement) {
    return root(
        "void f(int n, int t, int m, int (*restrict a)[50], const int *restrict c) { for (int k = 0; k < t; k++) "
        "for (int i = 1; i < n; i++) " +
        statement + " }");
  };
  EXPECT_EQ(body("a[(k + 1) % 2][i] = a[k & 1][i - 1] + k;"),
            "loop k = 0 .. t - 1 step 2 {\n"
            "  loop i = 1 .. n {\n    s0: a[(k + 1) mod 2, i] = a[k mod 2, i - 1] + {k}i32\n  }\n"
            "  loop i_1 = 1 .. n {\n    s1: a[k mod 2, i_1] = a[(k + 1) mod 2, i_1 - 1] + {k + 1}i32\n  }\n}\n");
  EXPECT_TRUE(body("a[0][i] += c[k % 2];").starts_with("loop k = 0 .. t {"));
  EXPECT_TRUE(body("a[k % 5][i] += 1;").starts_with("loop k = 0 .. t {"));
}

// Two iterations are one, in which both pointers are known; what is left over the program runs by itself.
TEST(LiftSteps, PointersThatALoopExchanges) {
  const auto loop = [](const std::string& exchange, const std::string& header = "for (int k = 0; k < t; k++)") {
    return "void f(int n, int t, int *a, int *b, int *c, int *d) { " + header +
           " { for (int i = 0; i < n; i++) b[i] = a[i] + k; " + exchange + " } }";
  };
  const std::string two = "int *o = a; a = b; b = o;";
  EXPECT_EQ(root(loop(two)),
            "loop k = 0 .. t - 1 step 2 {\n"
            "  loop i = 0 .. n {\n    s0: b[i] = a[i] + {k}i32\n  }\n"
            "  loop i_1 = 0 .. n {\n    s1: a[i_1] = b[i_1] + {k + 1}i32\n  }\n}\n");
  const TranslationUnit unit = lifted(loop(two));
  ASSERT_EQ(unit.nests.size(), 1u);
  EXPECT_TRUE(assumes(unit.nests[0], "t"));
  EXPECT_TRUE(unit.nests[0].epilogue.ends_with(
      "{ int k = (__typeof__(k))sous_next_k; for (; k < t; k++) { for (int i = 0; i < n; i++) b[i] = a[i] + k; int *o "
      "= a; a = b; b = o; } }"))
      << unit.nests[0].epilogue;
  EXPECT_TRUE(root(loop("int *o = a; a = b; b = c; c = o;")).starts_with("loop k = 0 .. t - 2 step 3 {"));
  EXPECT_TRUE(root(loop(two, "for (int k = t; k > 2; k -= 2)")).starts_with("loop k = t .. 4 step -4 {"))
      << root(loop(two, "for (int k = t; k > 2; k -= 2)"));
  // Only the inner loop: too many, sometimes, and text that cannot stand twice.
  for (const std::string& other :
       {loop("int *o = a; a = b; b = c; c = d; d = o;"), loop("if (k & 4) { int *o = a; a = b; b = o; }"),
        loop(two + " again:;"), loop("\n#pragma GCC unroll 2\nfor (int i = 0; i < n; i++) b[i] += a[i]; " + two)})
    EXPECT_FALSE(root(other).starts_with("loop k")) << other;
}

}  // namespace
}  // namespace sous::frontends::c
