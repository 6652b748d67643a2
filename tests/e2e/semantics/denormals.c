// Denormal numbers are computed with, compared and printed as any other.
// With -ffast-math the program links with what flushes them to zero, in every thread.
// flags: | -ffast-math
// scale: served S
// compare: served S
// sums: served S
// floats: served S
// constants: served S
// also: vectorize scale compare floats constants; parallelize scale compare floats constants
// runs: OMP_NUM_THREADS=1 | OMP_NUM_THREADS=5
#include <float.h>
#include "semantics.h"
NOINLINE void scale(int n, double *restrict x) {
  for (int i = 0; i < n; i++) x[i] = x[i] * 0.5 + x[i] / 3;
}
NOINLINE void compare(int n, int *restrict r, const double *restrict x) {
  for (int i = 0; i < n; i++) r[i] = (x[i] > 0) + 2 * (x[i] != 0) + (x[i] ? 4 : 0) + 8 * (x[i] < DBL_MIN) + 16 * (x[i] * 1 == x[i]);
}
NOINLINE double sums(int n, const double *x) {
  double s = 0;
  for (int i = 0; i < n; i++) s += x[i];
  return s;
}
NOINLINE void floats(int n, float *restrict x, const double *restrict y) {
  for (int i = 0; i < n; i++) x[i] = (float)y[i] + x[i] * 0.25f;
}
NOINLINE void constants(int n, double *restrict x) {
  for (int i = 0; i < n; i++) x[i] = x[i] + 4.9406564584124654e-324 + 1e-310 * i;
}
int main(void) {
  enum { n = 50 };
  double x[n], y[n];
  float f[n];
  int k[n];
  volatile int one = 1;  // leaves this loop alone: with -ffast-math, vectors divide by way of reciprocals
  for (int i = 0; i < n; i++) x[i] = DBL_MIN * 3 / (i + one), y[i] = FLT_MIN * 2 / (i + one), f[i] = FLT_MIN / (i + one);
  scale(n, x);
  print_doubles("scale", x, n);
  compare(n, k, x);
  print_ints("compare", k, n);
  printf("%a\n", sums(n, x));
  floats(n, f, y);
  print_floats("floats", f, n);
  constants(n, x);
  print_doubles("constants", x, n);
}
