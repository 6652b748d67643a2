// One text, twice: compiled natively, and lifted and interpreted. Both must leave the same bytes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "frontends/c/lift.h"
#include "sdfg/interp.h"
#include "sdfg/text.h"

namespace sous::frontends::c {
namespace {

// Interprets the only nest of `text` on the buffers named like its parameters.
void interpret(const std::string& text, const std::map<std::string, std::int64_t>& symbols,
               std::map<std::string, sdfg::Buffer>& buffers) {
  auto unit = lift(text, "test.c", {"-ffp-contract=off"});
  ASSERT_TRUE(unit.has_value()) << unit.error().to_string();
  std::string reasons;
  for (const Reason& r : unit->reasons) reasons += r.code + ": " + r.why + "\n";
  ASSERT_EQ(unit->nests.size(), 1u) << reasons;
  const sdfg::Sdfg& s = unit->nests[0].sdfg;
  sdfg::Memory memory{symbols, {}};
  for (const Argument& a : unit->nests[0].arguments)
    if (a.kind != Argument::Kind::Symbol) {
      ASSERT_TRUE(buffers.contains(a.expression)) << a.expression;
      memory.buffers[a.name] = buffers.at(a.expression);
    }
  auto ok = sdfg::interpret(s, memory);
  ASSERT_TRUE(ok.has_value()) << ok.error().to_string() << "\n" << sdfg::print(s);
  for (const Argument& a : unit->nests[0].arguments)
    if (a.kind != Argument::Kind::Symbol) buffers.at(a.expression) = memory.buffers.at(a.name);
}

template <class T>
sdfg::Buffer buffer(const std::vector<T>& values, sdfg::ElementType type) {
  sdfg::Buffer b{type, std::vector<std::byte>(values.size() * sizeof(T))};
  if (!values.empty()) std::memcpy(b.bytes.data(), values.data(), b.bytes.size());
  return b;
}
template <class T>
std::vector<T> values(const sdfg::Buffer& b) {
  std::vector<T> v(b.bytes.size() / sizeof(T));
  if (!v.empty()) std::memcpy(v.data(), b.bytes.data(), b.bytes.size());
  return v;
}

#define BOTH(name, ...) \
  __VA_ARGS__           \
  constexpr const char* name##_text = #__VA_ARGS__;

// NOLINTBEGIN: C, compiled as C++ here
BOTH(
    widths, void widths(int n, const int* __restrict in, signed char* __restrict c8, unsigned char* __restrict u8,
                        short* __restrict s16, unsigned* __restrict u32, long long* __restrict s64, float* __restrict f,
                        double* __restrict d) {
      for (int i = 0; i < n; i++) {
        int v = in[i];
        c8[i] = v;
        c8[i] += 100;
        u8[i] = v * 3;
        u8[i]++;
        s16[i] = u8[i] << 4;
        s16[i] -= v;
        u32[i] = v;
        u32[i] = u32[i] / 7 + (u32[i] % 5 > 2u) + (v < 0) * 2;
        s64[i] = (long long)v * v * v - u32[i];
        s64[i] ^= v >> 3;
        s64[i] |= ~v & 15;
        f[i] = v / 3;
        f[i] = f[i] / 3 + 0.1;
        f[i] *= 1.1;
        d[i] = f[i] * 0.1f + v % 7;
        d[i] -= u8[i] ? c8[i] / 2.0 : -d[i];
        c8[i] = c8[i] < 0 ? -c8[i] : c8[i] + !v;
      }
    })

BOTH(
    control, void control(int n, int m, int* __restrict a, int* __restrict b) {
      int i;
      int k = 0;
      int count = 0;
      for (i = 0; i < n; i++) {
        int j;
        for (j = i; j < m && j < i + 3; j++) count += j;
        for (j = m; j > i; j -= 2) a[i] += j / 2 + j % 3;
        if ((a[i] > 40 && b[i] > 0) || i == 2) {
          b[i] = a[i];
        } else if (i % 2) {
          b[i] = -i;
          continue;
        } else
          b[i]++;
        k = a[i];
        while (k > 10) k = k / 2 - 1;
        do {
          k += 3;
        } while (k < 5);
        b[i] += k * (i & 3) + count;
        a[i] = b[i] = b[i] + 1;
      }
      for (i = n - 1; i != -1; i--) {
        if (i > 0) a[i] += a[i - 1];
      }
    })

// What keeps an index between bounds, as people write it; each way to write it, where it is beyond them and where not.
BOTH(
    kept,
    static int pixel(const int* p, int w, int x) {
      if (x < 0) x = 0;
      if (x >= w) x = w - 1;
      return p[x];
    }

    static int mirrored(const int* p, int w, int x) {
      x = x < 0 ? -x : x;
      if (x >= w) x = 2 * w - 2 - x;
      return p[x];
    }

    static int pair(const int* p) {
      int first = *p++;
      return first * 3 + *p;
    }

    void kept(int n, const int* __restrict s, int* __restrict d, int* __restrict e) {
      for (int i = 0; i < n; i++) {
        int a = i - 2;
        int b = i + 3;
        if (a < 0) a = 0;
        if (b > n - 1)
          b = n - 1;
        else if (b < 1)
          b = 1;
        d[i] = s[a] * 3 + s[b] * 5;
        d[i] += s[i + 2 >= n ? n - 1 : i + 2] * 11 + s[i - 1 < 1 ? 1 : i - 1 < n ? i - 1 : n - 1] * 13;
        e[i] = pixel(s, n, i - 4) - pixel(s, n, i + 4) * 2 + pair(s + (i & 1));
        if (n > 3) e[i] += mirrored(s, n, i - 2) * 17 + mirrored(s, n, i + 2) * 19;
      }
    })

BOTH(
    inside, void inside(int n, int m, const int* __restrict s, int* __restrict d, int* __restrict e) {
      long t;
      int u = 0;
      int a = 1;
      int b = 2;
      int k = 0;
      for (int i = 0; i < n; i++) {
        d[i] = (int)((unsigned long)((t = (long)s[i] * 3 + m) + 40) > 80 ? (t > 0 ? 40 : -40) : t);
        if ((u = d[i] & 7) > 3 && (u = u - 1) != 4) d[i] += u;
        e[k++] = a + (s[i] > m ? (b = s[i]) : 5) * 2;
        a = b = (a & 3) + i;
        e[k++] = u || (u = b - 3) ? u : -u;
      }
    })

// Conditions that are asked one after another, each where those before hold: with none, one or several of them over
// data, in an if and ahead of what is left out, over subscripts with strides that are open.
BOTH(
    asked, void asked(int n, int step, int border, const int* __restrict s, int* __restrict d, int* __restrict e) {
      for (int i = 0; i < n; i++) {
        int most = -100;
        for (int k = 0; k < 4; k++) {
          int p = i * step - border + k;
          if (p >= 0 && p < n && s[p] > most) most = s[p];
          if (p >= 0 && p < n && (s[p] > 3 && p + 1 < n && s[p + 1] < 9) && k != 2) d[i] += s[p] * s[p + 1];
          if ((p < 0 || p >= n) || s[p] == 7 || (k == 1 && s[p] & 1)) continue;
          if (p > 2 && 1 && p < n - 1)
            e[i] += s[p - 1];
          else
            e[i] -= k;
          if (s[p] < 0 || p >= n) {
            continue;
          }
          e[i] += 100 * s[p];
        }
        d[i] += most;
      }
    })

BOTH(
    mathematics,
    static double mix(double x, float y) {
      double z = x * y;
      z = z + 1;
      return z / 2;
    } static int clampi(int v, int lo, int hi) {
      return v < lo ? lo : v > hi ? hi : v;
    } void mathematics(int n, double d[12], float* __restrict f) {
      for (int i = 0; i < n; ++i) {
        d[i] = sqrt(fabs(d[i])) + exp(-d[i]) * pow(2.0, i) + fmax(d[i], 0.5);
        f[i] = sqrtf(fabsf(f[i])) + floorf(f[i] * 3) + fminf(f[i], 0.25f);
        d[i] = mix(d[i], f[i]) - mix(f[i], d[i]);
        d[clampi(i - 1, 0, n - 1)] += d[i] > 0 ? (int)d[i] : 0;
      }
    })

BOTH(
    jumps,
    static int find(const int* a, int n, int what) {
      for (int k = 0; k < n; k++) {
        if (a[k] < 0) continue;
        if (a[k] == what) return k;
        if (a[k] > 20) break;
      }
      if (what > 5) return -1;
      return -2;
    } void jumps(int n, int m, const int s[40], int d[40]) {
      int j = 0;
      for (int i = 0; i < n; i++) {
        int sum = j & 1;
        for (j = i % 3; j < m; j += 2) {
          switch (s[j & 31] + i % 2) {
            case 1:
            case -3:
              sum += 1;
            case 4:
              sum += 10;
              break;
            case 7:
              continue;
            default:
              sum -= 2;
          }
          if (sum > 25) break;
          sum += 3;
        }
        do {
          if (sum < 3) continue;
          sum -= 5;
          if (sum == 9) break;
        } while (sum > 7);
        d[i] = sum * 1000 + j + find(s, n, i % 9) * 7;
      }
    })
// NOLINTEND

TEST(Semantics, PromotionsAndConversions) {
  const int n = 64;
  std::mt19937 random(7);
  std::vector<int> in(n);
  for (int& v : in) v = static_cast<int>(random() % 2000) - 1000;
  std::vector<signed char> c8(n);
  std::vector<unsigned char> u8(n);
  std::vector<short> s16(n);
  std::vector<unsigned> u32(n);
  std::vector<long long> s64(n);
  std::vector<float> f(n);
  std::vector<double> d(n);
  using T = sdfg::ElementType;
  std::map<std::string, sdfg::Buffer> b{{"in", buffer(in, T::i32)},   {"c8", buffer(c8, T::i8)},
                                        {"u8", buffer(u8, T::u8)},    {"s16", buffer(s16, T::i16)},
                                        {"u32", buffer(u32, T::u32)}, {"s64", buffer(s64, T::i64)},
                                        {"f", buffer(f, T::f32)},     {"d", buffer(d, T::f64)}};
  interpret(widths_text, {{"n", n}}, b);
  widths(n, in.data(), c8.data(), u8.data(), s16.data(), u32.data(), s64.data(), f.data(), d.data());
  EXPECT_EQ(values<signed char>(b["c8"]), c8);
  EXPECT_EQ(values<unsigned char>(b["u8"]), u8);
  EXPECT_EQ(values<short>(b["s16"]), s16);
  EXPECT_EQ(values<unsigned>(b["u32"]), u32);
  EXPECT_EQ(values<long long>(b["s64"]), s64);
  EXPECT_EQ(values<float>(b["f"]), f);
  EXPECT_EQ(values<double>(b["d"]), d);
}

TEST(Semantics, ControlFlow) {
  for (int n : {0, 1, 5, 9}) {
    std::vector<int> a(static_cast<std::size_t>(n)), c(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) a[static_cast<std::size_t>(i)] = 7 * i % 11, c[static_cast<std::size_t>(i)] = i % 3 - 1;
    std::map<std::string, sdfg::Buffer> b{{"a", buffer(a, sdfg::ElementType::i32)},
                                          {"b", buffer(c, sdfg::ElementType::i32)},
                                          {"count", buffer(std::vector<int>{0}, sdfg::ElementType::i32)}};
    interpret(control_text, {{"n", n}, {"m", 8}}, b);
    control(n, 8, a.data(), c.data());
    EXPECT_EQ(values<int>(b["a"]), a) << n;
    EXPECT_EQ(values<int>(b["b"]), c) << n;
  }
}

TEST(Semantics, Jumps) {
  for (int n : {1, 4, 9, 40})
    for (int m : {0, 3, 17}) {
      std::vector<int> s(40), d(40);
      for (int i = 0; i < n; ++i) s[static_cast<std::size_t>(i)] = 37 * i % 31 - 5;
      using T = sdfg::ElementType;
      std::map<std::string, sdfg::Buffer> b{{"s", buffer(s, T::i32)}, {"d", buffer(d, T::i32)}};
      b["j"] = buffer(std::vector<int>{0}, T::i32);
      interpret(jumps_text, {{"n", n}, {"m", m}}, b);
      jumps(n, m, s.data(), d.data());
      EXPECT_EQ(values<int>(b["d"]), d) << n << " " << m;
    }
}

TEST(Semantics, IndicesKeptBetweenBounds) {
  for (int n : {3, 4, 5, 9, 40}) {
    const auto size = static_cast<std::size_t>(n);
    std::vector<int> s(size), d(size), e(size);
    for (int i = 0; i < n; ++i) s[static_cast<std::size_t>(i)] = 37 * i % 41 - 20;
    using T = sdfg::ElementType;
    std::map<std::string, sdfg::Buffer> b{{"s", buffer(s, T::i32)}, {"d", buffer(d, T::i32)}, {"e", buffer(e, T::i32)}};
    interpret(kept_text, {{"n", n}}, b);
    kept(n, s.data(), d.data(), e.data());
    EXPECT_EQ(values<int>(b["d"]), d) << n;
    EXPECT_EQ(values<int>(b["e"]), e) << n;
  }
}

TEST(Semantics, ConditionsAskedOneAfterAnother) {
  for (int n : {1, 4, 9, 40})
    for (int step : {1, 2, 3})
      for (int border : {0, 1, 3}) {
        const auto size = static_cast<std::size_t>(n);
        std::vector<int> s(size), d(size), e(size);
        for (int i = 0; i < n; ++i) s[static_cast<std::size_t>(i)] = 37 * i % 31 - 9;
        using T = sdfg::ElementType;
        std::map<std::string, sdfg::Buffer> b{
            {"s", buffer(s, T::i32)}, {"d", buffer(d, T::i32)}, {"e", buffer(e, T::i32)}};
        interpret(asked_text, {{"n", n}, {"step", step}, {"border", border}}, b);
        asked(n, step, border, s.data(), d.data(), e.data());
        EXPECT_EQ(values<int>(b["d"]), d) << n << " " << step << " " << border;
        EXPECT_EQ(values<int>(b["e"]), e) << n << " " << step << " " << border;
      }
}

TEST(Semantics, AssignmentsAndStepsInsideExpressions) {
  for (int n : {0, 1, 6, 40}) {
    const auto size = static_cast<std::size_t>(n);
    std::vector<int> s(size), d(size), e(2 * size);
    for (int i = 0; i < n; ++i) s[static_cast<std::size_t>(i)] = 37 * i % 41 - 20;
    using T = sdfg::ElementType;
    std::map<std::string, sdfg::Buffer> b{{"s", buffer(s, T::i32)}, {"d", buffer(d, T::i32)}, {"e", buffer(e, T::i32)}};
    for (const auto& [name, value] : std::map<std::string, int>{{"a", 1}, {"b", 2}, {"u", 0}})
      b[name] = buffer(std::vector<int>{value}, T::i32);
    b["t"] = buffer(std::vector<long>{0}, T::i64);
    interpret(inside_text, {{"n", n}, {"m", 3}, {"k", 0}}, b);
    inside(n, 3, s.data(), d.data(), e.data());
    EXPECT_EQ(values<int>(b["d"]), d) << n;
    EXPECT_EQ(values<int>(b["e"]), e) << n;
  }
}

TEST(Semantics, MathematicsAndInlining) {
  const int n = 12;
  std::vector<double> d(n);
  std::vector<float> f(n);
  for (int i = 0; i < n; ++i) {
    d[static_cast<std::size_t>(i)] = 0.3 * i - 1;
    f[static_cast<std::size_t>(i)] = 0.7f * static_cast<float>(i) - 2;
  }
  std::map<std::string, sdfg::Buffer> b{{"d", buffer(d, sdfg::ElementType::f64)},
                                        {"f", buffer(f, sdfg::ElementType::f32)}};
  interpret(std::string("#include <math.h>\n") + mathematics_text, {{"n", n}}, b);
  mathematics(n, d.data(), f.data());
  EXPECT_EQ(values<double>(b["d"]), d);
  EXPECT_EQ(values<float>(b["f"]), f);
}

}  // namespace
}  // namespace sous::frontends::c
