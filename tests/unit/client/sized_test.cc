// Sizes that nobody said.
#include "client/sized.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "client/windows.h"
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

using Windows = std::map<std::string, std::int64_t>;
Windows windows_of(const std::string& loops, const std::string& statement) {
  auto nest = sdfg::parse(
      "sdfg 1 f\nsymbols n, k, step\narray x: f64[n + k*step] argument\narray w: f64[k] argument\narray y: "
      "f64[n] argument\narguments n, k, step, x, w, y\n\n" +
      loops + statement + "}\n}\n");
  EXPECT_TRUE(nest) << nest.error().to_string();
  return window_sizes(*nest);
}

// What is added to where the result lies is a window; what is taken from it, too, and what an if asks along with it.
TEST(Sized, WindowsSlideOverSomething) {
  const Windows k{{"k", 3}}, none;
  const std::string loops = "loop i = 0 .. n {\nloop j = 0 .. k {\n";
  EXPECT_EQ(windows_of(loops, "s0: y[i] = y[i] + x[i + j] * w[j]\n"), k);
  EXPECT_EQ(windows_of(loops, "if ({i - step*j}i64 >= 0i64) {\ns0: y[i] = y[i] + x[i - step*j] * w[j]\n}\n"), k);
  EXPECT_EQ(windows_of(loops, "s0: y[i] = y[i] + x[j] * w[j]\n"), none);
  EXPECT_EQ(windows_of("loop i = 0 .. n {\nloop j = -k .. k + 1 {\n", "s0: y[i] = y[i] + x[i + j] * w[0]\n"),
            (Windows{{"k", 1}}));
  // Twice by the same: a stride. Once: the length of a row.
  const char* strided = "s0: y[i] = y[i] + x[i*step + j] * w[j]\n";
  EXPECT_EQ(windows_of(loops, strided), none);
  EXPECT_EQ(windows_of("loop i = 0 .. n {\nloop m = 0 .. n {\nloop p = 0 .. k {\n" + std::string("loop j = 0 .. k {\n"),
                       "s0: y[i + m] = y[i + m] + x[i*n*step + m*step + p*n + j] * w[j]\n}\n}\n"),
            k);
  EXPECT_EQ(windows_of("loop i = 0 .. k {\nloop j = 0 .. n - i {\n", "s0: y[i] = y[i] + x[i + j] * x[j]\n"), none);
}

// A convolution whose channels, window, stride and border are all open: windows are few, and what only says how far
// they move makes up for nothing.
TEST(Sized, ConvolutionsWithSmallWindowsGetThreads) {
  const Chosen chosen = without_expectations(R"(
void f(const float *restrict in, const float *restrict w, float *restrict out, int C, int H, int W, int O, int OH,
       int OW, int K, int stride, int pad, int dil) {
  for (int o = 0; o < O; o++)
    for (int y = 0; y < OH; y++)
      for (int x = 0; x < OW; x++) {
        float s = 0;
        for (int c = 0; c < C; c++)
          for (int i = 0; i < K; i++)
            for (int j = 0; j < K; j++) {
              int iy = y * stride - pad + i * dil, ix = x * stride - pad + j * dil;
              if (iy >= 0 && iy < H && ix >= 0 && ix < W) s += in[(c * H + iy) * W + ix] * w[((o * C + c) * K + i) * K + j];
            }
        out[(o * OH + y) * OW + x] = s;
      }
})");
  ASSERT_FALSE(chosen.choices.empty()) << chosen.why;
  const sdfg::Sdfg& nest = chosen.choices.front().applied;
  EXPECT_TRUE(sdfg::has_parallel_loop(nest));
  // No condition says that there is no border, or that nothing is strided.
  for (const sdfg::Expr& e : nest.assumptions)
    EXPECT_GE(e.evaluate({{"C", 16},
                          {"H", 14},
                          {"W", 15},
                          {"O", 32},
                          {"OH", 14},
                          {"OW", 15},
                          {"K", 3},
                          {"stride", 1},
                          {"pad", 1},
                          {"dil", 1}})
                  .value_or(0),
              0)
        << e.to_string();
  ASSERT_EQ(chosen.guards.size(), 1u);
  EXPECT_TRUE(std::ranges::all_of(chosen.guards[0].least_extents, [](double extent) { return extent <= 16; }));
}

// Steps that follow each other, each over one row: as many steps as elements would leave regions of microseconds. Rows
// that are so much longer gain, and such shapes are let in.
TEST(Sized, FewLongRegionsGetThreads) {
  const Chosen chosen = without_expectations(R"(
void f(int steps, int n, const double *restrict p, double *restrict x, double *restrict y) {
  for (int t = 0; t < steps; t++) {
    for (int i = 0; i < n; i++) y[i] = sqrt(x[n - 1 - i] + 1.0) / (2.0 + x[i]);
    for (int i = 0; i < n; i++) x[i] = p[t] * y[i];
  }
})");
  ASSERT_FALSE(chosen.choices.empty()) << chosen.why;
  EXPECT_TRUE(sdfg::has_parallel_loop(chosen.choices.front().applied));
  ASSERT_EQ(chosen.guards.size(), 1u);
  const std::vector<double>& least = chosen.guards[0].least_extents;
  ASSERT_EQ(least.size(), 3u);  // t, i, i
  EXPECT_LE(least[0], 16);
  EXPECT_GE(least[1], 1000);
}

// An encoder's granules and channels: C promises nothing of the first extent, but nobody passes more than is written
// there. Of one element any number is declared.
TEST(Sized, ParametersSayHowLongTheirArraysAre) {
  const auto with = [](const std::string& dimensions) {
    return without_expectations("void f(int n, int m, const float in" + dimensions + ", float out" + dimensions + R"() {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) out[i][j] = expf(in[i][j]);
})");
  };
  EXPECT_TRUE(with("[2][16]").choices.empty());
  EXPECT_FALSE(with("[2000][1600]").choices.empty());
  EXPECT_FALSE(with("[1][1600]").choices.empty());
  EXPECT_FALSE(with("[n][m]").choices.empty());
}

}  // namespace
}  // namespace sous::client
