// What is known of a function's parameters by its calls, and constants of math.h.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "frontends/c/lift.h"
#include "sdfg/text.h"

namespace sous::frontends::c {
namespace {

TranslationUnit lifted(const std::string& text) {
  auto unit = lift(text, "a.c", {"-std=gnu17"});
  EXPECT_TRUE(unit) << unit.error().to_string();
  return unit ? std::move(*unit) : TranslationUnit{};
}
const std::string scale =
    "void scale(int n, double *x, double *y, int m) {\n"
    "  for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[i] += x[i + j];\n}\n";

TEST(LiftConstants, WhatAllCallsOfTheFilePassIsCheckedOnEntry) {
  const auto unit = lifted(scale + "void f(int n, double *x, double *y) { scale(n, x, y, 5); scale(n, y, x, 5); }");
  ASSERT_EQ(unit.nests.size(), 1u);
  EXPECT_EQ(unit.nests[0].known, (std::map<std::string, std::int64_t>{{"m", 5}}));
  EXPECT_EQ(unit.nests[0].guard, "m == 5");
  EXPECT_EQ(unit.nests[0].hint.at, 0u);
  EXPECT_EQ(unit.nests[0].hint.text, "extern __inline__ ");
}

TEST(LiftConstants, OfStaticFunctionsItIsKnown) {
  const auto unit = lifted("static " + scale + "void f(int n, double *x, double *y) { scale(n, x, y, 5); }");
  ASSERT_EQ(unit.nests.size(), 1u);
  EXPECT_EQ(unit.nests[0].known, (std::map<std::string, std::int64_t>{{"m", 5}}));
  EXPECT_EQ(unit.nests[0].guard, "");
  EXPECT_EQ(unit.nests[0].hint.text, "__inline__ ");
}

TEST(LiftConstants, OfWhatAHeaderDeclaresOrOthersNameNothingIsSupposed) {
  const std::string call = "void f(int n, double *x, double *y) { scale(n, x, y, 5); }";
  const auto known = [](const std::string& text) {
    const auto unit = lifted(text);
    return unit.nests.empty() ? 9 : unit.nests[0].known.size() + unit.nests[0].guard.size();
  };
  EXPECT_EQ(known("# 1 \"scale.h\" 1\nvoid scale(int, double *, double *, int);\n# 2 \"a.c\" 2\n" + scale + call), 0u);
  EXPECT_EQ(known(scale + call + "void (*p)(int, double *, double *, int) = scale;"), 0u);
  EXPECT_EQ(known(scale + call + "void g(int n, double *x, double *y) { scale(n, x, y, 6); }"), 0u);
}

TEST(LiftConstants, HintsAreForWhatMayBeInlined) {
  for (const std::string head : {"__attribute__((noinline)) ", "inline ", "__attribute__((weak)) "}) {
    const auto unit = lifted(head + scale);
    ASSERT_EQ(unit.nests.size(), 1u) << head;
    EXPECT_EQ(unit.nests[0].hint.text, "") << head;
  }
}

// A second function with the same text: only of what is put in the place of no call, and declares no more than it may.
TEST(LiftConstants, WholeFunctionsAreThoseThatStayApart) {
  const auto whole = [](const std::string& text) {
    const auto unit = lifted(text);
    EXPECT_EQ(unit.nests.size(), 1u) << text;
    const auto& found = unit.nests.empty() ? std::nullopt : unit.nests[0].whole;
    return !found ? "" : text.substr(found->begin, found->name_end - found->begin) + "(" + found->passed + ")";
  };
  const std::string call = "void f(int n, double *x, double *y) { scale(n, x, y, 5); }",
                    fixed = "__attribute__((noinline)) ";
  EXPECT_EQ(whole(scale), "void scale(n, x, y, m)");
  EXPECT_EQ(whole(fixed + scale + call), fixed + "void scale(n, x, y, m)");
  for (const std::string& other :
       {scale + call, "static " + fixed + scale + call, "inline " + scale, "__attribute__((weak)) " + scale,
        "__attribute__((constructor)) void a(void) {}\n" + scale + call,
        std::string("int g(int n, double *x) {\n  for (int i = 0; i < n; i++) x[i] *= 2;\n  return 0;\n}"),
        std::string("void g(int n, double *x) {\n  int i, m = n / 2;\n  for (i = 0; i < m; i++) x[i] *= 2;\n}"),
        std::string("void g(int n, double *x) {\n  static int i;\n  for (i = 0; i < n; i++) x[i] *= 2;\n}"),
        std::string("void h(void);\nvoid g(int n, double *x) {\n  for (int i = 0; i < n; i++) x[i] *= 2;\n  h();\n}"),
        std::string("void g(int n,\n# 7 \"a.c\"\n double *x) {\n  for (int i = 0; i < n; i++) x[i] *= 2;\n}")})
    EXPECT_EQ(whole(other), "") << other;
  EXPECT_EQ(whole("void g(int n, double *x) {\n  int i;\n  for (i = 0; i < n; i++) x[i] *= 2;\n  return;\n}"),
            "void g(n, x)");
}

TEST(LiftConstants, InfinityIsANumber) {
  const auto unit = lifted(
      "double f(int n, double *x) {\n  double least = __builtin_inff();\n"
      "  for (int i = 0; i < n; i++) { if (x[i] < least) least = x[i]; x[i] = -__builtin_huge_val(); }\n"
      "  return least;\n}");
  ASSERT_EQ(unit.nests.size(), 1u);
  EXPECT_NE(sdfg::print(unit.nests[0].sdfg).find("inf(f64)"), std::string::npos);
}

// Also those that a block declares; not what may change, nor what is longer than a compiler makes numbers of.
TEST(LiftConstants, ShortTablesAreNumbers) {
  using Tables = std::map<std::string, std::string>;
  const auto tables = [](const std::string& ahead, const std::string& inside) {
    const auto unit = lifted(ahead + "void f(int n, double *x) {\n" + inside +
                             "  for (int i = 0; i < n; i++) for (int k = 0; k < 3; k++) x[i] += t[k] * i;\n}\n");
    EXPECT_EQ(unit.nests.size(), 1u);
    return unit.nests.empty() ? Tables{} : unit.nests[0].tables;
  };
  EXPECT_EQ(tables("static const int t[3] = {-1, 0};\n", ""), (Tables{{"t", "-1LL,0LL,0LL,"}}));
  EXPECT_EQ(tables("", "  static const double t[3] = {0.5, -0.0, 2};\n"), (Tables{{"t", "0x1p-1,-0x0p+0,0x1p+1,"}}));
  EXPECT_EQ(tables("const unsigned char t[3] = {7, 255, 0};\n", ""), (Tables{{"t", "7ULL,255ULL,0ULL,"}}));
  EXPECT_EQ(tables("static int t[3] = {1, 2, 3};\n", ""), Tables{});
  EXPECT_EQ(tables("static const int t[65] = {1};\n", ""), Tables{});
  EXPECT_EQ(tables("extern const int t[3];\n", ""), Tables{});
}

}  // namespace
}  // namespace sous::frontends::c
