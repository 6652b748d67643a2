// a*b+c is contracted where the compiler's rule allows it (inside one expression, unless told otherwise), and nowhere
// else.
// flags: | -ffp-contract=off
// one: served S
// two: served S
// through: served S
// helper: served S
// minus: served S
// twice: served S
// sums: served S
// compound: served S
// scalar: served S
// casts: served S
// shared: served S
// outer: served S
// scaled: served S
// also: vectorize one two minus twice compound casts shared outer; inner outer; parallelize one two minus compound; tile sums; panels scaled
// march: x86-64-v3 x86-64-v2 x86-64
#include "semantics.h"
NOINLINE void one(int n, double *restrict x, const double *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++) x[i] = a[i] * b[i] + x[i];
}
NOINLINE void two(int n, double *restrict x, const double *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++) {
    double t = a[i] * b[i];
    x[i] = t + x[i];
  }
}
NOINLINE void through(int n, double *restrict x, double *restrict t, const double *restrict a) {
  for (int i = 0; i < n; i++) {
    t[i] = a[i] * a[i];
    x[i] = x[i] - t[i];
  }
}
static double times(double a, double b) { return a * b; }
NOINLINE void helper(int n, double *restrict x, const double *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++) x[i] = times(a[i], b[i]) + x[i];
}
NOINLINE void minus(int n, double *restrict x, const double *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++) x[i] = (a[i] * b[i] - x[i]) + (x[i] - a[i] * b[i]) * 3 + -(a[i] * b[i]);
}
NOINLINE void twice(int n, double *restrict x, const double *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++) x[i] = a[i] * a[i] + b[i] * b[i] - x[i] * a[i];
}
NOINLINE void sums(int n, int m, double *restrict s, const double *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) s[j] += a[i] * b[j];
}
NOINLINE void compound(int n, float *restrict x, const float *restrict a) {
  for (int i = 0; i < n; i++) {
    x[i] += a[i] * a[i];
    x[i] *= a[i] + 1;
    x[i] -= 3 * a[i];
  }
}
NOINLINE double scalar(int n, double q, const double *restrict a) {
  double s = 0, p;
  for (int i = 0; i < n; i++) {
    p = q * a[i];
    s = s + p;
    q = q * 0.7 + 0.1;
  }
  return s + q;
}
NOINLINE void casts(int n, float *restrict x, const float *restrict a) {
  for (int i = 0; i < n; i++) x[i] = (float)((double)a[i] * a[i]) + x[i] + (float)(a[i] * 0.3);
}
NOINLINE void shared(int n, double p, double q, double *restrict x, const double *restrict a) {
  for (int i = 0; i < n; i++) x[i] = (p * q + a[i]) * (a[i] - p * q) + (-(p * q) + x[i]);
}
NOINLINE void outer(int n, double (*restrict x)[45], const float *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) x[i][j] += b[i] * a[i];
}
NOINLINE void scaled(int n, double p, double (*restrict x)[45], const double (*restrict a)[45]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) x[i][j] = x[i][j] - p * a[k][j];
}
int main(void) {
  enum { n = 45 };
  double a[n], b[n], x[n], t[n];
  float f[n], g[n];
  for (int i = 0; i < n; i++) a[i] = 1 + 1. / (i + 3), b[i] = 1. / 3 - i, x[i] = -a[i] * b[i], f[i] = (float)a[i], g[i] = -f[i];
  one(n, x, a, b);
  print_doubles("one", x, n);
  for (int i = 0; i < n; i++) x[i] = -a[i] * b[i];
  two(n, x, a, b);
  print_doubles("two", x, n);
  for (int i = 0; i < n; i++) x[i] = a[i] * a[i];
  through(n, x, t, a);
  print_doubles("through", x, n);
  for (int i = 0; i < n; i++) x[i] = -a[i] * b[i];
  helper(n, x, a, b);
  print_doubles("helper", x, n);
  for (int i = 0; i < n; i++) x[i] = a[i] * b[i];
  minus(n, x, a, b);
  print_doubles("minus", x, n);
  twice(n, x, a, b);
  print_doubles("twice", x, n);
  sums(n, n, x, a, b);
  print_doubles("sums", x, n);
  compound(n, g, f);
  print_floats("compound", g, n);
  printf("%a\n", scalar(n, 0.3, a));
  casts(n, g, f);
  print_floats("casts", g, n);
  static double m[n][n], w[n][n];
  shared(n, 1. / 3, 1. / 7, x, a);
  print_doubles("shared", x, n);
  for (int i = 0; i < n * n; i++) m[i / n][i % n] = i / 7., w[i / n][i % n] = 1. / (i + 1);
  outer(n, m, f, b);
  print_doubles("outer", m[0], n * n);
  scaled(n, 1. / 3, m, w);
  print_doubles("scaled", m[0], n * n);
}
