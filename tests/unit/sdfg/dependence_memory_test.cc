#include "sdfg/dependence_memory.h"

#include <gtest/gtest.h>

#include <thread>

#include "sdfg/text.h"

namespace sous::sdfg {
namespace {

Scop scop(const std::string& body) {
  return scop_of(
      parse("sdfg 1 t symbols n array x: f64[n] argument array y: f64[n] argument arguments n, x, y " + body).value());
}
const char* const recurrence = "loop i = 2 .. n { s0: x[i] = x[i - 2] + 1.0 s1: y[i] = x[i] }";

// What was computed is the very same object.
const Dependences::Data* data(const Scop& scop) { return &Dependences::compute(scop).value().data(); }
const Dependences::Data* among(const Scop& scop, const std::set<int>& statements, const Budget& budget = {}) {
  return &Dependences::compute_among(scop, statements, budget).value().data();
}

TEST(DependenceMemory, EqualNestsAreComputedOnce) {
  const DependenceMemory memory;
  const auto* known = data(scop(recurrence));
  EXPECT_EQ(data(scop(recurrence)), known);
  // All of them answer for some of the statements, but not the other way round.
  EXPECT_EQ(among(scop(recurrence), {1}), known);
  const Scop other = scop("loop i = 2 .. n { s0: x[i] = x[i - 1] + 1.0 s1: y[i] = x[i] }");
  const auto* some = among(other, {0});
  EXPECT_EQ(among(other, {0}), some);
  EXPECT_NE(among(other, {1}), some);
  EXPECT_NE(data(other), some);
  EXPECT_EQ(data(scop(recurrence)), known);
}

TEST(DependenceMemory, WhatDiffersInAnythingIsAnotherNest) {
  const DependenceMemory memory;
  const Scop nest = scop(recurrence);
  const auto known = Dependences::compute(nest).value();
  Scop renamed = nest, scheduled = nest;
  renamed.statements[0].name = "s7";
  find_loop(scheduled.tree, "i")->prefetch = 1;
  for (const Scop& other :
       {renamed, scheduled, scop("loop i = 2 .. n - 1 { s0: x[i] = x[i - 2] + 1.0 s1: y[i] = x[i] }"),
        scop("loop i = 2 .. n { s0: x[i] = x[i - 2] + 2.0 s1: y[i] = x[i] }")})
    EXPECT_NE(data(other), &known.data());
  EXPECT_NE(among(nest, {0, 1}, {.operations = 400'000}), &known.data());
}

TEST(DependenceMemory, AnExhaustedBudgetIsRememberedForThatBudgetAlone) {
  const DependenceMemory memory;
  for (int again = 0; again < 2; ++again)
    EXPECT_EQ(Dependences::compute(scop(recurrence), {.operations = 3}).error().code, "isl.budget");
  EXPECT_TRUE(Dependences::compute(scop(recurrence)));
}

TEST(DependenceMemory, BelongsToOneThreadAndEnds) {
  EXPECT_EQ(DependenceMemory::here(), nullptr);
  {
    const DependenceMemory first;
    {
      const DependenceMemory second;
      EXPECT_EQ(DependenceMemory::here(), &first);
    }
    EXPECT_EQ(DependenceMemory::here(), &first);
    std::thread([] { EXPECT_EQ(DependenceMemory::here(), nullptr); }).join();
  }
  EXPECT_EQ(DependenceMemory::here(), nullptr);
  const auto known = Dependences::compute(scop(recurrence)).value();
  EXPECT_NE(data(scop(recurrence)), &known.data());
}

// Many nests push out the oldest, and nothing but that.
TEST(DependenceMemory, HoldsTheLastNestsThatWereAskedFor) {
  const DependenceMemory memory;
  const auto of = [](int shift) {
    return scop("loop i = 99 .. n { s0: x[i] = x[i - " + std::to_string(shift) + "] }");
  };
  const auto first = Dependences::compute(of(1)).value(), second = Dependences::compute(of(2)).value();
  for (int shift = 3; shift < 60; ++shift) {
    EXPECT_TRUE(Dependences::compute(of(shift)));
    EXPECT_EQ(data(of(1)), &first.data());
  }
  EXPECT_NE(data(of(2)), &second.data());
}

}  // namespace
}  // namespace sous::sdfg
