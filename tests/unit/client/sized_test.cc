// Sizes that nobody said.
#include "client/sized.h"

#include <gtest/gtest.h>

#include "sdfg/parallel_loop.h"
#include "sdfg/text.h"
#include "tests/unit/client/choosing.h"

namespace sous::client {
namespace {

sdfg::Sdfg with_loop(const std::string& bounds) {
  auto nest =
      sdfg::parse("sdfg 1 f\nsymbols n, r, q\narray x: f64[n] argument\narguments n, r, q, x\n\nloop i = " + bounds +
                  " {\n  s0: x[i] = 1.0\n}\n");
  EXPECT_TRUE(nest) << nest.error().to_string();
  return *nest;
}

// Whatever is taken from a loop's length, and however often, something of it is left.
TEST(Sized, NoLoopIsEmpty) {
  for (const char* bounds : {"0 .. n", "r .. n", "r .. n - r", "r .. n - q", "r + q .. n - r - q", "r .. n - 3*q"}) {
    const sdfg::Sdfg nest = with_loop(bounds);
    const Sized sized(nest, {}, machine(), 2, For::Threads);
    for (const std::int64_t value : {least_size, sized.value(), largest_size}) {
      const Sizes sizes = sized.at(value);
      const auto& loop = std::get<sdfg::Loop>(nest.root.nodes[0].value);
      EXPECT_GE((loop.end - loop.begin).evaluate(sizes).value_or(0), value / 8) << bounds << " at " << value;
    }
  }
}

// A filter whose radius is open: it stays from both ends, so that as much for it as for the image would leave nothing.
TEST(Sized, AFilterOfAnyRadiusGetsThreads) {
  const Chosen chosen = without_expectations(R"(
void f(int w, int h, int r, const float *restrict in, float *restrict out) {
  for (int y = r; y < h - r; y++)
    for (int x = r; x < w - r; x++) {
      float s = 0;
      for (int j = -r; j <= r; j++)
        for (int i = -r; i <= r; i++) s += expf(in[(y + j) * w + x + i]);
      out[y * w + x] = s;
    }
})");
  ASSERT_FALSE(chosen.choices.empty());
  EXPECT_TRUE(sdfg::has_parallel_loop(chosen.choices.front().applied));
}

// Few long sums: with more of them than the guard asks for, each is shorter, but such shapes it does not let in.
TEST(Sized, FewSumsOfManyGetThreads) {
  const Chosen chosen = without_expectations(R"(
void f(int n, int lags, const double *restrict x, double *restrict r) {
  for (int l = 0; l < lags; l++) {
    double s = 0;
    for (int i = 0; i < n - l; i++) s += x[i] * x[i + l];
    r[l] = s;
  }
})");
  ASSERT_EQ(chosen.guards.size(), 1u) << chosen.why;
  ASSERT_FALSE(chosen.guards[0].least_extents.empty());
  EXPECT_LE(chosen.guards[0].least_extents[0], 20);
  EXPECT_GE(chosen.guards[0].least_work, 1e4);
}

}  // namespace
}  // namespace sous::client
