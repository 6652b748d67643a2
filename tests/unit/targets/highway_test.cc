// Simd loops as vectors, for every length of the remainder, against the interpreter; pages that cannot be touched lie
// on both sides of every array.
#include "tests/unit/targets/emitting.h"

namespace sous::targets {
namespace {

// 0 to twice the lanes of the narrowest vectors (f32 with AVX-512: 16), and one more.
std::vector<std::int64_t> all_remainders() {
  std::vector<std::int64_t> sizes;
  for (std::int64_t n = 0; n <= 33; ++n) sizes.push_back(n);
  return sizes;
}

// Every loop of `text` must become vectors.
void expect_vectors(const std::string& text, const EmitOptions& options = {.contract = false}) {
  const std::string code = emitted("highway", parsed(text));
  EXPECT_FALSE(code.contains("// Not as vectors")) << code;
  expect_like_interpreter(text, all_remainders(), options, {"highway"});
}

// Is a plain loop, for this reason, and still right.
void expect_plain(const std::string& text, const std::string& reason) {
  const std::string code = emitted("highway", parsed(text));
  EXPECT_TRUE(code.contains("// Not as vectors: " + reason)) << code;
  expect_like_interpreter(text, {0, 1, 9}, {.contract = false}, {"highway"});
}

TEST(Highway, UnitStrideReversedStridedAndBroadcast) {
  expect_vectors(R"(sdfg 1 t symbols n
array A: f64[n + 1] argument  array B: f64[3 * n + 1] argument  array C: f32[n] argument  array s: f64 argument
array D: f32[n, n] argument  array k: f64[4] argument  array w: f64 argument
arguments n, A, B, C, s, D, k, w
loop i = 0 .. n simd { a: A[i] = A[i + 1] * s[] + k[2] }
loop j = 0 .. n simd { b: B[3 * j] = A[n - 1 - j] - B[3 * j + 1] }
loop l = n - 1 .. -1 step -1 simd { c: C[l] = C[l] * 0.5f32 }
loop m = 0 .. n simd { d: C[n - 1 - m] = C[n - 1 - m] + D[m, 0] }
loop o = 0 .. n step 3 simd { e: A[o] = -A[o] }
loop p = 0 .. n simd { f: D[p, n - 1] = C[p] }
loop q = n - 1 .. -1 step -2 simd { g: A[q] = A[q] + 1.0 }
loop r = 0 .. n simd { h: w[] = A[r] })");
}

TEST(Highway, GathersAndScatters) {
  expect_vectors(R"(sdfg 1 t symbols n
array A: f64[n + 8] argument  array idx: i32[n] argument  array B: f32[n] argument  array big: i64[2 * n] argument
array t: i32 registers transient
arguments n, A, idx, B, big
loop i = 0 .. n simd { a: B[i] = f32(A[idx[i]]) }
loop j = 0 .. n simd { b: big[j floordiv 2 + j mod 2] = {j * j}i64 }
loop k = 0 .. n simd private(t) { c: t[] = idx[k] & 3i32  d: B[k] = B[k] + f32(A[t[] + 1]) })");
}

TEST(Highway, MasksOfConditionsAndRemainders) {
  expect_vectors(R"(sdfg 1 t symbols n
array A: f64[n] argument  array B: f64[n] argument  array c: i32[n] argument  array flag: bool[n] argument
array t: f64 registers transient  array ok: bool registers transient  array z: i32 argument
arguments n, A, B, c, flag, z
loop i = 0 .. n simd private(t, ok) {
  a: t[] = A[i]
  b: ok[] = A[i] > 0.5 && c[i] != 2i32
  if (ok[]) {
    c0: t[] = t[] * 2.0
    if (c[i] > 0i32) { d: B[i] = t[] + B[0 + i] } else { e: c[i] = 100i32 / (1i32 - c[i]) }
  } else { if (z[] > 0i32) { f: t[] = 0.0 - t[] } }
  g: A[i] = t[]
  h: flag[i] = ok[] != flag[i]
}
loop j = 0 .. n simd { if ({j}i64 >= 3i64) { k: A[j] = select(A[j] < B[j], A[j], B[j - 3]) } })");
}

TEST(Highway, WhatInactiveLanesWouldReadIsNotTouched) {
  // B[0] does not exist for n = 0; B[n + 5] only where no lane is active.
  expect_like_interpreter(R"(sdfg 1 t symbols n
array A: f64[n] argument  array B: f64[n] argument  array far: i64 argument  arguments n, A, B, far
loop i = 0 .. n simd { a: A[i] = A[i] * B[0] }
loop j = 0 .. n simd { if (A[j] > 1000000.0) { b: A[j] = B[n + 5 + j - j] + B[j + 100] } })",
                          {0, 1, 5, 8, 19}, {.contract = false}, {"highway"});
}

TEST(Highway, MixedTypesAndCasts) {
  expect_vectors(R"(sdfg 1 t symbols n
array a: i8[n] argument  array b: u16[n] argument  array c: i32[n] argument  array d: f32[n] argument
array e: f64[n] argument  array f: u64[n] argument  array g: i64[n] argument  array h: u32[n] argument
arguments n, a, b, c, d, e, f, g, h
loop i = 0 .. n simd {
  s0: e[i] = f64(d[i]) + f64(c[i]) * f64(a[i]) + f64(b[i])
  s1: d[i] = f32(e[i]) - f32(a[i])
  s2: g[i] = i64(c[i]) * i64(a[i]) + g[i]
  s3: f[i] = u64(h[i]) ^ u64(a[i])
  s4: a[i] = i8(g[i]) + i8(b[i])
  s5: h[i] = u32(f[i]) * h[i]
  s6: c[i] = i32(d[i] * 0.001f32) + {2 * i - 1}i32
  s7: b[i] = u16(h[i]) - b[i]
  s8: e[i] = e[i] * f64({i + n}i64) + f64(g[i] & 4095i64)
})");
}

TEST(Highway, Integers) {
  expect_vectors(R"(sdfg 1 t symbols n
array a: i32[n] argument  array b: i32[n] argument  array c: u8[n] argument  array d: u64[n] argument
arguments n, a, b, c, d
loop i = 0 .. n simd {
  s0: a[i] = (a[i] << 3i32) - min(a[i], b[i]) / 7i32
  s1: b[i] = ~(b[i] >> 2i32) % 1000i32 | a[i]
  s2: c[i] = c[i] * c[i] + 255u8
  s3: d[i] = max(d[i] * d[i], 77u64) >> 1i32
  s4: a[i] = select(a[i] <= b[i], -a[i], select(a[i] >= 100i32, b[i], a[i] ^ b[i]))
})");
}

// Quotients and remainders by powers of two, of negatives and of the least number, too.
TEST(Highway, PowersOfTwoDivide) {
  expect_vectors(R"(sdfg 1 t symbols n
array a: i32[n] argument  array b: i64[n] argument  array c: u64[n] argument  array d: u32[n] argument
array e: i16[n] argument
arguments n, a, b, c, d, e
loop i = 0 .. n simd {
  s0: a[i] = (a[i] - 5i32) / 8i32 + (a[i] - 9i32) % 4i32
  s1: b[i] = (b[i] - 3i64) / 2i64 * 16i64 + (-b[i]) % 4096i64
  s2: c[i] = c[i] / 2u64 + c[i] % 64u64
  s3: d[i] = d[i] / 4u32 + (0u32 - d[i]) % 1024u32
  s4: e[i] = (e[i] - 7i16) / 4i16 + (0i16 - e[i]) % 8i16
  s5: a[i] = a[i] + (-2147483647i32 - 1i32 + {i - i}i32) / 2i32
})");
}

// Strided from lane to lane, along rows that an inner loop walks forward and backward: squares, turned in registers.
TEST(Highway, SquaresOfRowsEitherWay) {
  const std::string text = R"(sdfg 1 t symbols n
array A: f64[n, n] argument  array B: f32[n, n + 3] argument  array x: f64[n] argument  array y: f32[n] argument
arguments n, A, B, x, y
loop i = 0 .. n simd { loop k = 0 .. n { a: x[i] = x[i] * 0.5 + A[i, n - 1 - k] } }
loop j = 0 .. n simd { loop l = 0 .. n { b: y[j] = (y[j] + B[j, l + 2]) * 0.5f32 - B[j, n - l] } })";
  const std::string code = emitted("highway", parsed(text));
  EXPECT_TRUE(code.contains("[hn::MaxLanes(d_f64) - 1 - k_at]")) << code;
  expect_vectors(text);
}

// Rows that advance together: what they wait for goes from lane to lane, squares are stored by rows. Before and behind,
// and where there are too few rows or columns, memory has it all.
TEST(Highway, RowsAdvanceTogether) {
  const std::string rows = "loop i = 1 .. min(5, n) simd(lanes=4)", t = "loop t = 6 .. n + 1 { ";
  const auto of = [&](const std::string& type, const std::string& body, const std::string& more = "") {
    return "sdfg 1 t symbols n array A: " + type + "[n + 5, n + 5] argument array B: " + type +
           "[n + 5, n + 5] argument array x: " + type + "[n + 5] argument array best: i32 argument array v: " + type +
           " registers transient arguments n, A, B, x, best " + t + rows + " private(v)" + more + " { " + body + " } }";
  };
  const auto expect_squares = [](const std::string& text) {
    EXPECT_TRUE(emitted("highway", parsed(text)).contains("sous::store_transposed")) << text;
    expect_vectors(text);
  };
  // The row before, one column and two back, this row, what is not reached yet; what is met in other ways.
  expect_squares(
      of("f32", "a: A[i, t - i] = A[i, t - i - 1] * 0.5f32 + A[i - 1, t - i - 1] + A[i + 1, t - i] + x[t - i]"));
  expect_squares(of("i32",
                    "a: v[] = max(A[i, t - i - 1], A[i - 1, t - i] + B[i, t - i]) - x[i]  b: A[i, t - i] = v[]  "
                    "c: best[] = max(best[], v[])",
                    " reduce(max: best)"));
  // One side of a condition or the other; an array that reads what another has just got.
  expect_squares(of("i32",
                    "if (x[i] < x[t - i]) { a: A[i, t - i] = A[i - 1, t - i] + 1 } else { b: A[i, t - i] = "
                    "max(A[i, t - i - 1], B[i - 1, t - i]) }  c: B[i, t - i] = A[i, t - i] + B[i, t - i - 1]"));
  // From the last row up, from right to left.
  expect_squares(
      of("i32",
         "a: A[n - i, n - t + i] = max(A[n - i, n - t + i + 1], A[n - i + 1, n - t + i]) + A[n - i - 1, n - t + i] "
         "+ B[i, n - t + i]"));
  // As many doubles as only the widest vectors hold, and rows two columns apart.
  expect_squares(
      "sdfg 1 t symbols n array A: f64[n + 9, n + 9] argument arguments n, A loop t = 4 .. n { loop i = 1 .. 3 "
      "simd(lanes=2) "
      "{ a: A[i, t - 2*i + 1] = A[i, t - 2*i] * 0.5 + A[i - 1, t - 2*i + 2] + A[i - 1, t - 2*i] + A[i, t - 2*i + 2] } "
      "}");
}

// Tables of which memory has one row: each row hands it on to the next, and only the last one's stays.
TEST(Highway, RowsHandOnOneRow) {
  const auto expect_handed_on = [](const std::string& type, const std::string& body, const std::string& marks) {
    const std::string text = "sdfg 1 t symbols n array R: " + type + "[2*n + 9] argument array P: " + type +
                             "[2*n + 9] argument array D: " + type + "[n + 5] argument array x: i8[n + 5] argument " +
                             "array y: i8[2*n + 9] argument array v: " + type +
                             " registers transient arguments n, R, P, D, x, y loop t = 9 .. 2*n { loop i = 1 .. min(5, "
                             "n) simd(lanes=4) private(v) { " +
                             body + " } }";
    EXPECT_TRUE(emitted("highway", parsed(text)).contains(marks)) << text;
    expect_vectors(text);
  };
  const std::string own = "R[t - 2*i + 1]", left = "R[t - 2*i]";
  // An edit distance; y goes from lane to lane as well.
  expect_handed_on("i32",
                   "a: v[] = min(" + own + ", " + left +
                       ") + 1 b: v[] = min(v[], D[i] + select(x[i] == y[t - 2*i], 0, 1)) "
                       "c: D[i] = " +
                       own + " d: " + own + " = v[]",
                   "= sous::last_lane");
  // A common subsequence, of which elements stay as they are.
  expect_handed_on("f64",
                   "a: v[] = " + own + " if (x[i] == y[t - 2*i]) { b: " + own + " = D[i] + 1.0 } else { if (" + own +
                       " < " + left + ") { c: " + own + " = " + left + " } } d: D[i] = v[]",
                   "sous::store_changed");
  // Two arrays, of which one is copied into the other.
  expect_handed_on("f32",
                   "a: " + own + " = (P[t - 2*i] - P[t - 2*i + 1]) * 0.5f32 + " + left + " b: P[t - 2*i] = " + left,
                   "= sous::last_lane");
}

// Lanes end when their data say so; what they hold afterwards is what they held then.
TEST(Highway, WhileLoopsEndInEachLane) {
  expect_vectors(R"(sdfg 1 t symbols n
array A: f64[n] argument  array idx: i32[n] argument  array B: f64[n] argument  array C: f32[n] argument
array ki: i32 registers transient  array xi: f64 registers transient  array yi: f64 registers transient
array kj: i32 registers transient  array xj: f64 registers transient  array onj: bool registers transient
array kl: i32 registers transient  array xl: f64 registers transient
arguments n, A, idx, B, C
loop i = 0 .. n simd private(ki, xi, yi) {
  a0: ki[] = 0
  a1: xi[] = A[i]
  a2: yi[] = 1.0
  while (ki[] < idx[i] * 3i32 && xi[] < 1000.0) { a3: xi[] = xi[] * 1.5 + B[i]  a4: yi[] = xi[] * 0.5  a5: ki[] = ki[] + 1 }
  a6: B[i] = xi[] + f64(ki[])
}
loop j = 0 .. n simd private(kj, xj, onj) {
  b0: onj[] = true
  b1: kj[] = 0
  b2: xj[] = A[j]
  while (onj[]) {
    if (xj[] > 20.0) { b3: onj[] = false } else { if (kj[] % 2i32 == 0) { b4: xj[] = xj[] * 2.0 + 1.0 } else { b5: xj[] = xj[] + 3.0 } }
    if (onj[]) { b6: kj[] = kj[] + 1  b7: onj[] = kj[] < 9 }
  }
  b8: C[j] = f32(xj[] * f64(kj[]))
}
loop l = 0 .. n simd private(kl, xl) {
  c0: kl[] = idx[l]
  c1: xl[] = 0.0
  do { c2: kl[] = kl[] - 1  c3: xl[] = xl[] + 0.25  c4: A[l] = A[l] + xl[] } while (kl[] > 0)
  c5: idx[l] = kl[] + 1
})");
}

TEST(Highway, WhileLoopsInEachOther) {
  expect_vectors(R"(sdfg 1 t symbols n
array A: f64[n] argument  array idx: i32[n] argument  array B: i32[n] argument
array ki: i32 registers transient  array li: i32 registers transient  array xi: f64 registers transient
array si: f64 registers transient  array kj: i32 registers transient
array tj: f64[4] registers transient
arguments n, A, idx, B
loop i = 0 .. n simd private(ki, li, xi, si) {
  a0: ki[] = 0
  a1: si[] = 0.0  b: li[] = 0
  while (ki[] < idx[i]) {
    a2: li[] = ki[]
    a3: xi[] = A[i] + f64(ki[])
    if (xi[] < 5.0) { while (li[] < 4) { a4: xi[] = xi[] * 1.25 + si[]  a5: li[] = li[] + 1 } }
    a6: si[] = si[] + xi[]
    a7: ki[] = ki[] + 1
  }
  a8: A[i] = si[]
  a9: B[i] = B[i] + li[] * 10i32 + ki[]
}
loop j = 0 .. n simd private(kj, tj) {
  b0: tj[0] = 1.0  b1: tj[1] = A[j]  b2: tj[2] = 0.0  b3: tj[3] = 2.0
  b4: kj[] = 0
  while (kj[] < idx[j]) {
    loop q = 1 .. 4 { b5: tj[q] = tj[q] + tj[q - 1] * 0.5 }
    b6: kj[] = kj[] + 1
  }
  b7: A[j] = tj[3]
})");
}

// Of B there are elements only for lanes that begin, and as long as they go on.
TEST(Highway, WhileLoopsTouchWhatTheirLanesDo) {
  expect_like_interpreter(R"(sdfg 1 t symbols n
array A: f64[n] argument  array idx: i32[n] argument  array B: f64[5] argument  array C: f64[1] argument
array ki: i32 registers transient  array xi: f64 registers transient  array kj: i32 registers transient
arguments n, A, idx, B, C
loop i = 0 .. n simd private(ki, xi) {
  a0: ki[] = 0
  a1: xi[] = 0.0
  while (ki[] < idx[i]) { a2: xi[] = xi[] + B[ki[]]  a3: ki[] = ki[] + 1 }
  a4: A[i] = xi[]
}
loop j = 0 .. n simd private(kj) {
  b0: kj[] = 0
  while (kj[] < idx[j] - 9i32) { b1: A[j] = A[j] + C[j + 1]  b2: kj[] = kj[] + 1 }
})",
                          {0, 1, 5, 8, 19}, {.contract = false}, {"highway"});
}

TEST(Highway, MathFunctions) {
  expect_vectors(R"(sdfg 1 t symbols n
array a: f64[n] argument  array b: f32[n] argument  arguments n, a, b
loop i = 0 .. n simd {
  s0: a[i] = sqrt(fabs(a[i])) + floor(a[i]) - ceil(a[i]) * trunc(a[i] / 3.0)
  s1: b[i] = exp(b[i] * 0.01f32) + rint(b[i]) + copysign(b[i], 0.0f32 - 1.0f32)
  s2: a[i] = fma(a[i], 1.5, 0.25) + pow(fabs(a[i]), 0.3) + log(fabs(a[i]) + 1.0)
  s3: b[i] = fmin(b[i], 2.0f32) - fmax(b[i], -2.0f32) + round(b[i])
})");
}

TEST(Highway, OuterLoopsWithPrivateAccumulators) {
  expect_vectors(R"(sdfg 1 t symbols n
array A: f64[n, n] argument  array x: f64[n] argument  array y: f64[n] argument
array acc: f64 registers transient  array part: f64[4] registers transient
arguments n, A, x, y
loop i = 0 .. n simd private(acc) {
  a: acc[] = y[i]
  loop k = 0 .. n { b: acc[] += A[i, k] * x[k] }
  c: y[i] = acc[]
}
loop j = 0 .. n simd private(part) {
  loop u = 0 .. 4 unroll(factor=4) { d: part[u] = x[j] * f64({u}i64) }
  loop v = 0 .. 4 unroll(factor=2) { e: y[j] = y[j] + part[3 - v] }
})");
}

// Rows that the lanes walk side by side come as transposed squares; what the loop writes does not.
TEST(Highway, StridedReadsOfAnInnerLoopAreTransposed) {
  const std::string text = R"(sdfg 1 t symbols n
array A: f64[n, n + 3] argument  array x: f64[n + 3] argument  array y: f64[n] argument
array B: f32[n, 2 * n + 1] argument  array z: f32[n] argument  array C: i32[n, n + 1] argument  array w: i32[n] argument
array S: f64[n, n + 1] argument
arguments n, A, x, y, B, z, C, w, S
loop i = 0 .. n simd { loop j = 0 .. n + 3 { a: y[i] = y[i] + A[i, j] * x[j] } }
loop k = 0 .. n simd { loop l = 3 .. 2 * n { b: z[k] = z[k] - B[k, l] * B[k, l + 1] } }
loop m = 0 .. n simd { loop o = 1 .. n { c: w[m] = w[m] + C[m, o - 1] * i32(A[m, o]) } }
loop p = n - 1 .. -1 step -1 simd { loop q = 0 .. n unroll(factor=2) { d: y[p] = y[p] + A[p, q + 1] } }
loop r = 0 .. n simd { loop s = 0 .. n { e: S[r, s + 1] = S[r, s] + 1.0 } })";
  const std::string code = emitted("highway", parsed(text));
  std::size_t tiles = 0;
  for (auto at = code.find("sous::load_transposed"); at != std::string::npos; ++tiles) {
    at = code.find("sous::load_transposed", at + 1);
  }
  EXPECT_EQ(tiles, 6U) << code;
  expect_vectors(text);
}

// Every vector of a reduction, no array of the function's own, no place that cannot be computed.
TEST(Highway, PrefetchesWhatCanBeAskedFor) {
  const std::string graph = R"(sdfg 1 t symbols n
array A: f64[n, n] argument  array t: f64 argument  array T: f64[8, 8] stack transient  arguments n, A, t
loop i = 0 .. n { loop j = 0 .. n simd reduce(+: t) prefetch(64) { a: t[] += A[i, j] } }
loop k = 0 .. 8 { loop l = 0 .. 8 prefetch(1048576) { b: T[k, l] = t[] } }
loop p = 0 .. 8 { loop q = 0 .. 8 prefetch(1048576) { c: t[] = t[] + T[p, q] } })";
  const std::string code = emitted("highway", parsed(graph));
  std::size_t all = 0;
  for (auto at = code.find("prefetch("); at != std::string::npos; at = code.find("prefetch(", at + 1)) ++all;
  EXPECT_EQ(all, 5U) << code;  // four copies of the body, and the one behind them
  const std::string far = R"(sdfg 1 t symbols n
array A: f64[n, n] argument const  array x: f64[n] argument  arguments n, A, x
loop i = 0 .. n { loop j = 0 .. n prefetch(1048576) { a: x[i] = x[i] + A[i, 17592186044416 * j] } })";
  EXPECT_FALSE(emitted("cpp", parsed(far)).contains("prefetch("));
}

// Tiles of a size that is known: a whole one has no loop, others run as ever.
TEST(Highway, WholeTilesAreCounted) {
  const std::string graph = R"(sdfg 1 t symbols n
array A: f64[n, n] argument  array x: f64[n] argument  arguments n, A, x
loop t = 0 .. n step 16 { loop i = 0 .. n { loop j = t .. min(t + 16, n) simd(lanes=4) { a: A[i, j] = A[i, j] + x[j] } } }
loop u = 0 .. n step 100 { loop k = u .. min(u + 100, n) simd { b: x[k] = x[k] * 2.0 } })";
  const std::string code = emitted("highway", parsed(graph));
  EXPECT_TRUE(code.contains("if (sous::imin(n, t + 16) == t + 16)")) << code;
  EXPECT_FALSE(code.contains("== u + 100")) << code;  // more vectors than are worth a copy each
  expect_vectors(graph);
}

// What moves with one loop alone (x) is in the cache, what is near an element asked for (A[i, j + 1]) comes with it.
TEST(Highway, PrefetchesWhatMovesWithTheLoopAndAnother) {
  const std::string graph = R"(sdfg 1 t symbols n
array A: f64[n + 1, n + 9] argument  array B: f64[n, n + 9] argument  array x: f64[n] argument  array y: f64[n] argument
arguments n, A, B, x, y
loop i = 0 .. n simd { loop j = 0 .. n prefetch(64) { a: y[i] = y[i] + B[i, j] * x[j] } }
loop k = 0 .. n prefetch(2) { loop l = 0 .. n simd { b: x[l] = x[l] + A[k, l] * y[k] - A[k, l + 1] } }
loop p = n - 1 .. -1 step -1 { loop q = 0 .. n step 3 prefetch(5) { c: A[p, q] = A[p + 1, q] + x[q] + x[p] } }
loop v = 0 .. n prefetch(7) { d: x[v] = x[v] * 2.0 })";
  const std::string code = emitted("highway", parsed(graph));
  EXPECT_TRUE(code.contains("sous::prefetch_rows(d_f64, &B[i * (n + 9) + j_block + 64], n + 9);")) << code;
  EXPECT_TRUE(code.contains("__builtin_prefetch(&A[(k + 2) * (n + 9) + l]);")) << code;
  EXPECT_TRUE(code.contains("__builtin_prefetch(&A[(p + 1) * (n + 9) + q + 15]);")) << code;
  EXPECT_TRUE(code.contains("__builtin_prefetch(&x[v + 7]);")) << code;
  std::size_t all = 0;
  for (auto at = code.find("prefetch("); at != std::string::npos; at = code.find("prefetch(", at + 1)) ++all;
  EXPECT_EQ(all, 3U) << code;
  expect_vectors(graph);
}

TEST(Highway, DeclaredReductions) {
  expect_vectors(R"(sdfg 1 t symbols n
array A: i64[n] argument  array s: i64 argument  array lo: i32 argument  array c: i32[n] argument
array C: i64[n] argument  array B: i64[n, n] argument  array x: u32 argument
arguments n, A, s, lo, c, C, B, x
loop i = 0 .. n simd reduce(+: s) reduce(min: lo) reduce(^: x) {
  a: s[] += A[i] * 3i64
  b: lo[] = min(c[i], lo[])
  if (c[i] > 1i32) { d: x[] ^= u32(c[i]) }
}
loop j = 0 .. n { loop k = 0 .. n simd reduce(+: C) { e: C[j] += B[j, k] } }
loop l = 0 .. n simd reduce(+: C) { loop m = 0 .. n { f: C[m] = B[l, m] + C[m] } })");
}

TEST(Highway, FixedLanes) {
  const std::string graph = R"(sdfg 1 t symbols n
array A: f32[n + 4] argument  arguments n, A
loop i = 0 .. n simd(lanes=4) { a: A[i + 4] = A[i] + 1.0f32 })";
  EXPECT_TRUE(emitted("highway", parsed(graph)).contains("hn::CappedTag<float, 4>"));
  expect_vectors(graph);
}

TEST(Highway, ContractionOnlyWithLeave) {
  const sdfg::Sdfg graph = parsed(R"(sdfg 1 t symbols n
array A: f64[n] argument  array B: f64[n] argument  array s: f64 argument  arguments n, A, B, s
loop i = 0 .. n simd { a: A[i] = A[i] - s[] * B[i] })");
  EXPECT_TRUE(emitted("highway", graph, {.contract = true}).contains("hn::NegMulAdd(s_v, B_v, A_v)"));
  EXPECT_TRUE(emitted("highway", graph, {.contract = false}).contains("hn::Sub(A_v, hn::Mul(s_v, B_v))"));
  const sdfg::Sdfg apart = parsed(R"(sdfg 1 t symbols n
array A: f64[n] argument  array B: f64[n] argument  array s: f64 argument  arguments n, A, B, s
loop i = 0 .. n simd { a: A[i] = A[i] - uncontracted(s[] * B[i]) })");
  EXPECT_TRUE(emitted("highway", apart, {.contract = true}).contains("hn::Sub(A_v, hn::Mul(s_v, B_v))"));
  EXPECT_TRUE(emitted("cpp", apart, {.contract = true}).contains("- sous::uncontracted("));
  // A product that is the same in all lanes, too, unless the whole sum is: that the compiler contracts.
  const auto uniform = [](const std::string& value) {
    return emitted("highway",
                   parsed("sdfg 1 t symbols n array A: f64[n] argument array s: f64 argument array t: f64 argument\n"
                          "arguments n, A, s, t loop i = 0 .. n simd { a: A[i] = " +
                          value + " }"),
                   {.contract = true});
  };
  EXPECT_TRUE(uniform("s[] * t[] + A[i]").contains("hn::MulAdd(s_v, t_v, A_v)"));
  EXPECT_TRUE(uniform("s[] * t[] - A[i] * t[]").contains("hn::MulSub(s_v, t_v, hn::Mul(A_v, t_v))"));
  EXPECT_TRUE(uniform("A[i] / (s[] * t[] + 1.0)").contains("hn::Set(d_f64, s * t + 1.0)"));
}

// What is read is what vectors need: neither scalars nor what a comment says.
TEST(Highway, HeadersAreThoseThatTheVectorsNeed) {
  const auto head = [](const std::string& target, const std::string& type, const std::string& value) {
    const auto graph = parsed("sdfg 1 t symbols n array A: " + type + "[n] argument  array s: i16 argument\n" +
                              "arguments n, A, s\nloop i = 0 .. n simd { a: A[i] = " + value + " }");
    const EmitOptions options{.approximate_math = true, .comment = "hn::Exp( int8_t"};
    const std::string file = tests::source_file({emitted_function(target, graph, options)}, "");
    const auto at = file.rfind('\n', file.find("targets/runtime/"));
    const bool defines = file.rfind("#define", at) != std::string::npos;
    const std::string include = file.substr(at + 1, file.find('\n', at + 1) - at - 1);
    return (defines ? file.substr(file.rfind("#define", at), at - file.rfind("#define", at)) + " " : "") + include;
  };
  const std::string highway = "#include \"targets/runtime/highway.h\"";
  EXPECT_EQ(head("cpp", "f64", "exp(A[i])"), "#include \"targets/runtime/sous.h\"");
  EXPECT_EQ(head("highway", "f64", "A[i] * f64(s[])"), highway);
  EXPECT_EQ(head("highway", "u8", "A[i] + 1u8"), "#define SOUS_HIGHWAY " + highway);
  EXPECT_EQ(head("highway", "u8", "u8(f32(A[i]) * 0.5f32)"), highway);
  EXPECT_EQ(head("highway", "u8", "u8(i32(A[i]) > 7i32)"), highway);
  EXPECT_EQ(head("highway", "i16", "i16(bool(A[i]))"), "#define SOUS_HIGHWAY " + highway);
  EXPECT_EQ(head("highway", "f64", "f64(i64(A[i]))"), highway);
  EXPECT_EQ(head("highway", "f64", "exp(A[i])"), "#define SOUS_HIGHWAY_MATH " + highway);
}

TEST(Highway, WhatHasNoVectorFormStaysAPlainLoop) {
  expect_plain(R"(sdfg 1 t symbols n
array A: f64[n + 1, n + 1] argument  arguments n, A
loop i = 0 .. n simd { loop j = 0 .. i { a: A[i, j] = A[i, j] + 1.0 } })",
               "the bounds of the loop over j differ from lane to lane");
  expect_plain(R"(sdfg 1 t symbols n
array a: i32[n] argument  arguments n, a
loop i = 0 .. n simd { a: a[i] = select(a[i] != 0i32, 10i32 / a[i], 0i32) })",
               "a division that only some lanes do");
}

}  // namespace
}  // namespace sous::targets
