// Leave to reorder sums is none to reorder minima and maxima while NaNs count: which of them stays depends on the order.
// flags: -ffast-math -fno-finite-math-only | -funsafe-math-optimizations
// greater: served SSS
// kept: served SSS
// least: served SSS
#include "semantics.h"
NOINLINE double greater(int n, const double *x) {
  double m = x[0];
  for (int i = 1; i < n; i++) m = x[i] > m ? x[i] : m;
  return m;
}
NOINLINE double kept(int n, const double *x) {
  double m = x[0];
  for (int i = 1; i < n; i++) m = m > x[i] ? m : x[i];
  return m;
}
NOINLINE float least(int n, const float *x) {
  float m = 1e30f;
  for (int i = 0; i < n; i++) m = m < x[i] ? m : x[i];
  return m;
}
int main(void) {
  enum { n = 30000 };
  static double x[n];
  static float y[n];
  const int at[] = {-1, 0, n / 2};
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < n; i++) y[i] = (float)(x[i] = i * 7919 % 1000);
    if (at[k] >= 0) y[at[k]] = (float)(x[at[k]] = __builtin_nan(""));
    const double values[] = {greater(n, x), kept(n, x), least(n, y)};
    for (int j = 0; j < 3; j++) printf(__builtin_isnan(values[j]) ? "nan\n" : "%g\n", values[j]);
  }
}
