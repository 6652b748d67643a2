// Which arrays may stay on a device between nests: each rule of frontends/c/residence.h, and what must not beside it.
#include <gtest/gtest.h>

#include <algorithm>

#include "frontends/c/lift.h"

namespace sous::frontends::c {
namespace {

// The residences, in order, each by the lines of its nests: "a 3 5w; b 3w 7": `w` where the nest writes the array, `*`
// where a loop inside of the block is around it.
std::string residences(const std::string& text) {
  auto unit = lift(text, "test.c", {});
  EXPECT_TRUE(unit.has_value()) << unit.error().to_string();
  if (!unit) return "no unit";
  std::string all;
  for (const Residence& residence : unit->residences) {
    EXPECT_EQ(text[residence.at - 1], '{');
    all += (all.empty() ? "" : "; ") + residence.uses.at(0).argument + (residence.interleaved ? "|" : "");
    for (const auto& use : residence.uses) {
      const auto nest = std::ranges::find(unit->nests, use.nest, &LiftedNest::begin);
      all += " " + std::to_string(nest->line) + (use.writes ? "w" : "") + (use.repeated ? "*" : "");
    }
  }
  return all;
}

const std::string head = "void say(double); void look(double *); int printf(const char *, ...); double g;\n";
const std::string twice = "for (int i = 0; i < 100; i++) a[i] = a[i] * 2;\n";
const std::string sum = "for (int i = 0; i < 100; i++) g += a[i];\n";

std::string function(const std::string& body, const std::string& parameters = "void") {
  return residences(head + "void f(" + parameters + ") {\n" + body + "}");
}
std::string local(const std::string& between) { return function("double a[100];\n" + twice + between + "\n" + sum); }

TEST(Residence, BetweenNestsOfABlock) {
  EXPECT_EQ(local("say(1);"), "a 4w 6");
  EXPECT_EQ(local("say(a[3]);"), "a 4w 6");  // the host has all results
  EXPECT_EQ(function("double *a = __builtin_malloc(800);\n" + twice + "say(1);\n" + sum), "");
  EXPECT_EQ(residences("#include <stdlib.h>\n" + head + "void f(void) {\ndouble *a = malloc(800);\n" + twice +
                       "say(1);\n" + sum + "free(a); }"),
            "a 5w 7");
  EXPECT_EQ(function(twice + "say(1);\n" + sum, "double *restrict a"), "a| 3w 5");
}

TEST(Residence, AroundALoop) {
  EXPECT_EQ(function("double a[100];\nfor (int t = 0; t < 9; t++) {\nsay(t);\n" + twice + "}\n"), "a 6w*");
  EXPECT_EQ(function("for (int t = 0; t < 9; t++) {\ndouble a[100]; say(t);\n" + twice + "say(t);\n" + sum + "}\n"),
            "a 5w 7");  // another array in each iteration
  EXPECT_EQ(function("double a[100];\nwhile (g > 0) {\na[1] = g; say(1);\n" + twice + "say(2);\n" + sum + "}\n"),
            "a 6w 8");
}

TEST(Residence, NotWhereTheHostWrites) {
  EXPECT_EQ(local("a[3] = 1;"), "");
  EXPECT_EQ(local("a[3] += 1;"), "");
  EXPECT_EQ(local("if (g > 1) a[3]++;"), "");
  EXPECT_EQ(local("look(a);"), "");
  EXPECT_EQ(local("look(&a[3]);"), "");
  EXPECT_EQ(local("double *p = a + 1; say(*p);"), "");
}

TEST(Residence, WhatIsWrittenDividesTheBlock) {
  EXPECT_EQ(function("double a[100];\n" + twice + "say(1);\n" + sum + "say(2); a[3] = g; say(3);\n" + sum +
                     "say(4);\n" + twice),
            "a 4w 6; a 8 10w");
}

TEST(Residence, OtherNamesAndOtherFunctions) {
  EXPECT_EQ(function(twice + "say(1);\n" + sum, "double *a"), "");  // say may have the pointer, too
  const std::string global = head + "static double a[100];\n";
  EXPECT_EQ(residences(global + "void f(void) {\n" + twice + "printf(\"\");\n" + sum + "}"), "a| 4w 6");
  EXPECT_EQ(residences(global + "void f(void) {\n" + twice + "say(1);\n" + sum + "}"), "");  // may call f
  // Another thread may be in f meanwhile.
  for (const std::string waits : {"while (!__atomic_load_n(&turn, 2)) ;", "while (!turn) ;", "__sync_synchronize();"})
    EXPECT_EQ(residences("volatile int turn;\n" + global + "void f(void) {\n" + twice + waits + "\n" + sum + "}"), "");
  EXPECT_EQ(residences(global + "void h(void) { a[1] = 2; }\nvoid f(void) {\n" + twice + "printf(\"\");\n" + sum + "}"),
            "");
  EXPECT_EQ(residences(head + "double a[100];\nvoid f(void) {\n" + twice + "printf(\"\");\n" + sum + "}"), "");
  // A parameter of a static function, where all callers pass an array of their own under one name.
  const std::string callee =
      head + "static void f(double *a, double *b) {\n" + twice + "say(1);\n" + sum + "b[0] = 1; }\n";
  EXPECT_EQ(residences(callee + "void h(void) { double x[100], y[100]; f(x, y); say(x[0] + y[0]); }"), "a 3w 5");
  EXPECT_EQ(residences(callee + "void h(void) { double x[100]; f(x, x); say(x[0]); }"), "");
}

TEST(Residence, NotWhereOthersJumpIn) {
  EXPECT_EQ(function("double a[100];\n" + twice + "again: say(1);\n" + sum + "if (g < 1) goto again;\n"), "");
  EXPECT_EQ(function("double a[100]; a[0] = 1;\nswitch ((int)g) {\ncase 1:\n" + twice + "say(1);\n" + sum + "}\n"), "");
}

}  // namespace
}  // namespace sous::frontends::c
