#include "frontends/c/splice.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace sous::frontends::c {
namespace {

Replacement nest(const std::string& text, const std::string& what) {
  Replacement r;
  r.begin = text.find(what);
  r.end = r.begin + what.size();
  r.function = "sous_f_2";
  r.arguments = {{Argument::Kind::Symbol, "n", "long long", "n"},
                 {Argument::Kind::ScalarIn, "x", "double", "x"},
                 {Argument::Kind::ScalarInOut, "s", "float", "s"},
                 {Argument::Kind::Array, "A", "double", "g->A"}};
  r.epilogue = "i = n;";
  return r;
}

TEST(Splice, PreprocessedKeepsEveryLineNumber) {
  const std::string text = "# 1 \"a.c\"\n# 1 \"<built-in>\" 1\n\nvoid f() {\n  LOOP;\n  g();\n}\n";
  EXPECT_EQ(splice_preprocessed(text, {nest(text, "LOOP;")}),
            "# 1 \"a.c\"\n# 1 \"<built-in>\" 1\n\n"
            "extern int sous_f_2(long long, double, float *, double *); void f() {\n"
            "  { if (!sous_f_2((long long)(n), x, &(s), (double *)(g->A))) { LOOP; } else { i = n; } }\n  g();\n}\n");
}

// Where the nest is all of a function, the original is compiled by itself, on the lines where it was.
TEST(Splice, TheOriginalOfAWholeFunctionIsAFunction) {
  const std::string text = "void f(int n,\n       double *A) {\n  int i;\n  LOOP;\n}\n";
  auto r = nest(text, "LOOP;");
  r.arguments = {{Argument::Kind::Symbol, "n", "int", "n"}, {Argument::Kind::Array, "A", "double", "A"}};
  r.epilogue.clear();
  r.whole = WholeFunction{
      .begin = 0, .name_end = text.find('('), .end = text.find('}') + 1, .passed = "n, A", .unused = "(void)i; "};
  EXPECT_EQ(splice_preprocessed(text, {r}),
            "extern int sous_f_2(int, double *); static __attribute__((__noinline__)) void "
            "f_sous_f_2_original(int n,\n       double *A) {\n  int i;\n  LOOP;\n}"
            " void f(int n,        double *A) {   int i;   (void)i; { if (!sous_f_2((int)(n), (double *)(A))) { "
            "f_sous_f_2_original(n, A); } } }\n");
}

// What says whether the call is made changes nothing, so that the original runs on memory as it was.
TEST(Splice, WhatIsAskedFirstChangesNothing) {
  const std::string text = "void f() { LOOP; }\n";
  auto r = nest(text, "LOOP;");
  r.arguments[2].own = true;
  ask_first(r, "sous_f_2_takes", {"n", "A"}, true);
  EXPECT_EQ(
      splice_preprocessed(text, {r}),
      "extern int sous_f_2_takes(long long, double *) __attribute__((__const__, __nothrow__)); "
      "extern void sous_f_2(long long, double, float *, double *, int); "
      "void f() { { int sous_variant = 0; if (!(sous_variant = sous_f_2_takes((long long)(n), "
      "(double *)(g->A)))) { LOOP; } else { __typeof__(s) sous_value2 = s; "
      "sous_f_2((long long)(n), x, &sous_value2, (double *)(g->A), sous_variant); s = sous_value2; i = n; } } }\n");
  // It may lie elsewhere, or have no value yet.
  for (const bool own : {false, true}) {
    r.arguments[2].own = own;
    r.arguments[2].unset = own;
    EXPECT_TRUE(splice_preprocessed(text, {r}).contains("else { sous_f_2((long long)(n), x, &(s), ")) << own;
  }
  // Of the same arguments, threads may make something else; a guard is asked before.
  r.guard = "ready";
  ask_first(r, "sous_f_2_takes", {}, false);
  const std::string out = splice_preprocessed(text, {r});
  EXPECT_TRUE(out.contains("extern int sous_f_2_takes(void) __attribute__((__pure__, __nothrow__)); ")) << out;
  // Nothing of what is known where the guard holds or fails is known of the original.
  EXPECT_TRUE(
      out.contains("if (!__extension__({ int sous_taken = 0; if (ready) sous_taken = (sous_variant = "
                   "sous_f_2_takes()); __asm__(\"\" : \"+r\"(sous_taken)); sous_taken; })) { LOOP; }"))
      << out;
  r.shapes = {{sdfg::Expr::symbol("n") - sdfg::Expr(56)}};
  EXPECT_TRUE(
      call(r).starts_with("__extension__({ int sous_taken = 0, sous_shape = n >= 56; "
                          "if (!(__builtin_constant_p(sous_shape) && !sous_shape)) { "
                          "if (sous_shape && ready) sous_taken = (sous_variant = sous_f_2_takes()); __asm__("))
      << call(r);
}

// What has no value is another one each time that it is read; both calls are to be given the same.
TEST(Splice, WhatMayBeUnsetIsReadOnceForBothCalls) {
  auto r = nest("LOOP;", "LOOP;");
  r.arguments[1] = {Argument::Kind::ScalarIn, "x", "short", "x"};
  r.arguments[1].unset = true;
  r.guard = "ready";
  ask_first(r, "sous_f_2_takes", {"x"}, false);
  const std::string text = splice_preprocessed("LOOP;", {r});
  EXPECT_TRUE(text.contains("int sous_variant = 0; struct sous_unset_short sous_unset_x = {0}; ")) << text;
  EXPECT_TRUE(
      text.contains("if (ready) sous_taken = __extension__({ sous_unset_x = (struct sous_unset_short){(short)(x)}; "
                    "__asm__(\"\" : \"+r\"(sous_unset_x.value)); "
                    "sous_variant = sous_f_2_takes(sous_unset_x); }); "))
      << text;
  EXPECT_TRUE(text.contains("else { sous_f_2((long long)(n), sous_unset_x, ")) << text;
}

// What it writes is the function's own: the call is pure, and may be merged with others.
TEST(Splice, WhatAPureFunctionComputesComesBackAsValues) {
  const std::string text = "void f() { LOOP; }\n";
  auto r = nest(text, "LOOP;");
  r.arguments.erase(r.arguments.begin() + 2);
  r.arguments[1].unset = true;
  r.pure = true;
  r.results = {r.arguments[1]};
  EXPECT_EQ(splice_preprocessed(text, {r}),
            "struct sous_unset_double { double value; }; struct sous_f_2_values { double value0; int ran; }; "
            "extern struct sous_f_2_values sous_f_2(long long, struct sous_unset_double, double *) "
            "__attribute__((__pure__, __nothrow__)); "
            "void f() { { struct sous_f_2_values sous_values = {0}; if (!(sous_values = sous_f_2((long long)(n), "
            "(struct sous_unset_double){(double)(x)}, (double *)(g->A))).ran) { LOOP; } else { x = sous_values.value0; "
            "i = n; } } }\n");
}

// With nothing narrower than an int in it, the struct has no padding that a program could have packed away.
TEST(Splice, NarrowResultsComeBackAsInts) {
  auto r = nest("LOOP;", "LOOP;");
  r.pure = true;
  r.results = {r.arguments[1]};
  r.results[0].type = "short";
  const std::string out = splice_preprocessed("LOOP;", {r});
  EXPECT_TRUE(out.contains("struct sous_f_2_values { __typeof__(+(short)0) value0; int ran; }; ")) << out;
  EXPECT_TRUE(out.contains("= (short)sous_values.value0; ")) << out;
}

// gcc wants a loop behind them.
TEST(Splice, PragmasStayAheadOfTheirLoop) {
  const std::string text = "void f()\n# 2 \"f.c\"\n#pragma GCC ivdep\n# 2 \"f.c\"\n  #pragma GCC unroll 4\n\n LOOP;\n";
  auto r = nest(text, "LOOP;");
  const std::string out = splice_preprocessed(text, {r});
  EXPECT_TRUE(out.contains("{ \n#pragma GCC ivdep\n# 2 \"f.c\"\n  #pragma GCC unroll 4\n\n LOOP;")) << out;
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), std::count(text.begin(), text.end(), '\n'));
  const std::string other = "void f()\n#pragma GCC ivdep\n#pragma omp simd\nLOOP;";
  EXPECT_TRUE(splice_preprocessed(other, {nest(other, "LOOP;")}).contains("#pragma omp simd\n{ "));
}

// A nest that runs as it was written, or on the host, writes what no device has from then on.
TEST(Splice, WhatRunsOnTheHostIsForgottenByDevices) {
  const std::string text = "void f() { LOOP; }\n";
  auto r = nest(text, "LOOP;");
  r.arguments.resize(1);
  r.otherwise = "sous_f_host";
  r.otherwise_arguments = r.arguments;
  r.residences = {{"sous_residence_1", text.find('{') + 1}, {"", 0}};
  const std::string out = splice_preprocessed(text, {r});
  EXPECT_TRUE(out.contains("{ unsigned long long sous_residence_1 = 0; ")) << out;
  EXPECT_TRUE(out.contains("|| (sous_residence_1 = 0, sous_f_host((long long)(n)))")) << out;
  EXPECT_TRUE(out.contains(") { sous_residence_1 = 0; LOOP; }")) << out;
}

// Who is called takes a narrow argument as extended, which a struct's member is not.
TEST(Splice, NarrowValuesThatMayBeUnsetArePromoted) {
  auto r = nest("LOOP;", "LOOP;");
  r.arguments[1] = {Argument::Kind::ScalarIn, "x", "short", "x"};
  r.arguments[1].unset = true;
  const std::string text = splice_preprocessed("LOOP;", {r});
  EXPECT_NE(text.find("struct sous_unset_short { __typeof__(+(short)0) value; }; "), std::string::npos) << text;
  EXPECT_NE(text.find("(struct sous_unset_short){(short)(x)}"), std::string::npos) << text;
}

TEST(Splice, ShapesThatNoVariantTakesMakeNoCall) {
  using sdfg::Expr;
  const Expr n = Expr::symbol("n"), m = Expr::symbol("m");
  auto r = nest("LOOP;", "LOOP;");
  r.arguments.push_back({Argument::Kind::Symbol, "m", "int", "m"});
  r.guard = "ready";
  r.shapes = {{n - Expr(56), m - Expr(5)}, {n - Expr(5), n * m * Expr(2) - Expr(4000)}};
  EXPECT_TRUE(call(r).starts_with(
      "(((n >= 56 && m >= 5) || (n >= 5 && 2.0 * (double)(m) * (double)(n) >= 4000.0)) && ready && sous_f_2("))
      << call(r);
  r.shapes[1] = {n - Expr(5)};
  EXPECT_TRUE(call(r).starts_with("(((n >= 56 && m >= 5) || n >= 5) && ready && ")) << call(r);
  r.shapes[1] = {n + Expr(5)};  // compared so, an unsigned n would be another one
  EXPECT_TRUE(call(r).starts_with("(ready && sous_f_2")) << call(r);
  r.shapes = {{n - Expr(56)}};
  r.arguments[0].expression = "n[0]";  // it may not be there
  EXPECT_TRUE(call(r).starts_with("(ready && sous_f_2")) << call(r);
  r.arguments[0].expression = "n";
  r.arguments[0].unset = true;
  const std::string behind = "__extension__({ int sous_shape = (n >= 56); ";
  EXPECT_TRUE(call(r).starts_with("(ready && " + behind)) << call(r);
  // Members, which may be read where the guard says so, ahead of what compares addresses.
  r.arguments[0].expression = "g->n";
  r.guard += " && __extension__({ int sous_holds = sous_apart(x); })";
  EXPECT_TRUE(call(r).starts_with("(ready && __extension__({ int sous_shape = (g->n >= 56); ")) << call(r);
  EXPECT_LT(call(r).find("sous_shape; }) && "), call(r).find("sous_holds")) << call(r);
}

TEST(Splice, FunctionsAreHintedOnceAndPointersAreNotKept) {
  const std::string text = "static int g;\nvoid f() { LOOP; OTHER; }\n";
  auto first = nest(text, "LOOP;"), second = nest(text, "OTHER;");
  first.hint = second.hint = {.at = text.find("void"), .text = "extern __inline__ "};
  const std::string out = splice_preprocessed(text, {first, second}, Attributes::Clangs);
  EXPECT_NE(out.find("static int g;\nextern __inline__ void f() { { if"), std::string::npos) << out;
  EXPECT_NE(
      out.find("sous_f_2(long long, double, __attribute__((noescape)) float *, __attribute__((noescape)) double *)"),
      std::string::npos)
      << out;
}

TEST(Splice, AFunctionMayGrowByTheCallsInIt) {
  const std::string text = "void f() { LOOP; OTHER; } void g() { LAST; }\n";
  auto first = nest(text, "LOOP;"), second = nest(text, "OTHER;"), last = nest(text, "LAST;");
  EXPECT_EQ(hinted_size({first, second, last}), 0);
  first.hint.text = second.hint.text = last.hint.text = "__inline__ ";
  last.hint.at = text.find("void g");
  const int one = hinted_size({last}) - 250;
  EXPECT_GT(one, 45);
  EXPECT_EQ(hinted_size({first, second, last}), 250 + 2 * one);
}

TEST(Splice, ReadableSaysWhereTheUsersLinesGoOn) {
  const std::string text = "void f() {\n  LOOP;\n  g();\n}\n";
  auto r = nest(text, "LOOP;");
  r.arguments.clear();
  r.note = "tile";
  EXPECT_EQ(splice_readable(text, "a.c", {r}),
            "/* a.c with nests served by generated code (sous). */\nextern int sous_f_2(void);\n#line 1 \"a.c\"\n"
            "void f() {\n  {  /* tile */\n  if (!sous_f_2()) {\n#line 2 \"a.c\"\n  LOOP;\n  } else { i = n; }\n  }\n"
            "#line 2 \"a.c\"\n\n  g();\n}\n");
}

TEST(Splice, WhatComesFromOutsideEndsNoComment) {
  const std::string text = "void f() { LOOP; }\n";
  auto r = nest(text, "LOOP;");
  r.note = "by x*/evil();/*\ny";
  const std::string out = splice_readable(text, "a*/b.c", {r});
  EXPECT_NE(out.find("/* by x* /evil();/* y */"), std::string::npos) << out;
  EXPECT_TRUE(out.starts_with("/* a* /b.c with")) << out;
}

TEST(Splice, AByteOrderMarkStaysInFront) {
  const std::string text = "\xEF\xBB\xBFvoid f() { LOOP; }\n";
  const std::string out = splice_readable(text, "a.c", {nest(text, "LOOP;")});
  EXPECT_TRUE(out.starts_with("\xEF\xBB\xBF/*")) << out;
  EXPECT_NE(out.find("\nvoid f() {"), std::string::npos) << out;
}

}  // namespace
}  // namespace sous::frontends::c
