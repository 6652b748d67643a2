// C text in, .sdfg text out.
#include "frontends/c/lift.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sdfg/text.h"

namespace sous::frontends::c {
namespace {

TranslationUnit lifted(const std::string& text, const std::vector<std::string>& arguments = {}) {
  auto unit = lift(text, "test.c", arguments);
  EXPECT_TRUE(unit.has_value()) << unit.error().to_string();
  return unit ? *unit : TranslationUnit{};
}

// The body of the only nest, without the declarations.
std::string root(const std::string& text, const std::vector<std::string>& arguments = {}) {
  TranslationUnit unit = lifted(text, arguments);
  EXPECT_EQ(unit.nests.size(), 1u) << (unit.reasons.empty() ? "no reasons" : unit.reasons[0].why);
  if (unit.nests.size() != 1) return "";
  return sdfg::print(unit.nests[0].sdfg.root, unit.nests[0].sdfg);
}

TEST(Lift, MatrixProduct) {
  EXPECT_EQ(root(R"(void f(int n, double a, double C[n][n], double A[n][n], double B[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      C[i][j] = 0;
      for (int k = 0; k < n; k++) C[i][j] += a * A[i][k] * B[k][j];
    }
})"),
            R"(loop i = 0 .. n {
  loop j = 0 .. n {
    s0: C[i, j] = 0.0
    loop k = 0 .. n {
      s1: C[i, j] = C[i, j] + a[] * A[i, k] * B[k, j]
    }
  }
}
)");
}

TEST(Lift, EverySpellingOfALoop) {
  const std::string plain = "loop i = 0 .. n {\n  s0: x[i] = 1.0\n}\n";
  auto body = [](const std::string& loop) {
    return root("void f(int n, double* x) { int i; " + loop + " x[i] = 1; }");
  };
  EXPECT_EQ(body("for (i = 0; i < n; i++)"), plain);
  EXPECT_EQ(body("for (i = 0; i < n; ++i)"), plain);
  EXPECT_EQ(body("for (i = 0; n > i; i += 1)"), plain);
  EXPECT_EQ(body("for (i = 0; i <= n - 1; i = i + 1)"), plain);
  EXPECT_EQ(body("for (i = 0; i + 1 <= n; i = 1 + i)"), plain);
  EXPECT_EQ(body("for (int i = 0; i < n; i -= -1)"), plain);
  EXPECT_EQ(body("for (i = n - 1; i >= 0; i--)"), "loop i = n - 1 .. -1 step -1 {\n  s0: x[i] = 1.0\n}\n");
  EXPECT_EQ(body("for (i = n - 1; i > 1; i -= 2)"), "loop i = n - 1 .. 1 step -2 {\n  s0: x[i] = 1.0\n}\n");
}

TEST(Lift, FlatPointersAreDelinearized) {
  TranslationUnit unit = lifted(R"(void f(int n, int m, float *x, const float *y) {
  for (int i = 1; i < n; i++)
    for (int j = 0; j < m; j++) x[i*m + j] = *(y + (i - 1)*m + j) + y[i*m + m - 1];
})");
  ASSERT_EQ(unit.nests.size(), 1u);
  const sdfg::Sdfg& s = unit.nests[0].sdfg;
  EXPECT_EQ(sdfg::print(s.root, s),
            "loop i = 1 .. n {\n  loop j = 0 .. m {\n    s0: x[i, j] = y[i - 1, j] + y[i, m - 1]\n  }\n}\n");
  ASSERT_NE(s.find("x"), nullptr);
  EXPECT_EQ(s.find("x")->shape, (std::vector<sdfg::Expr>{sdfg::Expr::symbol("n"), sdfg::Expr::symbol("m")}));
  EXPECT_EQ(s.disjoint.size(), 1u);
  EXPECT_TRUE(s.assumptions.empty());
}

TEST(Lift, ALeadingDimensionIsAssumedLargeEnough) {
  TranslationUnit unit = lifted(R"(void f(int n, int m, int lda, double *a) {
  for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i*lda + j] = 0;
})");
  ASSERT_EQ(unit.nests.size(), 1u);
  const sdfg::Sdfg& s = unit.nests[0].sdfg;
  EXPECT_EQ(sdfg::print(s.root, s), "loop i = 0 .. n {\n  loop j = 0 .. m {\n    s0: a[i, j] = 0.0\n  }\n}\n");
  ASSERT_EQ(s.assumptions.size(), 1u);
  EXPECT_EQ(s.assumptions[0].to_string(), (sdfg::Expr::symbol("lda") - sdfg::Expr::symbol("m")).to_string());
}

TEST(Lift, RowsOfAConstantLength) {
  TranslationUnit unit = lifted(R"(void f(int n, int m, double *a, float *b) {
  for (int i = 1; i < n; i++) for (int j = 0; j < m; j++) a[i*1100 + j] = a[(i - 1)*1100 + j + 1] + a[1101*i];
  for (int i = 0; i < n; i++) for (int j = 0; j < 4; j++) for (int k = 0; k < 3; k++) b[(4*i + j)*3 + k] = 0;
})");
  ASSERT_EQ(unit.nests.size(), 1u);
  const sdfg::Sdfg& s = unit.nests[0].sdfg;
  EXPECT_EQ(s.find("a")->shape[1], sdfg::Expr(1100));
  EXPECT_EQ((std::vector<sdfg::Expr>(s.find("b")->shape.begin() + 1, s.find("b")->shape.end())),
            (std::vector<sdfg::Expr>{sdfg::Expr(4), sdfg::Expr(3)}));
  const std::string text = sdfg::print(s.root, s);
  EXPECT_NE(text.find("a[i, j] = a[i - 1, j + 1] + a[i, i]"), std::string::npos) << text;
  EXPECT_NE(text.find("b[i_1, j_1, k] = 0.0"), std::string::npos) << text;
}

// Pixels of three bytes, and every other row.
TEST(Lift, RowsOfAMultipleOfAParameter) {
  TranslationUnit unit =
      lifted(R"(void f(int w, int h, const unsigned char *in, unsigned char *restrict out, float *a) {
  for (int y = 1; y < h; y++)
    for (int x = 1; x < w; x++)
      for (int c = 0; c < 3; c++) out[(y * w + x) * 3 + c] = in[((y - 1) * w + x - 1) * 3 + c];
  for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) a[(2 * y + 1) * w + x] = a[2 * y * w + x];
})");
  ASSERT_EQ(unit.nests.size(), 1u);
  const sdfg::Sdfg& s = unit.nests[0].sdfg;
  EXPECT_TRUE(s.assumptions.empty());
  EXPECT_EQ((std::vector<sdfg::Expr>(s.find("in")->shape.begin() + 1, s.find("in")->shape.end())),
            (std::vector<sdfg::Expr>{sdfg::Expr::symbol("w"), sdfg::Expr(3)}));
  const std::string text = sdfg::print(s.root, s);
  EXPECT_NE(text.find("out[y, x, c] = in[y - 1, x - 1, c]"), std::string::npos) << text;
  EXPECT_NE(text.find("a[y_1, w + x_1] = a[y_1, x_1]"), std::string::npos) << text;
}

// One nest each: what the one takes for a row has as many elements as all rows of the other.
TEST(Lift, OneLongRowAndRowsAreTwoNests) {
  TranslationUnit unit = lifted(R"(void f(int n, double *x) {
  for (int t = 0; t < 9; t++) {
    for (int i = 0; i < n * n; i++) x[i] = t;
    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) x[i * n + j] += j;
  }
})");
  ASSERT_EQ(unit.nests.size(), 2u);
  EXPECT_EQ(unit.nests[0].line, 3);
  EXPECT_EQ(unit.nests[1].line, 4);
  for (const LiftedNest& nest : unit.nests) EXPECT_TRUE(nest.sdfg.assumptions.empty());
  ASSERT_EQ(unit.reasons.size(), 1u);
  EXPECT_EQ(unit.reasons[0].code, "c.assumption");
}

// A const object keeps its initial value; another file may define a weak one.
TEST(Lift, ConstantsOfTheProgram) {
  EXPECT_EQ(root(R"(static const float third = 1.0f / 3;
const double given = 2.0;
__attribute__((weak)) const double weak = 3.0;
void f(int n, double *restrict x, double start) {
  const double half = 0.5, offset = start;
  for (int i = 0; i < n; i++) x[i] = x[i] * half + third + given + weak + offset;
})"),
            R"(loop i = 0 .. n {
  s0: x[i] = x[i] * 0.5 + 0.3333333432674408 + 2.0 + weak[] + offset[]
}
)");
}

// As a polynomial the last would have 2^30 factors.
TEST(Lift, AChainOfSquaresIsNoIndex) {
  std::string chain = "void f(int n, int *a) { for (int i = 0; i < 9; i++) { int t0 = n;";
  for (int k = 1; k <= 30; ++k) {
    const std::string before = "t" + std::to_string(k - 1);
    chain += " int t" + std::to_string(k) + " = " + before + " * " + before + ";";
  }
  EXPECT_LT(root(chain + " a[i] = t30; } }").size(), 5000u);
}

// a[2*i + j] is a window that moves by 2, unless j is known to be less.
TEST(Lift, AShortRowIsNotAssumed) {
  EXPECT_NE(root("void f(int n, int m, double *a) {"
                 "  for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[2*i + j] = 0; }")
                .find("a[2*i + j] = 0.0"),
            std::string::npos);
}

TEST(Lift, AGuardedReadBecomesABranch) {
  EXPECT_EQ(root(R"(void f(int n, int m, double *restrict x, const double *restrict y) {
  for (int i = 0; i < n; i++) x[i] = i < m ? y[i] : 0.0;
})"),
            R"(loop i = 0 .. n {
  if ({i}i64 < {m}i64) {
    s0: t[] = y[i]
  } else {
    s1: t[] = 0.0
  }
  s2: x[i] = t[]
}
)");
}

// A variable of the function's own that neither the condition nor what else stands under it looks at.
TEST(Lift, CountsUnderAConditionAreSums) {
  const auto body = [](const std::string& under, const std::string& test = "a[i] != b[i]") {
    return root(
        "int all; int f(int n, int *restrict a, const int *restrict b, int *restrict p) { int m = 0; "
        "for (int i = 0; i < n; i++) if (" +
        test + ") { " + under + " } return m; }");
  };
  const std::string counted = R"(loop i = 0 .. n {
  s0: m[] = m[] + i32(a[i] != b[i])
  if (a[i] != b[i]) {
    s1: a[i] = b[i]
  }
}
)";
  EXPECT_EQ(body("m++; a[i] = b[i];"), counted);
  EXPECT_TRUE(body("a[i] = b[i]; m++;").contains("m[] + i32(a[i] != b[i])\n  if (a[i] != b[i]) {\n"));
  EXPECT_TRUE(body("a[i] = b[i]; m -= 3;").contains("m[] - select(a[i] != b[i], 3, 0)\n  if"))
      << body("a[i] = b[i]; m -= 3;");
  EXPECT_EQ(body("m++;"), "loop i = 0 .. n {\n  s0: m[] = m[] + i32(a[i] != b[i])\n}\n");
  EXPECT_TRUE(body("m++; } else { a[i] = b[i];").contains("m[] + i32(a[i] != b[i])\n  if (!(a[i] != b[i])) {\n"))
      << body("m++; } else { a[i] = b[i];");
  for (const char* in_order : {"m++; } else { m += 2;", "m++; } else { a[i] = m;", "m++; a[i] = m;",
                               "(*p)++; a[i] = b[i];", "all++; a[i] = b[i];", "m += b[i]; a[i] = b[i];"})
    EXPECT_TRUE(body(in_order).starts_with("loop i = 0 .. n {\n  if (")) << body(in_order);
  EXPECT_TRUE(body("m++; a[i] = b[i];", "a[i] != m").starts_with("loop i = 0 .. n {\n  if ("));
}

TEST(Lift, IndirectSubscripts) {
  EXPECT_EQ(root(R"(void f(int n, const int *restrict row, const int *restrict col, const double *restrict v,
       const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int k = row[i]; k < row[i + 1]; k++) sum += v[k] * x[col[k]];
    y[i] = sum;
  }
})"),
            R"(loop i = 0 .. n {
  s0: sum[] = 0.0
  loop k = row[i] .. row[i + 1] {
    s1: sum[] = sum[] + v[k] * x[col[k]]
  }
  s2: y[i] = sum[]
}
)");
}

TEST(Lift, CallsWithinCallsGrowNoFasterThanTheirText) {
  std::string value = "x[i]";
  for (int k = 0; k < 14; ++k) value = "g(" + value + ", i)";
  const std::string text = root(
      "static int g(int a, int b) { return a > b ? a - b : (a ^ b) + a; }\n"
      "void f(int n, int *x) { for (int i = 0; i < n; i++) x[i] = " +
      value + "; }");
  EXPECT_LT(text.size(), 10'000U) << text.substr(0, 2000);
}

TEST(Lift, ContinueAndInlining) {
  EXPECT_EQ(root(R"(static double square(double x) { return x * x; }
static void put(double *to, int at, double v) { to[at] = v; }
void f(int n, double x[100]) {
  for (int i = 0; i < n; i++) {
    if (x[i] < 0) continue;
    put(x, i, square(x[i]) + 1);
  }
})"),
            R"(loop i = 0 .. n {
  if (!(x[i] < 0.0)) {
    s0: v[] = uncontracted(x[i] * x[i]) + 1.0
    s1: x[i] = v[]
  }
}
)");
}

TEST(Lift, SteppedPointersAndIndices) {
  EXPECT_EQ(root(R"(void f(int w, int h, int pad, const int *restrict s, int *restrict d) {
  for (int y = 0; y < h; y++, s += pad)
    for (int x = 0; x < w; x++) *d++ = *s++;
})"),
            R"(loop y = 0 .. h {
  loop x = 0 .. w {
    s0: d[y, x] = s[y, x]
  }
}
)");
  TranslationUnit unit = lifted(R"(double *f(int n, double *p, const int *restrict q) {
  int k = 0, i;
  for (i = 0; i < n; i += 2, p++) { *p = q[k++]; if (q[k++] > 0) continue; *p += 1; }
  return p + k + i;
})");
  ASSERT_EQ(unit.nests.size(), 1u);
  EXPECT_NE(unit.nests[0].epilogue.find("p = (p) + sous_final_"), std::string::npos) << unit.nests[0].epilogue;
  // Where it may not be executed in each iteration, nobody knows how far it got.
  unit = lifted("void f(int n, int *p, const int *q) { for (int i = 0; i < n; i++) if (q[i]) *p++ = i; }");
  ASSERT_EQ(unit.nests.size(), 0u);
  EXPECT_EQ(unit.reasons.at(0).code, "c.induction-variable");
}

TEST(Lift, StructMembersAndKnownParameters) {
  TranslationUnit unit = lifted(R"(struct grid { int n; double *a; double h; };
static void f(const struct grid *g, int w) { for (int i = 0; i < g->n - w; i++) g->a[i] *= g->h; }
void h(struct grid *g) { f(g, 2); f(g, 2); })");
  // The members are doubles, as what is written: g->h might be one of the elements.
  ASSERT_EQ(unit.nests.size(), 1u);
  EXPECT_NE(unit.nests[0].guard.find("sous_apart((const void *)&(g->h), 0UL, sizeof(g->h), "), std::string::npos);
  unit = lifted(R"(struct grid { int n; double *a; };
static void f(const struct grid *g, int w) { for (int i = 0; i < g->n - w; i++) g->a[i] *= 2; }
void h(struct grid *g) { f(g, 2); f(g, 2); })");
  ASSERT_EQ(unit.nests.size(), 1u);
  EXPECT_EQ(unit.nests[0].known, (std::map<std::string, std::int64_t>{{"w", 2}}));
  EXPECT_EQ(unit.nests[0].arguments.at(0).expression, "g->n");
  EXPECT_EQ(unit.nests[0].arguments.at(2).expression, "g->a");
}

// What a call passes may be a variable: as long as nothing but its declaration gives it a value.
TEST(Lift, ParametersAreKnownFromVariablesThatStay) {
  const auto known = [](const std::string& caller) {
    const TranslationUnit unit = lifted(R"(static void f(int n, int w, double *x) {
  for (int i = 0; i < n; i++) x[i] *= w;
}
)" + caller);
    return unit.nests.empty() ? std::map<std::string, std::int64_t>{{"none", 0}} : unit.nests[0].known;
  };
  using Known = std::map<std::string, std::int64_t>;
  EXPECT_EQ(known("void h(double *x) { int n = 100, w = 3; double (*y)[n] = (void *)x; f(n, w, y[0]); }"),
            (Known{{"n", 100}, {"w", 3}}));
  EXPECT_EQ(known("static void g(int k, double *x) { f(k, 2, x); } void h(double *x) { const int m = 7; g(m, x); }"),
            (Known{{"n", 7}, {"w", 2}}));
  EXPECT_EQ(known("void h(double *x) { int n = 100; f(n, 1, x); f(n + 0, 1, x); }"), (Known{{"w", 1}}));
  // Changed somewhere, by any means, or of another value in another call.
  for (const char* change : {"n++;", "n = 5;", "n += 1;", "int *p = &n; *p = 2;", "scanf(\"%d\", &n);"})
    EXPECT_EQ(known("int scanf(const char *, ...); void h(double *x) { int n = 100; " + std::string(change) +
                    " f(n, 1, x); }"),
              (Known{{"w", 1}}))
        << change;
  EXPECT_EQ(known("void h(double *x) { int n = 100, m = 50; f(n, 1, x); f(m, 1, x); }"), (Known{{"w", 1}}));
  // Somebody else may call it.
  for (const char* call : {"void i(void) { __asm__(\"call f\"); }", "__asm__(\"jmp f\");",
                           "void i(int, int, double *) __attribute__((alias(\"f\")));"})
    EXPECT_EQ(known(std::string("void h(double *x) { f(9, 1, x); } ") + call), Known{}) << call;
  EXPECT_EQ(known("void h(double *x) { volatile int n = 100; f(n, 1, x); }"), (Known{{"w", 1}}));
  EXPECT_EQ(known("void h(double *x, int n) { f(n, 1, x); }"), (Known{{"w", 1}}));
  EXPECT_EQ(known("void h(double *x) { long n = 5000000000; f(n, 1, x); }"), (Known{{"w", 1}}));
}

// A local variable that nothing gives another value, and one that has not got it before the nest.
TEST(Lift, LocalConstantsAreKnown) {
  const auto known = [](const std::string& body) {
    const TranslationUnit unit = lifted("void g(int *); void f(int m, double *x) { " + body + " }");
    return unit.nests.empty() ? std::map<std::string, std::int64_t>{{"none", 0}} : unit.nests[0].known;
  };
  using Known = std::map<std::string, std::int64_t>;
  const std::string loop = " for (int i = 0; i < n; i++) x[i] *= 2;";
  EXPECT_EQ(known("int n = 100;" + loop), (Known{{"n", 100}}));
  EXPECT_EQ(known("int n = 100; while (m-- > 0) { g(0);" + loop + " }"), (Known{{"n", 100}}));
  EXPECT_EQ(known("int n; n = 100;" + loop + " n = 7;"), (Known{{"n", 100}}));
  EXPECT_EQ(known("int n = 100; n = m;" + loop), Known{});
  EXPECT_EQ(known("int n = 100; if (m) n = 3;" + loop), Known{});
  EXPECT_EQ(known("int n = 100; while (m-- > 0) { g(0);" + loop + " n--; }"), Known{});
  EXPECT_EQ(known("int n = 100; g(&n);" + loop), Known{});
  EXPECT_EQ(known("int n = m;" + loop), Known{});
  EXPECT_EQ(known("static int n = 100;" + loop + " n--;"), Known{});
}

TEST(Lift, InductionVariablesGetTheirFinalValue) {
  TranslationUnit unit = lifted(R"(int f(int n, int m, double *x) {
  int i, j;
  for (i = 0; i < n; i++) for (j = 1; j < m; j++) x[j] += 1;
  return i + j;
})");
  ASSERT_EQ(unit.nests.size(), 1u);
  EXPECT_EQ(unit.nests[0].epilogue,
            "int sous_if_0 = (long long)(n) + -1LL >= 0;\n"
            "long long sous_final_0 = sous_if_0 ? 1LL : 0;\n"
            "int sous_if_1 = (long long)(n) + -1LL >= 0 && (long long)(m) + -2LL >= 0;\n"
            "long long sous_final_1 = sous_if_1 ? (long long)(m) : 0;\n"
            "long long sous_final_2 = 0LL;\n"
            "int sous_if_3 = (long long)(n) + -1LL >= 0;\n"
            "long long sous_final_3 = sous_if_3 ? (long long)(n) : 0;\n"
            "if (sous_if_0) j = (__typeof__(j))sous_final_0;\nif (sous_if_1) j = (__typeof__(j))sous_final_1;\n"
            "i = (__typeof__(i))sous_final_2;\nif (sous_if_3) i = (__typeof__(i))sous_final_3;\n");
}

TEST(Lift, AFinalValueBehindABoundThatIsReadIsNotKnown) {
  const TranslationUnit unit = lifted(R"(int f(int n, const int *restrict row, double *restrict x) {
  int j = 5;
  for (int i = 0; i < row[1]; i++)
    for (j = 1; j < n; j++) x[j] += i;
  return j;
})");
  ASSERT_EQ(unit.nests.size(), 1u);
  EXPECT_EQ(unit.nests[0].line, 4) << "the loop over j";
  ASSERT_FALSE(unit.reasons.empty());
  EXPECT_EQ(unit.reasons[0].code, "c.induction-variable");
}

TEST(Lift, UnsignedArithmeticIsCheckedOnEntry) {
  TranslationUnit unit =
      lifted("void f(unsigned n, double *x) { for (unsigned i = 0; i < n - 1; i++) x[i + 1] = x[i]; }");
  ASSERT_EQ(unit.nests.size(), 1u);
  ASSERT_EQ(unit.nests[0].sdfg.assumptions.size(), 1u);
  EXPECT_EQ(unit.nests[0].sdfg.assumptions[0].to_string(), "n - 1");
  unit = lifted("void f(unsigned n, double *x) { for (unsigned i = n; i >= 0; i--) x[i] = 0; }");
  ASSERT_EQ(unit.nests.size(), 0u);
  EXPECT_EQ(unit.reasons.at(0).code, "c.unsigned-wrap");
}

// Empty ranges may have ends that lie farther apart than 64 bits count. What types say, or C computes, is not asked.
TEST(Lift, HowFarTheEndsOfALoopLieApartIsAskedOnEntry) {
  const auto asked = [](const std::string& parameters, const std::string& loops) {
    const TranslationUnit unit = lifted("void f(" + parameters + ", int *x) { " + loops + " x[0] += 1; }");
    EXPECT_EQ(unit.nests.size(), 1u) << loops;
    std::string all;
    for (const sdfg::Expr& e : unit.nests.at(0).sdfg.assumptions) all += e.to_string() + "; ";
    return all;
  };
  const std::string range = "for (long i = lo; i < hi; i++)", one = std::to_string(std::int64_t{1} << 62),
                    two = std::to_string(std::int64_t{1} << 61);
  EXPECT_EQ(asked("long lo, long hi", range), "hi + " + two + "; -lo + " + two + "; ");
  EXPECT_EQ(asked("int lo, long hi", range), "hi + " + two + "; ");
  EXPECT_EQ(asked("long hi", "for (long i = 1; i < hi; i++)"), "hi + " + one + "; ");
  EXPECT_EQ(asked("long hi", "for (long i = 0; i + 1 < hi; i++)"), "hi + " + one + "; ");
  EXPECT_EQ(asked("long hi", "for (long i = 0; i < hi; i++) for (long j = i + 1; j < hi; j++)"), "hi + " + one + "; ");
  EXPECT_TRUE(asked("long i, long hi", "while (i++ < hi)").starts_with("hi + " + two + "; -i_1 + " + two + "; "));
  for (const char* loops :
       {"for (long i = 0; i < hi; i++)", "for (long i = hi - 1; i >= 0; i--)", "for (long i = hi - 1; i > 0; i--)",
        "for (long i = 0; i < hi; i++) for (long j = i; j < hi; j++)"})
    EXPECT_EQ(asked("long hi", loops), "") << loops;
  EXPECT_EQ(asked("int lo, unsigned hi", range), "");
  EXPECT_EQ(asked("unsigned long lo, unsigned long hi", "for (unsigned long i = lo; i < hi; i++)"), "lo; hi; ");
}

TEST(Lift, AFinalValueThatAnEarlierIterationLeftIsNotKnown) {
  // With n = 3 the last iteration of i does not reach the loop over k.
  const TranslationUnit unit = lifted(R"(int f(int n, double *restrict x) {
  int k = 5;
  for (int i = 0; i < 2; i++)
    for (int j = n - 1; j > i + 1; j--)
      for (k = i; k < 9; k++) x[k] = j;
  return k;
})");
  ASSERT_EQ(unit.nests.size(), 1u);
  EXPECT_EQ(unit.nests[0].line, 4) << "the loop over j, where i is fixed";
  ASSERT_FALSE(unit.reasons.empty());
  EXPECT_EQ(unit.reasons[0].code, "c.induction-variable");
}

TEST(Lift, ALoopThatBeginsBeyondEveryIndexIsSkipped) {
  EXPECT_EQ(root(R"(void f(int n, const unsigned long *restrict row, double *restrict x) {
  for (int i = 0; i < n; i++)
    for (unsigned long k = row[i]; k < row[i + 1]; k++) x[k] = 0;
})"),
            R"(loop i = 0 .. n {
  if (row[i] <= 9223372036854775807u64) {
    loop k = row[i] .. row[i + 1] {
      s0: x[k] = 0.0
    }
  }
}
)");
}

TEST(Lift, AProductOfFourExtentsInSizeTIsASubscript) {
  const std::string head = "void f(int a, int b, int c, int d, float *restrict x) { for (int i = 0; i < a; i++) ";
  const std::string loops =
      "for (int j = 0; j < b; j++) for (int k = 0; k < c; k++) for (int l = 0; l < d; l++) "
      "x[(((unsigned long)i * b + j) * c + k) * d + l] = 0; }";
  const TranslationUnit unit = lifted(head + loops);
  ASSERT_EQ(unit.nests.size(), 1u);
  const sdfg::Sdfg& nest = unit.nests[0].sdfg;
  EXPECT_EQ(nest.containers.at(0).shape.size(), 4u);
  // Each extent of them is small enough, but not their product.
  const auto declined = [&](std::int64_t extent) {
    std::map<std::string, std::int64_t> all;
    for (const std::string& s : nest.symbols) all[s] = extent;
    return std::ranges::any_of(nest.assumptions, [&](const sdfg::Expr& e) { return e.evaluate(all).value_or(-1) < 0; });
  };
  EXPECT_FALSE(declined(1000));
  EXPECT_TRUE(declined(65536));
  EXPECT_TRUE(declined(0));
}

// Which of the two comes first in the alphabet does not say which is the longer.
TEST(Lift, RowsOfADifferenceAreNotOfItsNegative) {
  for (const auto& [longer, shorter] : {std::pair("a", "b"), std::pair("b", "a")}) {
    const std::string width = std::string(longer) + " - " + shorter;
    for (const std::string row : {"y", "h - 1 - y"}) {
      const TranslationUnit unit = lifted(
          "void f(int a, int b, int h, int s, const float *restrict in, float *restrict out) {\n"
          "for (int y = h - 1; y >= 0; y--) for (int x = 0; x < " +
          width + "; x++) out[(" + row + ") * (" + width + ") + x] = in[y * s + x]; }");
      ASSERT_EQ(unit.nests.size(), 1u);
      const sdfg::Container* out = unit.nests[0].sdfg.find("out");
      ASSERT_NE(out, nullptr);
      ASSERT_EQ(out->shape.size(), 2u);
      EXPECT_EQ(out->shape[1], sdfg::Expr::symbol(longer) - sdfg::Expr::symbol(shorter)) << width << " " << row;
    }
  }
}

TEST(Lift, ReadsBeyondEveryIndexAreNotComparedAsIndices) {
  for (const char* loop : {"for (unsigned long j = 0; j < d[i] && j < 4; j++) x[j] = 0;",
                           "for (unsigned long j = 0; j < (d[i] < 4 ? d[i] : 4); j++) x[j] = 0;",
                           "for (unsigned long j = 0; j < d[i] >> 8; j++) x[j] = 0;"}) {
    const TranslationUnit unit =
        lifted("void f(int n, const unsigned long *restrict d, double *restrict x) { for (int i = 0; i < n; i++) " +
               std::string(loop) + " }");
    EXPECT_EQ(unit.nests.size(), 0u) << loop;
    ASSERT_FALSE(unit.reasons.empty()) << loop;
    EXPECT_EQ(unit.reasons[0].code, "c.unsigned-wrap") << loop;
  }
}

TEST(Lift, WhatMayOverlapIsCheckedAndWhatCannotIsNot) {
  auto pairs = [](const std::string& text) {
    TranslationUnit unit = lifted(text);
    std::string result;
    for (const LiftedNest& n : unit.nests)
      for (const auto& [a, b] : n.sdfg.disjoint) result += a + "," + b + " ";
    return result;
  };
  const std::string loop = "{ for (int i = 0; i < n; i++) x[i] = y[i]; }";
  EXPECT_EQ(pairs("void f(int n, double *x, double *y)" + loop), "y,x ");
  EXPECT_EQ(pairs("void f(int n, double *restrict x, double *y)" + loop), "");
  EXPECT_EQ(pairs("void f(int n, double *x, float *y)" + loop), "");
  EXPECT_EQ(pairs("void f(int n, double *x, char *y)" + loop), "y,x ");
  EXPECT_EQ(pairs("double x[9], y[9]; void f(int n)" + loop), "");
  EXPECT_EQ(pairs("double y[9]; void f(int n, double *x)" + loop), "y,x ");
  EXPECT_EQ(pairs("static const double y[9] = {1}; void f(int n, double *x)" + loop), "");
  // y is based on x.
  EXPECT_EQ(pairs("void f(int n, double *restrict x) { double *y = x + 3; for (int i = 0; i < n; i++) x[i] = y[i]; }"),
            "y,x ");
}

TEST(Lift, AHiddenGlobalIsNotConfused) {
  TranslationUnit unit = lifted(R"(int scale;
static double scaled(double x) { return x * scale; }
void f(int n, double *x) { int scale = 3; for (int i = 0; i < n; i++) x[i] = scaled(x[i]) + scale; })");
  EXPECT_EQ(unit.nests.size(), 0u);
}

TEST(Lift, TheTextOfANestAndItsPlace) {
  const std::string text =
      "# 1 \"user.c\"\nvoid f(int n, int *x) {\n  n++;\n# 30 \"user.c\"\n"
      "  for (int i = 0; i < n; i++)\n    x[i] = i ;\n  n--;\n}\n";
  auto unit = lift(text, "test.i", {});
  ASSERT_TRUE(unit.has_value());
  ASSERT_EQ(unit->nests.size(), 1u);
  const LiftedNest& nest = unit->nests[0];
  EXPECT_EQ(text.substr(nest.begin, nest.end - nest.begin), "for (int i = 0; i < n; i++)\n    x[i] = i ;");
  EXPECT_EQ(nest.line, 30);
  EXPECT_EQ(nest.end_line, 31);
  EXPECT_EQ(nest.file, "user.c");
  EXPECT_EQ(nest.sdfg.name, "f_30");
}

TEST(Lift, LoopsInsideWhatIsNotUnderstood) {
  TranslationUnit unit = lifted(R"(int printf(const char *, ...);
void f(int n, double *x) {
  while (x[0] > 1) {
    printf("step\n");
    for (int i = 0; i < n; i++) x[i] /= 2;
    if (n > 3) { printf("x"); for (int i = 0; i < n; i++) x[i] += 1; }
  }
})");
  EXPECT_EQ(unit.nests.size(), 2u);
  auto has = [&](const std::string& code) {
    return std::ranges::any_of(unit.reasons, [&](const Reason& r) { return r.code == code; });
  };
  EXPECT_TRUE(has("c.while"));
  EXPECT_TRUE(has("c.call.unknown-effects"));
}

TEST(Lift, ABreakIsAFlagAndTheLoopAroundItStays) {
  EXPECT_EQ(root(R"(void f(int n, int m, int at[64], const int a[64], const int x[64]) {
  for (int i = 0; i < n; i++) {
    at[i] = -1;
    for (int j = 0; j < m; j++)
      if (a[j] > x[i]) {
        at[i] = j;
        break;
      }
  }
})"),
            R"(loop i = 0 .. n {
  s0: at[i] = -1
  s1: j[] = 0
  s2: t[] = j[] < {m}i32
  while (t[]) {
    if (a[j[]] > x[i]) {
      s3: at[i] = j[]
      s4: t[] = false
    }
    if (t[]) {
      s5: j[] = j[] + 1
      s6: t[] = j[] < {m}i32
    }
  }
}
)");
}

// How far the search may go is known on entry, where the arrays are compared.
TEST(Lift, WhatASearchReachesIsKnown) {
  TranslationUnit unit = lifted(R"(void f(int n, int m, int *at, const int *a) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      if (a[i * m + j] == 3) {
        at[i] = j;
        break;
      }
})");
  ASSERT_EQ(unit.nests.size(), 1u);
  const sdfg::Sdfg& s = unit.nests[0].sdfg;
  EXPECT_EQ(s.find("a")->shape, (std::vector<sdfg::Expr>{sdfg::Expr::symbol("n"), sdfg::Expr::symbol("m")}));
  EXPECT_EQ(s.disjoint.size(), 1u);
}

TEST(Lift, ASwitchIsBranches) {
  EXPECT_EQ(root(R"(void f(int n, double *x, const int *k) {
  for (int i = 0; i < n; i++)
    switch (k[i]) {
      case 1: x[i] = 1;
      case 2: x[i] += 2; break;
      default: x[i] = 0;
    }
})"),
            R"(loop i = 0 .. n {
  if (k[i] == 1) {
    s0: x[i] = 1.0
    s1: x[i] = x[i] + 2.0
  } else {
    if (k[i] == 2) {
      s2: x[i] = x[i] + 2.0
    } else {
      s3: x[i] = 0.0
    }
  }
}
)");
}

TEST(Lift, ProductsThatAPragmaKeepsApart) {
  const std::string rest = "for (int i = 0; i < n; i++) x[i] = x[i] * x[i] - 1; }";
  const std::string off = "void f(int n, double *x) {\n#pragma STDC FP_CONTRACT OFF\n" + rest;
  EXPECT_EQ(root(off), "loop i = 0 .. n {\n  s0: x[i] = uncontracted(x[i] * x[i]) - 1.0\n}\n");
  const std::string on = "void f(int n, double *x) {\n#pragma STDC FP_CONTRACT ON\n" + rest;
  EXPECT_EQ(root(on), "loop i = 0 .. n {\n  s0: x[i] = x[i] * x[i] - 1.0\n}\n");
  EXPECT_TRUE(lifted(on, {"-ffp-contract=off"}).nests.empty());
}

TEST(Lift, WarningsThatTheCommandTurnsOffAreNone) {
  const std::string text = "f(n, x) double *x; { for (int i = 0; i < n; i++) x[i] = 0; return 0; }";
  EXPECT_FALSE(lift(text, "test.c", {}).has_value());
  EXPECT_EQ(lifted(text, {"-Wno-implicit-int", "-Wno-deprecated-non-prototype"}).nests.size(), 1u);
}

TEST(Lift, BrokenInputIsAnError) {
  auto unit = lift("void f( {", "test.c", {});
  ASSERT_FALSE(unit.has_value());
  EXPECT_EQ(unit.error().code, "c.parse");
  EXPECT_EQ(unit.error().where, "test.c:1:9");
}

// Two of an image's sizes are twice those of its half, which no sizes of one kind are.
TEST(Lift, AnImageAndItsHalf) {
  EXPECT_EQ(root(R"(void f(int c, int h, int w, int hh, int ww, float *restrict t, const float *restrict s) {
  for (int k = 0; k < c; k++)
    for (int y = 0; y < hh; y++)
      for (int x = 0; x < ww; x++)
        for (int j = 0; j < 2; j++) t[(k * hh + y) * ww + x] += s[(k * h + 2 * y + j) * w + 2 * x];
})"),
            R"(loop k = 0 .. c {
  loop y = 0 .. hh {
    loop x = 0 .. ww {
      loop j = 0 .. 2 {
        s0: t[k, y, x] = t[k, y, x] + s[k, j + 2*y, 2*x]
      }
    }
  }
}
)");
}

// A loop over four rows of m: rows in which it stays would have none.
TEST(Lift, AFlatLoopOverSeveralRows) {
  EXPECT_EQ(root(R"(void f(int m, double *restrict v) {
  for (int i = 0; i < 4 * m; i++) v[i] = 1;
  for (int c = 0; c < 4; c++)
    for (int j = 0; j < m; j++) v[c * m + j] /= 3;
})"),
            R"(loop i = 0 .. 4*m {
  s0: v[i] = 1.0
}
loop c = 0 .. 4 {
  loop j = 0 .. m {
    s1: v[c*m + j] = v[c*m + j] / 3.0
  }
}
)");
}

// Rows of m + 1 and of 2r + 1 are what the subscript says, not rows of m and of 2r with more in them.
TEST(Lift, RowsOfSums) {
  EXPECT_EQ(root(R"(void f(int n, int m, int *restrict t) {
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= m; j++) t[i * (m + 1) + j] = t[(i - 1) * (m + 1) + j - 1];
})"),
            R"(loop i = 1 .. n + 1 {
  loop j = 1 .. m + 1 {
    s0: t[i, j] = t[i - 1, j - 1]
  }
}
)");
  EXPECT_EQ(root(R"(void f(int d, int h, int w, double *restrict t, const double *restrict s) {
  for (int k = 0; k < d; k++)
    for (int i = 0; i < h - 2; i++)
      for (int j = 0; j < w - 2; j++) t[(k * (h - 2) + i) * (w - 2) + j] = s[(k * h + i) * w + j + 1];
})"),
            R"(loop k = 0 .. d {
  loop i = 0 .. h - 2 {
    loop j = 0 .. w - 2 {
      s0: t[k, i, j] = s[k, i, j + 1]
    }
  }
}
)");
  // What a condition says of one array's subscript takes nothing from what the loops say of another's.
  EXPECT_EQ(root(R"(void f(int w, int r, float *restrict d, const float *restrict s, const float *restrict k) {
  for (int x = 0; x < w; x++)
    for (int y = -r; y <= r; y++)
      for (int v = -r; v <= r; v++)
        if (x + v >= 0 && x + v < w) d[x] += s[x + v] * k[(y + r) * (2 * r + 1) + v + r];
})"),
            R"(loop x = 0 .. w {
  loop y = -r .. r + 1 {
    loop v = -r .. r + 1 {
      if ({v + x}i64 >= 0i64 && {v + x}i64 < {w}i64) {
        s0: d[x] = d[x] + s[v + x] * k[r + y, r + v]
      }
    }
  }
}
)");
  // Also where only the entry can ask how many of them are used.
  EXPECT_EQ(root(R"(void f(int n, int m, int w, double *restrict t, const double *restrict s) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) t[i * (w + 2) + j + 1] = s[i * m + j];
})"),
            R"(loop i = 0 .. n {
  loop j = 0 .. m {
    s0: t[i, j] = s[i, j]
  }
}
)");
  // A diagonal is one of rows of n.
  EXPECT_EQ(root(R"(void f(int n, double *restrict a) {
  for (int i = 0; i < n; i++) {
    a[i * n + i] = 1;
    for (int j = 0; j < n; j++) a[i * n + j] *= 2;
  }
})"),
            R"(loop i = 0 .. n {
  s0: a[i, i] = 1.0
  loop j = 0 .. n {
    s1: a[i, j] = a[i, j] * 2.0
  }
}
)");
}

}  // namespace
}  // namespace sous::frontends::c
