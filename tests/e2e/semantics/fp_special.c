// NaN, infinities and signed zero, in conditions, in minima and maxima, in arithmetic that looks like nothing.
// conditions: served S
// unordered: served S
// minima: served S
// library: served S
// identities: served S
// truth: served S
// reduce: served SS
// guarded: served S
// to_int: served S
// signs: served S
// rounding: served S
// floats: served S
// made: served S
// also: vectorize conditions unordered minima library identities truth guarded to_int signs floats rounding; parallelize conditions minima library identities
// march: x86-64-v3 x86-64-v2 x86-64
#include <math.h>
#include "semantics.h"
NOINLINE void conditions(int n, int *restrict r, const double *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++)
    r[i] = (a[i] < b[i]) + 2 * (a[i] <= b[i]) + 4 * (a[i] > b[i]) + 8 * (a[i] >= b[i]) + 16 * (a[i] == b[i]) +
           32 * (a[i] != b[i]) + 64 * !(a[i] < b[i]) + 128 * !(a[i] >= b[i]) + 256 * !(a[i] == b[i]);
}
NOINLINE void unordered(int n, double *restrict r, const double *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++) {
    if (a[i] != a[i]) r[i] = 1;
    else if (!(a[i] > b[i])) r[i] = 2;
    else r[i] = 3;
    if (!(a[i] <= 1 && b[i] >= 1)) r[i] += 10;
    if (!(a[i] < 1 || b[i] > 1)) r[i] += 20;
  }
}
NOINLINE void minima(int n, double *restrict r, const double *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++) {
    r[i] = a[i] < b[i] ? a[i] : b[i];
    r[i + n] = a[i] > b[i] ? a[i] : b[i];
    r[i + 2 * n] = a[i] <= b[i] ? a[i] : b[i];
    r[i + 3 * n] = b[i] > a[i] ? a[i] : b[i];
    r[i + 4 * n] = !(a[i] >= b[i]) ? b[i] : a[i];
    double m = a[i];
    if (b[i] < m) m = b[i];
    r[i + 5 * n] = m;
  }
}
NOINLINE void library(int n, double *restrict r, const double *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++) {
    r[i] = fmin(a[i], b[i]);
    r[i + n] = fmax(a[i], b[i]);
    r[i + 2 * n] = fabs(a[i]) + floor(b[i]);
    r[i + 3 * n] = ceil(a[i]);
    r[i + 4 * n] = sqrt(b[i]);
    r[i + 5 * n] = fmin(a[i], 0.0);
  }
}
// Each in a nest of its own, so that each becomes vectors.
NOINLINE void rounding(int n, double *restrict r, const double *restrict a) {
  for (int i = 0; i < n; i++) r[i] = ceil(a[i] * 0.25) * 8 + floor(a[i] * 0.25) + trunc(a[i] * 0.25) * 4 + rint(a[i]);
}
NOINLINE void identities(int n, double *restrict r, const double *restrict a) {
  for (int i = 0; i < n; i++) {
    r[i] = a[i] + 0.0;
    r[i + n] = a[i] - 0.0;
    r[i + 2 * n] = 0.0 - a[i];
    r[i + 3 * n] = -a[i];
    r[i + 4 * n] = a[i] * 0 + a[i] * 1;
    r[i + 5 * n] = a[i] - a[i] + a[i] / a[i];
  }
}
NOINLINE void truth(int n, int *restrict r, const double *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++) r[i] = (a[i] ? 1 : 0) + 2 * (a[i] && b[i]) + 4 * (!a[i]) + 8 * (a[i] || b[i]);
}
NOINLINE void reduce(int n, double *restrict r, const double *restrict a) {
  double least = INFINITY, most = -INFINITY, kept = a[0];
  for (int i = 0; i < n; i++) {
    if (a[i] < least) least = a[i];
    most = most > a[i] ? most : a[i];
    kept = fmin(kept, a[i]);
  }
  r[0] = least, r[1] = most, r[2] = kept;
}
NOINLINE void guarded(int n, double *restrict r, const double *restrict a) {
  for (int i = 0; i < n; i++)
    if (a[i] >= 0) r[i] = sqrt(a[i]); else r[i] = -0.0;
}
NOINLINE void to_int(int n, int *restrict r, const double *restrict a) {
  for (int i = 0; i < n; i++) r[i] = a[i] > -1e9 && a[i] < 1e9 ? (int)a[i] : -1;
}
NOINLINE void signs(int n, double *restrict r, const double *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++) r[i] = copysign(1, a[i]) + 3 * copysign(1, b[i]) + 1 / a[i];
}
NOINLINE void floats(int n, float *restrict r, const float *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++) r[i] = fminf(a[i], (float)b[i]) + (a[i] < b[i] ? 1 : -0.0f) + fmaxf(-0.0f, a[i]);
}
// The sign of a NaN that constants make is the compiler's.
NOINLINE void made(int n, double *restrict r, float *restrict f) {
  for (int i = 0; i < n; i++) {
    double z = 0;
    z = z / 0.0;
    r[i] = z;
    f[i] = 0.0f * INFINITY;
  }
}
int main(void) {
  const double values[] = {0.0, -0.0, 1, -1.5, INFINITY, -INFINITY, NAN, 5e-324, 1e308, 2.5, -NAN};
  enum { v = sizeof values / sizeof *values, n = v * v };
  static double a[n], b[n], r[6 * n];
  static float f[n], g[n];
  static int k[n];
  for (int i = 0; i < n; i++) a[i] = values[i / v], b[i] = values[i % v], f[i] = (float)a[i];
  conditions(n, k, a, b);
  print_ints("conditions", k, n);
  unordered(n, r, a, b);
  print_doubles("unordered", r, n);
  minima(n, r, a, b);
  print_doubles("minima", r, 6 * n);
  library(n, r, a, b);
  print_doubles("library", r, 6 * n);
  rounding(n, r, a);
  print_doubles("rounding", r, n);
  identities(n, r, a);
  print_doubles("identities", r, 6 * n);
  truth(n, k, a, b);
  print_ints("truth", k, n);
  reduce(n, r, b);
  print_doubles("reduce", r, 3);
  reduce(7, r, a + 60);
  print_doubles("reduce", r, 3);
  guarded(n, r, b);
  print_doubles("guarded", r, n);
  to_int(n, k, b);
  print_ints("to_int", k, n);
  signs(n, r, a, b);
  print_doubles("signs", r, n);
  floats(n, g, f, b);
  print_floats("floats", g, n);
  made(n, r, g);
  print_bytes("made", r, n * sizeof *r), print_bytes("made", g, sizeof g);
}
