// Floating point keeps the program's order and its roundings; without leave nothing is reassociated.
// sum: served S
// dot: served S
// product: served S
// parts: served S
// mixed: served S
// cancels: served S
// polynomial: served S
// scan: served S
// norms: served S
// also: vectorize parts mixed cancels polynomial; parallelize parts mixed cancels; tile sum dot; unroll sum dot product
// march: x86-64-v3 x86-64-v2 x86-64
#include <math.h>
#include "semantics.h"
NOINLINE double sum(int n, const double *x) {
  double s = 0;
  for (int i = 0; i < n; i++) s += x[i];
  return s;
}
NOINLINE float dot(int n, const float *x, const double *y) {
  float s = 1;
  for (int i = 0; i < n; i++) s += x[i] * y[i];
  return s;
}
NOINLINE double product(int n, const double *x) {
  double p = 1;
  for (int i = 0; i < n; i++) p = x[i] * p;
  return p;
}
NOINLINE void parts(int n, double *restrict r, const double *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++) r[i] = (a[i] + b[i]) - a[i] + (1e16 + b[i] - 1e16) + a[i] / 3 * 3 - a[i] * (1. / 3);
}
NOINLINE void mixed(int n, float *restrict f, double *restrict d, const float *restrict x, const int *restrict k) {
  for (int i = 0; i < n; i++) {
    f[i] = x[i] * 0.1f + k[i] / 7 + (float)k[i] / 7;
    d[i] = x[i] * 0.1 + (float)(d[i] * 3) + (double)(x[i] * x[i]);
  }
}
NOINLINE void cancels(int n, double *restrict x) {
  for (int i = 0; i < n; i++) {
    double t = x[i] + 1e10;
    t = t - 1e10;
    x[i] = x[i] - t;
  }
}
NOINLINE void polynomial(int n, int degree, double *restrict y, const double *restrict x, const double *restrict c) {
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int k = degree; k >= 0; k--) s = s * x[i] + c[k];
    y[i] = s;
  }
}
NOINLINE void scan(int n, double *restrict x) {
  for (int i = 1; i < n; i++) x[i] = x[i - 1] * 0.99 + x[i];
}
NOINLINE void norms(int n, int m, double *restrict r, const double *restrict a) {
  for (int j = 0; j < m; j++) {
    r[j] = 0;
    for (int i = 0; i < n; i++) r[j] += a[i * m + j] * a[i * m + j];
    r[j] = sqrt(r[j]);
  }
}
int main(void) {
  enum { n = 77 };
  double a[n], b[n], r[n], c[] = {1, 0.1, -3, 1e-5, 7, 0.3};
  float f[n], g[n];
  int k[n];
  for (int i = 0; i < n; i++) {
    a[i] = (i % 2 ? 1e9 : -1e-7) / (i + 1), b[i] = 1. / (i + 3), k[i] = i * 12345677 % 1000003 - 500000;
    f[i] = (float)(1 / (i + 0.3)), r[i] = 0;
  }
  double results[3] = {sum(n, a), dot(n, f, b), product(60, b)};
  print_doubles("sums", results, 3);
  parts(n, r, a, b);
  print_doubles("parts", r, n);
  mixed(n, g, r, f, k);
  print_floats("mixed", g, n), print_doubles("mixed", r, n);
  cancels(n, r);
  print_doubles("cancels", r, n);
  polynomial(n, 5, r, b, c);
  print_doubles("polynomial", r, n);
  scan(n, r);
  print_doubles("scan", r, n);
  norms(7, 11, r, b);
  print_doubles("norms", r, 11);
}
