#include "client/called.h"

#include <gtest/gtest.h>

namespace sous::client {
namespace {

Chosen by(const std::string& strategy) {
  Chosen chosen;
  Choice& choice = chosen.choices.emplace_back();
  choice.match.name = strategy;
  choice.match.origin = transforms::Origin::Strategy;
  return chosen;
}

// A loop of main's nest is the loop of a function that it calls.
struct Calls {
  frontends::LiftedNest outer, inner;
  Calls() {
    outer.function = "main";
    outer.line = outer.end_line = 8;
    outer.loop_lines = {{"i0", 8}, {"i1", 3}};
    inner.function = "product";
    inner.line = 3;
    inner.end_line = 5;
  }
  void leave(std::vector<Chosen>& chosen) { leave_to_called({&outer, &inner}, chosen); }
};

TEST(Called, RecipesOfCalledFunctionsAreNotHiddenByThreadsAlone) {
  std::vector<Chosen> chosen{by("fused_loops"), by("contraction")};
  Calls().leave(chosen);
  EXPECT_TRUE(chosen[0].choices.empty());
  EXPECT_NE(chosen[0].why.find("product"), std::string::npos);
  EXPECT_EQ(chosen[1].choices.size(), 1u);
  // Nor for other shapes.
  chosen = {by("contraction"), by("contraction")};
  chosen[0].otherwise = {by("parallel_vectors"), by("outer_threads")};
  Calls().leave(chosen);
  EXPECT_EQ(chosen[0].choices.size(), 1u);
  EXPECT_EQ(chosen[0].otherwise.size(), 1u);
}

TEST(Called, ThreadsStayWhereNothingIsBetter) {
  for (const std::string other : {"fused_loops", ""}) {
    std::vector<Chosen> chosen{by("fused_loops"), other.empty() ? Chosen{} : by(other)};
    Calls().leave(chosen);
    EXPECT_EQ(chosen[0].choices.size(), 1u) << other;
  }
  Calls apart;
  apart.outer.loop_lines = {{"i0", 8}};
  std::vector<Chosen> chosen{by("fused_loops"), by("contraction")};
  apart.leave(chosen);
  EXPECT_EQ(chosen[0].choices.size(), 1u);
}

}  // namespace
}  // namespace sous::client
