// Pragmas about floating point inside a function: what is not contracted is not; a nest with other rules stays the
// compiler's own.
// contract_off: served S
// clang_off: served S
// in_block: served S
// some: served S
// file_wide: served S
// called: served S
// environment: c.floating-point
// reassociates: c.floating-point
// plain: served S
// real_times_complex: served S
// also: vectorize contract_off clang_off in_block file_wide plain real_times_complex; parallelize contract_off
#include <complex.h>
#include <fenv.h>
#include "semantics.h"
NOINLINE void plain(int n, double *restrict x, const double *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++) x[i] = a[i] * b[i] + x[i];
}
NOINLINE void contract_off(int n, double *restrict x, const double *restrict a, const double *restrict b) {
#pragma STDC FP_CONTRACT OFF
  for (int i = 0; i < n; i++) x[i] = a[i] * b[i] + x[i];
}
NOINLINE void clang_off(int n, double *restrict x, const double *restrict a, const double *restrict b) {
#pragma clang fp contract(off)
  for (int i = 0; i < n; i++) x[i] = a[i] * b[i] + x[i];
}
NOINLINE void in_block(int n, double *restrict x, const double *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++) {
#pragma STDC FP_CONTRACT OFF
    x[i] = a[i] * b[i] + x[i];
  }
}
NOINLINE void some(int n, double *restrict x, const double *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++) {
    x[i] = a[i] * b[i] + x[i];
    {
#pragma STDC FP_CONTRACT OFF
      x[i] -= a[i] * b[i];
      x[i] = x[i] * 1.1 - -(a[i] * b[i]);
    }
    x[i] += b[i] * a[i];
  }
}
NOINLINE void real_times_complex(int n, double *restrict x, const double *restrict a, const double *restrict b) {
#pragma STDC FP_CONTRACT OFF
  for (int i = 0; i < n / 2; i++) {
    double complex z = a[2 * i] + a[2 * i + 1] * I, w = z * b[i];
    x[2 * i] += creal(z * b[i]);
    x[2 * i + 1] = cimag(b[n - i - 1] * z) - creal(w) * x[2 * i + 1];
  }
}
NOINLINE double reassociates(int n, const double *restrict a) {
#pragma clang fp reassociate(on)
  double s = 0;
  for (int i = 0; i < n; i++) s += a[i];
  return s > 0;
}
NOINLINE void environment(int n, double *restrict x, const double *restrict a) {
#pragma STDC FENV_ACCESS ON
  fesetround(FE_UPWARD);
  for (int i = 0; i < n; i++) x[i] = a[i] / 3;
  fesetround(FE_TONEAREST);
}
#pragma STDC FP_CONTRACT OFF
NOINLINE void file_wide(int n, double *restrict x, const double *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++) x[i] = a[i] * b[i] + x[i];
}
static inline double area(double a, double b) { return a * b + a; }
#pragma STDC FP_CONTRACT ON
NOINLINE void called(int n, double *restrict x, const double *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++) x[i] = area(a[i], b[i]) + a[i] * x[i];
}
typedef void function(int, double *, const double *, const double *);
int main(void) {
  enum { n = 45 };
  double a[n], b[n], x[n];
  function *const all[] = {contract_off, clang_off, in_block, some, file_wide, called, plain, real_times_complex};
  for (int k = 0; k < 8; k++) {
    for (int i = 0; i < n; i++) a[i] = 1 + 1. / (i + 3), b[i] = 1. / 3 - i, x[i] = -a[i] * b[i];
    all[k](n, x, a, b);
    print_doubles("x", x, n);
  }
  environment(n, x, a);
  print_doubles("environment", x, n);
  printf("%g\n", reassociates(n, a));
}
