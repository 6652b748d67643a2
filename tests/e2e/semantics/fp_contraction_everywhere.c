// Where options contract across statements, calls and pragmas, so does generated code.
// flags: -ffp-contract=fast
// two: served S
// helper: served S
// pragma: served S
// whole: served S
// also: vectorize two helper pragma whole; parallelize two
#include <complex.h>
#include "semantics.h"
NOINLINE void two(int n, double *restrict x, const double *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++) {
    double t = a[i] * b[i];
    x[i] = t + x[i];
  }
}
static double times(double a, double b) { return a * b; }
NOINLINE void helper(int n, double *restrict x, const double *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++) x[i] = times(a[i], b[i]) + x[i];
}
NOINLINE void pragma(int n, double *restrict x, const double *restrict a, const double *restrict b) {
#pragma STDC FP_CONTRACT OFF
  for (int i = 0; i < n; i++) x[i] = a[i] * b[i] + x[i];
}
NOINLINE void whole(int n, double complex *restrict x, const double *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++) x[i] = x[i] + a[i] * b[i];
}
int main(void) {
  enum { n = 45 };
  double a[n], b[n], x[n];
  double complex z[n];
  void (*const all[])(int, double *, const double *, const double *) = {two, helper, pragma};
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < n; i++) a[i] = 1 + 1. / (i + 3), b[i] = 1. / 3 - i, x[i] = i * 0.7, z[i] = x[i];
    all[k](n, x, a, b);
    print_doubles("x", x, n);
  }
  whole(n, z, a, b);
  print_doubles("z", (double *)z, 2 * n);
}
