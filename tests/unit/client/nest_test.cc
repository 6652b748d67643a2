// What the pipeline keeps of a nest.
#include "client/nest.h"

#include <gtest/gtest.h>

#include "frontends/c/lift.h"

namespace sous::client {
namespace {

TEST(Nest, ScalarsWhoseLastWriteIsGoneArePassedByValue) {
  const auto unit = frontends::c::lift(R"(void f(int n, double *restrict x, double *restrict out) {
  double t = 1;
  for (int i = 2; i < 1; i++) t = x[i];
  for (int i = 0; i < n; i++) x[i] = x[i] + t;
  out[0] = t;
})",
                                       "test.c", {});
  ASSERT_TRUE(unit && unit->nests.size() == 1);
  const auto& lifted = unit->nests[0];
  const auto nest = prepare(lifted, {}, {});
  ASSERT_TRUE(nest) << nest.error().to_string();
  const auto kind_of_t = [](const std::vector<frontends::Argument>& arguments) {
    for (const auto& argument : arguments) {
      if (argument.name == "t") return argument.kind;
    }
    ADD_FAILURE() << "no argument t";
    return frontends::Argument::Kind::Symbol;
  };
  EXPECT_EQ(kind_of_t(lifted.arguments), frontends::Argument::Kind::ScalarInOut);
  EXPECT_EQ(kind_of_t(frontends::arguments_for(lifted, lifted.sdfg)), frontends::Argument::Kind::ScalarInOut);
  EXPECT_EQ(kind_of_t(frontends::arguments_for(lifted, nest->normal)), frontends::Argument::Kind::ScalarIn);
}

}  // namespace
}  // namespace sous::client
