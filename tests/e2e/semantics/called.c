// Functions of the file that a nest calls: with several returns, loops, local variables, arrays.
// clamps: served S
// signs: served S
// roots: served S
// finds: served S
// rows: served SS
// ignores: served S
// twice: served S
// product: served S
// recursive: c.call.recursive
// in_value: served S
// in_sum: c.call.not-inlinable
// also: parallelize clamps signs roots finds twice product
#include <math.h>
#include "semantics.h"
static double clamp(double v, double low, double high) {
  if (v < low) return low;
  if (v > high) return high;
  return v;
}
static int sign(int k) {
  if (k > 0)
    return 1;
  else if (k < 0)
    return -1;
  return 0;
}
static double newton(double a) {
  double x = a, last = 0;
  for (int k = 0; k < 30; k++) {
    last = x;
    x = 0.5 * (x + a / x);
    if (x == last) return x;
  }
  return -x;
}
static int find(const int *a, int n, int what) {
  int k = 0;
  while (k < n) {
    if (a[k] == what) return k;
    if (a[k] < 0) break;
    k++;
  }
  if (k == n) return -1;
  return -2 - k;
}
static void scale(double *row, int n, double by) {
  if (by == 1) return;
  for (int j = 0; j < n; j++) {
    if (row[j] < 0) continue;
    row[j] *= by;
  }
}
static int bump(int *p) {
  if (*p > 5) return 0;
  *p += 1;
  return 1;
}
static double area(double a, double b) { return a * b; }
static int down(int k) { return k < 2 ? 1 : down(k - 1) + 1; }
NOINLINE void clamps(int n, double *restrict x, const double *restrict y) {
  for (int i = 0; i < n; i++) x[i] = clamp(y[i], -1, 1) + clamp(clamp(x[i], 0, 4), y[i], 3);
}
NOINLINE void signs(int n, int *restrict out, const int *restrict k) {
  for (int i = 0; i < n; i++) out[i] = sign(k[i]) * 10 + (k[i] > 2 ? sign(-k[i]) : sign(k[i] + 1));
}
NOINLINE void roots(int n, double *restrict x) {
  for (int i = 0; i < n; i++) x[i] = newton(i + 1) + newton(2 * i + 0.5);
}
NOINLINE void finds(int n, int m, int *restrict out, const int *restrict a) {
  for (int i = 0; i < n; i++) out[i] = find(a + i, m, i % 9);
}
NOINLINE void rows(int n, int m, double *restrict a) {
  for (int i = 0; i < n; i++) scale(a + i * m, m, i % 3);
}
NOINLINE void ignores(int n, int *restrict a) {
  for (int i = 0; i < n; i++) bump(a + i);
}
NOINLINE void twice(int n, double *restrict x) {
  for (int i = 0; i < n; i++) {
    double v = x[i];
    v = clamp(v, i, i + 2) - clamp(-v, -2, 0);
    x[i] = v;
  }
}
// A product that a call returns is rounded before the sum.
NOINLINE void product(int n, double *restrict x, const double *restrict y) {
  for (int i = 0; i < n; i++) x[i] = area(x[i], y[i]) + clamp(area(y[i], y[i]), 0, 1e9);
}
NOINLINE void recursive(int n, int *restrict out) {
  for (int i = 0; i < n; i++) out[i] = down(i % 5);
}
NOINLINE void in_value(int n, int *restrict a, int *restrict out) {
  for (int i = 0; i < n; i++) out[i] = bump(a + i);
}
NOINLINE void in_sum(int n, int *restrict a, int *restrict out) {
  for (int i = 0; i < n; i++) out[i] = a[0] + bump(a + i);
}
int main(void) {
  enum { n = 29, m = 6 };
  double x[n], y[n], a[n * m];
  int k[n + m], out[n];
  for (int i = 0; i < n; i++) x[i] = i % 7 - 2.5, y[i] = (i * 5) % 13 - 6.25;
  for (int i = 0; i < n + m; i++) k[i] = (i * 7) % 12 - 2;
  for (int i = 0; i < n * m; i++) a[i] = i % 9 - 2;
  clamps(n, x, y), print_doubles("clamps", x, n);
  signs(n, out, k), print_ints("signs", out, n);
  finds(n, m, out, k), print_ints("finds", out, n);
  rows(n, m, a), rows(n, 0, a), print_bytes("rows", a, sizeof a);
  ignores(n, k), print_ints("ignores", k, n);
  twice(n, x), print_doubles("twice", x, n);
  for (int i = 0; i < n; i++) x[i] = 1 + 1. / (i + 3), y[i] = 1. / 3 - i;
  product(n, x, y), print_bytes("product", x, sizeof x);
  roots(n, x), print_bytes("roots", x, sizeof x);
  recursive(n, out), print_ints("recursive", out, n);
  in_value(n, k, out), print_ints("in_value", out, n);
  in_sum(n, k, out), print_ints("in_sum", out, n);
}
