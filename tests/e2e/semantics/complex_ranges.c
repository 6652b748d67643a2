// Options that ask for the plain formula of complex products: infinities are not recovered.
// flags: -fcx-limited-range | -fcx-fortran-rules | -fcomplex-arithmetic=improved | -fcx-limited-range -fno-cx-limited-range
// times: served S
// also: vectorize times
#include <complex.h>
#include <math.h>
#include "semantics.h"
#undef CMPLX
#define CMPLX(x, y) __builtin_complex((double)(x), (double)(y))
NOINLINE void times(int n, double complex *restrict x, const double complex *restrict y) {
  for (int i = 0; i < n; i++) x[i] = x[i] * y[i];
}
int main(void) {
  enum { n = 50 };
  static double complex x[n], y[n];
  for (int i = 0; i < n; i++) x[i] = i % 3 ? CMPLX(INFINITY, INFINITY) : CMPLX(i, 2), y[i] = CMPLX(i + 1, 0);
  times(n, x, y);
  for (int i = 0; i < n; i++) printf("%d %d %g\n", isnan(creal(x[i])), isnan(cimag(x[i])), isfinite(creal(x[i])) ? creal(x[i]) : 0.);
}
