// What is expected of recipes, against the program's own order.
#include "client/predicted.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/client/choosing.h"

namespace sous::client {
namespace {

// Two sums under one condition: the normal form takes them apart, and asks it for each.
TEST(Predicted, ConditionsAreNotAskedAgainForEachSum) {
  const std::string edges = R"(#include <stdlib.h>
void f(int h, int w, const unsigned char *restrict in, unsigned char *restrict out) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      int gx = 0, gy = 0;
      for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++) {
          if (y + j < 0 || y + j >= h || x + i < 0 || x + i >= w) continue;
          int v = in[(y + j) * w + x + i];
          gx += v * i * (2 - abs(j));
          gy += v * j * (2 - abs(i));
        }
      int m = abs(gx) + abs(gy);
      out[y * w + x] = m > 255 ? 255 : m;
    }
})";
  const Chosen chosen = without_expectations(edges);
  EXPECT_TRUE(chosen.why.starts_with("the nest as it is written by outer_threads")) << chosen.why;
}

}  // namespace
}  // namespace sous::client
