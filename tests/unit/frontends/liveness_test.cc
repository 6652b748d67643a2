// Which arrays are dead after a nest: each rule of frontends/c/liveness.cc, and what must stay live beside it.
#include <gtest/gtest.h>

#include "frontends/c/lift.h"
#include "sdfg/text.h"

namespace sous::frontends::c {
namespace {

// The dead arrays of all nests, in order: "tmp" or "f_3: tmp; f_5: tmp, x" where there are several nests.
std::string dead(const std::string& text, const std::vector<std::string>& arguments = {}) {
  auto unit = lift(text, "test.c", arguments);
  EXPECT_TRUE(unit.has_value()) << unit.error().to_string();
  if (!unit) return "no unit";
  if (unit->nests.empty()) return "no nest: " + (unit->reasons.empty() ? std::string() : unit->reasons[0].why);
  std::string all;
  for (const LiftedNest& nest : unit->nests) {
    std::string names;
    for (const sdfg::Container& c : nest.sdfg.containers)
      if (c.dead) names += (names.empty() ? "" : ", ") + c.name;
    if (unit->nests.size() > 1) all += (all.empty() ? "" : "; ") + nest.sdfg.name + ":" + (names.empty() ? "" : " ");
    all += names;
  }
  return all;
}

// A nest that fills `t` and copies it into x, reading only what it wrote.
const std::string nest = "for (int i = 0; i < 100; i++) t[i] = x[i] * 2;\nfor (int i = 0; i < 100; i++) x[i] = t[i];\n";
// One whose first read of `t` is of a value from before.
const std::string exposed = "for (int i = 0; i < 100; i++) { x[i] = t[i]; t[i] = x[i] * 2; }\n";
const std::string head = "void use(double *); double g;\n";

std::string local(const std::string& before, const std::string& after, const std::string& the_nest = nest) {
  return dead(head + "double f(int n, double *restrict x) {\n" + before + "\n" + the_nest + after + "\nreturn 0; }");
}

TEST(Liveness, ALocalArrayThatIsNotReadLater) {
  EXPECT_EQ(local("double t[100];", ""), "t");
  EXPECT_EQ(local("double t[n];", "", "for (int i = 0; i < n; i++) { t[i] = x[i]; x[i] = t[i] * t[i]; }\n"), "t");
  EXPECT_EQ(local("double t[100]; t[3] = 1; g = t[3];", ""), "t");  // read earlier
  EXPECT_EQ(local("double t[100];", "t[5] = 1;"), "t");             // only written later
  EXPECT_EQ(local("double t[100];", "g = sizeof(t) / sizeof(t[0]) + sizeof t[g > 0];"), "t");
  EXPECT_EQ(local("double t[100];", "__builtin_memset(t, 0, sizeof t);"), "t");
  EXPECT_EQ(local("double t[100];", "(void)t;"), "t");
}

TEST(Liveness, ALocalArrayThatIsReadLater) {
  EXPECT_EQ(local("double t[100];", "g = t[0];"), "");
  EXPECT_EQ(local("double t[100];", "g = *t;"), "");
  EXPECT_EQ(local("double t[100];", "g = *(t + 3);"), "");
  EXPECT_EQ(local("double t[100];", "t[7] += 1;"), "");
  EXPECT_EQ(local("double t[100];", "t[7]++;"), "");
  EXPECT_EQ(local("double t[100];", "if (g > 0) { g = 1; } else { g = t[99]; }"), "");
  EXPECT_EQ(local("double t[100];", "t[0] = 1; g = t[0];"), "");  // what covers a read is not asked here
  EXPECT_EQ(local("double t[100];", "double v[(int)t[0] + 1]; use(v);"), "");
  EXPECT_EQ(local("double t[100];", "return t[3];"), "");
  EXPECT_EQ(local("double t[100];", "double u[100]; __builtin_memcpy(u, t, sizeof t); use(u);"), "");
}

TEST(Liveness, AnAddressThatIsTheValueOfABlock) {
  EXPECT_EQ(local("double t[100]; double *q = ({ __builtin_memset(t, 0, sizeof t); });", "g = q[7];"), "");
  EXPECT_EQ(local("double t[100]; { __builtin_memset(t, 0, sizeof t); }", ""), "t");
}

TEST(Liveness, ACallThatMayRunAnotherDefinition) {
  const auto with = [](const std::string& keep, const std::string& more = "") {
    return dead(head + "double *kept;\n" + keep + "\nvoid f(double *restrict x) { double t[100]; keep(t);\n" + nest +
                "}\n" + more);
  };
  EXPECT_EQ(with("static void keep(double *p) { p[0] = 1; }"), "t");
  EXPECT_EQ(with("void keep(double *p) { p[0] = 1; }"), "");
  EXPECT_EQ(with("void keep(double *p) { p[0] = 1; }\nextern void keep(double *) __attribute__((weak));"), "");
  EXPECT_EQ(with("__attribute__((target(\"default\"))) void keep(double *p) { p[0] = 1; }\n"
                 "__attribute__((target(\"avx2\"))) void keep(double *p) { kept = p; }"),
            "");
  EXPECT_EQ(with("__attribute__((naked)) static void keep(double *p) { __asm__(\"movq %rdi, kept(%rip)\\n ret\"); }"),
            "");
  EXPECT_EQ(with("static void keep(double *p) { p[0] = 1; }", "__asm__(\".weak keep\");"), "");
}

TEST(Liveness, AnAllocatorOfThisFileMayKeepItsBlocks) {
  const auto from = [](const std::string& allocator) {
    return dead(head + "void *malloc(unsigned long);\nstatic double *all[8]; static int count;\n" + allocator +
                "\nvoid f(double *restrict x) { double *t = row();\n" + nest + "}");
  };
  EXPECT_EQ(from("__attribute__((malloc)) double *row(void);"), "t");
  EXPECT_EQ(from("__attribute__((noinline, malloc)) static double *row(void) { return all[count++] = malloc(800); }"),
            "");
}

// Deep expressions are not walked for each of their mentions.
TEST(Liveness, ADeepExpressionIsLeftAlone) {
  std::string sum = "s[0]";
  for (int k = 1; k < 3000; ++k) sum += " + s[" + std::to_string(k % 100) + "]";
  const std::string text = head + "static double s[100], t[100];\ndouble deep(void) { return " + sum +
                           "; }\nvoid f(double *restrict x) {\n" + nest + "}";
  EXPECT_EQ(dead(text, {"-fbracket-depth=10000"}), "t");
}

TEST(Liveness, AnAddressThatEscapes) {
  for (const char* how :
       {"use(t);", "use(&t[0]);", "use(&t[2]);", "use(t + 1);", "double *p = t; g = p[0];", "static double *p; p = t;",
        "struct { double *p; } s = {t}; use(s.p);", "void printf(const char *, ...); printf(\"%p\", (void *)t);",
        "g = (long)t;", "g = t == x;", "void (*h)(double *) = use; h(t);", "__asm__ volatile(\"\" : : \"r\"(t));",
        "__asm__ volatile(\"\" : \"+m\"(t[0]));", "g = *(volatile double *)t;", "double (*p)[100] = &t; g = (*p)[0];",
        "__auto_type p = t; g = p[0];", "g = ({ t; })[0];", "g = (g > 0 ? t : x)[0];"}) {
    EXPECT_EQ(local("double t[100];", how), "") << how;
    // Before the nest it has escaped as well: nobody knows what use does later.
    if (std::string(how).find("use") == 0) EXPECT_EQ(local(std::string("double t[100];") + how, ""), "") << how;
  }
  EXPECT_EQ(local("void clean(double (*)[100]); __attribute__((cleanup(clean))) double t[100];", ""), "");
}

TEST(Liveness, FunctionsOfTheFileThatAreGivenTheArray) {
  const auto with = [](const std::string& function, const std::string& after) {
    return dead(head + function + "\nvoid f(double *restrict x) { double t[100];\n" + nest + after + " }");
  };
  EXPECT_EQ(with("static void clear(double *p) { p[0] = 0; if (p) p[1] = 0; }", "clear(t);"), "t");
  EXPECT_EQ(with("static void clear(double *p) { p[0] = 0; }\nstatic void outer(double *q) { clear(q); }", "outer(t);"),
            "t");
  EXPECT_EQ(with("static void look(double *p) { g = p[0]; }", "look(t);"), "");
  EXPECT_EQ(with("static void look(double *p) { g = p[0]; }\nstatic void outer(double *q) { look(q); }", "outer(t);"),
            "");
  EXPECT_EQ(with("double *q; void keep(double *p) { q = p; }", "keep(t);"), "");
  EXPECT_EQ(with("double *keep(double *p) { return p; }", "g = keep(t)[0];"), "");
  EXPECT_EQ(with("static void clear(double *p) { *p++ = 0; }", "clear(t);"),
            "");  // a pointer that moves is not followed
  EXPECT_EQ(with("static void down(double *p, int n) { p[n] = 0; if (n > 0) down(p, n - 1); }", "down(t, 5);"), "t");
  EXPECT_EQ(with("static void down(double *p, int n) { g = p[n]; if (n > 0) down(p, n - 1); }", "down(t, 5);"), "");
  EXPECT_EQ(with("__attribute__((weak)) void clear(double *p) { p[0] = 0; }", "clear(t);"), "");
  EXPECT_EQ(with("inline void clear(double *p) { p[0] = 0; }", "clear(t);"), "");
  EXPECT_EQ(with("static void clear(double *p, ...) { p[0] = 0; }", "clear(t, 1);"), "");
  EXPECT_EQ(with("static void clear(p) double *p; { p[0] = 0; }", "clear(t);"), "t");
  EXPECT_EQ(with("static void look(p) double *p; { g = p[0]; }", "look(t);"), "");
}

TEST(Liveness, LoopsAroundTheNest) {
  const auto around = [](const std::string& before, const std::string& inside, const std::string& the_nest = nest) {
    return dead(head + "void f(double *restrict x) { double t[100];\n while (g > 0) { " + before + "use(x);\n" +
                the_nest + inside + " } }");
  };
  EXPECT_EQ(around("", ""), "t");           // its own reads are of what it wrote
  EXPECT_EQ(around("", "t[4] = 1;"), "t");  // only written beside it
  EXPECT_EQ(around("", "", exposed), "");
  EXPECT_EQ(around("g = t[0]; ", ""), "");  // in the next iteration
  EXPECT_EQ(around("", "g = t[0];"), "");
  EXPECT_EQ(around("", "",
                   "for (int i = 0; i < 100; i++) if (x[i] > 0) t[i] = 1;\n"
                   "for (int i = 0; i < 100; i++) x[i] = t[i];\n"),
            "");  // a write under a condition covers no read
  EXPECT_EQ(around("", "", "for (int i = 0; i < 99; i++) t[i] = x[i];\nfor (int i = 0; i < 100; i++) x[i] = t[i];\n"),
            "");
  EXPECT_EQ(
      around("", "", "for (int i = 0; i < (int)g; i++) t[i] = x[i];\nfor (int i = 0; i < 50; i++) x[i] = t[i];\n"), "");
  // Each iteration has its own array.
  EXPECT_EQ(dead(head + "void f(double *restrict x) { while (g > 0) { double t[100]; use(x);\n" + exposed + " } }"),
            "t");
  EXPECT_EQ(dead(head + "void f(double *restrict x) { for (double t[100]; g > 0;) { use(x);\n" + exposed + " } }"), "");
  EXPECT_EQ(dead(head + "void f(double *restrict x) { double t[100]; do { use(x);\n" + exposed + " } while (g > 0); }"),
            "");
  EXPECT_EQ(dead(head + "void f(double *restrict x) { double t[100]; again: use(x);\n" + exposed +
                 "if (g > 0) goto again; }"),
            "");
  EXPECT_EQ(dead(head + "void f(int n, double *restrict x) { double t[100]; switch (n) { case 1: use(x);\n" + nest +
                 "case 2: g = t[0]; } }"),
            "");
}

TEST(Liveness, WhereACoveredReadNeedsAnAssumption) {
  // For n beyond 100 (as unsigned) the original runs, and reads what it wrote in the run before, or did not.
  const std::string wraps =
      "for (unsigned i = 0; i < m - 1; i++) t[i] = x[i];\nfor (unsigned i = 0; i < m - 1; i++) x[i] = t[i];\n";
  EXPECT_EQ(dead("void use(double *); void f(unsigned m, double *restrict x) { double t[100]; use(x);\n" + wraps + "}"),
            "t");
  EXPECT_EQ(dead("void use(double *); void f(unsigned m, double *restrict x) { double t[100]; while (x[0] > 0) { "
                 "use(x);\n" +
                 wraps + "} }"),
            "");
}

TEST(Liveness, Branches) {
  EXPECT_EQ(dead(head + "void f(double *restrict x) { double t[100]; t[0] = 0; if (g > 0) { use(x);\n" + nest +
                 "} else { g = t[0]; } }"),
            "t");  // the other branch does not run after this one
  EXPECT_EQ(dead(head + "void f(double *restrict x) { double t[100]; if (g > 0) { use(x);\n" + nest + "} g = t[0]; }"),
            "");
}

TEST(Liveness, CodeThatMayRunAgain) {
  const std::string setjmp = "typedef long jmp_buf[32]; int setjmp(jmp_buf); void longjmp(jmp_buf, int); jmp_buf b;\n";
  EXPECT_EQ(dead(head + setjmp + "void f(double *restrict x) { double t[100]; if (setjmp(b)) g = t[0];\n" + nest + "}"),
            "");
  EXPECT_EQ(dead(head +
                 "int twice(void) __attribute__((returns_twice));\nvoid f(double *restrict x) { double t[100]; "
                 "if (twice()) g = t[0];\n" +
                 nest + "}"),
            "");
  EXPECT_EQ(dead(head +
                 "struct c; int swapcontext(struct c *, struct c *); struct c *a, *b;\nvoid f(double *restrict x) { "
                 "double t[100]; swapcontext(a, b); g = t[0];\n" +
                 nest + "}"),
            "");
}

// A task runs when it likes: what it reads ahead of the nest it may read after it.
TEST(Liveness, OpenMP) {
  const std::string task =
      head + "void f(double *restrict x) { double t[100]; t[0] = 0;\n#pragma omp task shared(t)\n{ g = t[0]; }\n" +
      nest + "\n#pragma omp taskwait\n}";
  EXPECT_EQ(dead(task, {"-fopenmp"}), "");
  EXPECT_EQ(dead(task), "t");  // the pragma means nothing then
}

TEST(Liveness, ArraysWithStaticStorage) {
  const auto file = [](const std::string& declaration, const std::string& before, const std::string& after,
                       const std::string& the_nest = nest) {
    return dead(head + declaration + before + "void f(double *restrict x) {\n" + the_nest + "}\n" + after);
  };
  EXPECT_EQ(file("static double t[100];\n", "", ""), "t");
  EXPECT_EQ(file("static double t[100] __attribute__((aligned(64)));\n", "", "void h(void) { t[0] = 1; }"), "t");
  EXPECT_EQ(file("double t[100];\n", "", ""), "");
  EXPECT_EQ(file("static double t[100];\n", "", "", exposed), "");
  EXPECT_EQ(file("static double t[100];\n", "", "double h(void) { return t[0]; }"), "");
  EXPECT_EQ(file("static double t[100];\n", "double h(void) { return t[0]; }", ""), "");
  EXPECT_EQ(file("static double t[100];\n", "", "double *h(void) { return t; }"), "");
  EXPECT_EQ(file("static double t[100];\n", "", "double *p = t;"), "");
  EXPECT_EQ(file("static double t[100];\n", "", "void h(void) { use(t); }"), "");
  EXPECT_EQ(file("static double t[100];\n", "", "static void k(double *p) { g = p[0]; } void h(void) { k(t); }"), "");
  EXPECT_EQ(file("static double t[100];\n", "", "static void k(double *p) { p[0] = g; } void h(void) { k(t); }"), "t");
  EXPECT_EQ(file("static double t[100] __attribute__((used));\n", "", ""), "");
  EXPECT_EQ(file("static double t[100];\n", "", "__asm__(\"\");"), "");
  EXPECT_EQ(file("static double t[100];\n", "", "extern double u[100] __attribute__((alias(\"t\")));"), "");
  EXPECT_EQ(file("static double t[100];\n", "", "extern double u[100] __asm__(\"t\");"), "");
  EXPECT_EQ(dead(head + "void f(double *restrict x) { static double t[100];\n" + nest + "}"), "t");
  EXPECT_EQ(dead(head + "void f(double *restrict x) { static double t[100];\n" + exposed + "}"), "");
}

TEST(Liveness, ParametersOfStaticFunctions) {
  const std::string kernel = "static void k(double *restrict t, double *restrict x) {\n" + nest + "}\n";
  const auto main = [&](const std::string& body, const std::string& more = "") {
    return dead(head + kernel + more + "void f(double *restrict x) { double t[100], u[100]; " + body + " }");
  };
  EXPECT_EQ(main("k(t, x);"), "t");
  EXPECT_EQ(main("k(&t[0], x);"), "t");
  EXPECT_EQ(main("k(t, x); k(u, x);"), "t");
  EXPECT_EQ(main("while (g > 0) k(t, x);"), "t");  // what it reads it has written in the same run
  EXPECT_EQ(main("k(t, x); g = t[0];"), "");
  EXPECT_EQ(main("k(t, x); k(u, x); g = u[0];"), "");  // live in one call is live
  EXPECT_EQ(main("use(t); k(t, x);"), "");
  EXPECT_EQ(main("k(t, t);"), "");
  EXPECT_EQ(main("k(t + 1, x);"), "");
  EXPECT_EQ(main("k(t, x);", "void (*pointer)(double *, double *) = k;\n"), "");
  EXPECT_EQ(main("k(t, x);", "void other(double *y, double *x) { k(y, x); }\n"), "");         // the caller's own: live
  EXPECT_EQ(main("k(t, x);", "static void other(double *y, double *x) { k(y, x); }\n"), "");  // nobody calls it
  EXPECT_EQ(main("o(t, x);", "static void o(double *y, double *x) { k(y, x); }\n"), "t");
  EXPECT_EQ(main("o(t, x); g = t[1];", "static void o(double *y, double *x) { k(y, x); }\n"), "");
  EXPECT_EQ(main("o(t, x);", "static void o(double *y, double *x) { k(y, x); g = y[0]; }\n"), "");
  EXPECT_EQ(main("k(t, x);", "__asm__(\"\");\n"), "");
  EXPECT_EQ(dead(head + "void k(double *restrict t, double *restrict x) {\n" + nest +
                 "}\nvoid f(double *x) { double t[100]; k(t, x); }"),
            "");  // others may call it
  EXPECT_EQ(dead(head + "static void k(double *restrict t, double *restrict x) {\n" + exposed +
                 "}\nvoid f(double *x) { double t[100]; t[0] = 1; k(t, x); }"),
            "t");
  EXPECT_EQ(dead(head + "static void k(double *restrict t, double *restrict x) {\n" + exposed +
                 "}\nvoid f(double *x) { double t[100]; t[0] = 1; while (g > 0) k(t, x); }"),
            "");
  EXPECT_EQ(dead(head + "static void k(double *restrict t, double *restrict x) {\n" + nest +
                 "g = t[3]; }\nvoid f(double *x) { double t[100]; k(t, x); }"),
            "");
  EXPECT_EQ(
      dead(head + "static void k(t, x) double *t, *x; {\n" + nest + "}\nvoid f(double *x) { double t[100]; k(t, x); }"),
      "t");
  EXPECT_EQ(dead(head + "static double t[100];\nstatic void k(double *restrict p, double *restrict x) {\n"
                        "for (int i = 0; i < 100; i++) { p[i] = x[i] * 2; x[i] = p[i]; }\n"
                        "}\nvoid f(double *x) { k(t, x); }"),
            "p");
  EXPECT_EQ(dead(head + "static double t[100];\nstatic void k(double *restrict p, double *restrict x) {\n"
                        "for (int i = 0; i < 100; i++) { p[i] = x[i] * 2; x[i] = p[i]; }\n"
                        "}\nvoid f(double *x) { k(t, x); }\ndouble h(void) { return t[0]; }"),
            "");
  // Recursion: the caller of the inner call reads.
  EXPECT_EQ(dead(head + "static void k(int d, double *restrict t, double *restrict x) {\n" + nest +
                 "if (d > 0) { k(d - 1, t, x); g = t[0]; } }\nvoid f(double *x) { double t[100]; k(3, t, x); }"),
            "");
}

TEST(Liveness, BlocksFromMalloc) {
  const std::string declared =
      "void *malloc(unsigned long); void *calloc(unsigned long, unsigned long); "
      "void free(void *); void *pool(void); void *own(void) __attribute__((malloc));\n";
  const auto block = [&](const std::string& from, const std::string& after, const std::string& the_nest = nest) {
    return dead(head + declared + "void f(double *restrict x) { double *t = " + from + ";\n use(x);\n" + the_nest +
                after + " }");
  };
  EXPECT_EQ(block("malloc(800)", "free(t);"), "t");
  EXPECT_EQ(block("(double *)calloc(100, 8); if (!t || t == 0) return", "free(t);"), "t");
  EXPECT_EQ(block("own()", "free(t);"), "t");
  EXPECT_EQ(block("pool()", ""), "");
  EXPECT_EQ(block("malloc(800)", "g = t[0]; free(t);"), "");
  EXPECT_EQ(block("malloc(800)", "use(t);"), "");
  EXPECT_EQ(block("malloc(800)", "t = x;"), "");  // holds more than the block
  EXPECT_EQ(block("malloc(800)", "double **p = &t; g = **p;"), "");
  EXPECT_EQ(dead(head + declared + "double *f(double *restrict x) { double *t = malloc(800);\n" + nest + "return t; }"),
            "");
  EXPECT_EQ(dead(head +
                 "static void *malloc(unsigned long n) { static double all[100]; return all; }\n"
                 "void f(double *restrict x) { double *t = malloc(800);\n" +
                 nest + "}"),
            "");
}

TEST(Liveness, WhatTheNestDoesNotWriteIsNotDead) {
  EXPECT_EQ(local("double t[100]; t[0] = 1;", "", "for (int i = 0; i < 100; i++) x[i] = t[i];\n"), "");
}

TEST(Liveness, EachNestForItself) {
  EXPECT_EQ(dead(head + "void f(double *restrict x) { double t[100];\n"
                        "for (int i = 0; i < 100; i++) t[i] = x[i];\nuse(x);\n"
                        "for (int i = 0; i < 100; i++) { x[i] = t[i]; t[i] = 0; } }"),
            "f_3:; f_5: t");
}

}  // namespace
}  // namespace sous::frontends::c
