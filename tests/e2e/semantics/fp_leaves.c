// Options that seem to allow something, and do not: sums keep their order, functions set errno, NaNs count.
// flags: -ffast-math -fsigned-zeros -fno-fast-math | -Ofast -O2 | -ffast-math -fsigned-zeros | -ffp-model=fast -ffp-model=precise
// sum: served S
// roots: served S
#include <errno.h>
#include <math.h>
#include "semantics.h"
NOINLINE double sum(int n, const double *x) {
  double s = 0;
  for (int i = 0; i < n; i++) s += x[i];
  return s;
}
NOINLINE void roots(int n, double *restrict x, const double *restrict y) {
  for (int i = 0; i < n; i++) x[i] = sqrt(y[i]);
}
int main(void) {
  enum { n = 1000 };
  static double x[n], y[n];
  for (int i = 0; i < n; i++) y[i] = (i * 7919 % 10007 - 5000) * (i % 3 ? 1e-3 : 1e5);
  printf("%a\n", sum(n, y));
  errno = 0;
  roots(n, x, y);
  printf("%d\n", errno);
}
