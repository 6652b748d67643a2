// errno is set by the calls that set it, in the thread that looks at it, and by nothing else.
// roots: served SSS
// logs: served SS
// temporaries: served S
// quiet: served S
// guarded: served S
// floats: served S
// same_for_all: served SS
// sometimes: served S
// constant: served S
// also: vectorize roots logs quiet floats same_for_all sometimes; parallelize roots logs quiet temporaries
// runs: OMP_NUM_THREADS=1 | OMP_NUM_THREADS=4
// march: x86-64-v3 x86-64-v2 x86-64
#include <errno.h>
#include <math.h>
#include "semantics.h"
NOINLINE void quiet(int n, double *restrict x) {
  for (int i = 0; i < n; i++) x[i] = x[i] * 2 + 1;
}
NOINLINE void roots(int n, double *restrict x, const double *restrict y) {
  for (int i = 0; i < n; i++) x[i] = sqrt(y[i]);
}
NOINLINE void floats(int n, float *restrict x) {
  for (int i = 0; i < n; i++) x[i] = sqrtf(x[i]) + 1;
}
NOINLINE void logs(int n, double *restrict x, const double *restrict y) {
  for (int i = 0; i < n; i++) x[i] = log(y[i]) + pow(y[i], 0.5);
}
NOINLINE void guarded(int n, double *restrict x, const double *restrict y) {
  for (int i = 0; i < n; i++)
    if (y[i] >= 0) x[i] = sqrt(y[i]);
}
// A call whose argument is the same for all: not made where no iteration makes it.
NOINLINE void same_for_all(int n, double *restrict x, const double *restrict y, double s) {
  for (int i = 0; i < n; i++) x[i] = y[i] * log(s);
}
NOINLINE void sometimes(int n, double *restrict x, const double *restrict y, double s) {
  for (int i = 0; i < n; i++)
    if (y[i] > 1000) x[i] = sqrt(s);
}
NOINLINE void constant(int n, double *restrict x) {
  for (int i = 0; i < n; i++) {
    double z = -1;
    x[i] = sqrt(z);
  }
}
NOINLINE void temporaries(int n, double *restrict x, const double *restrict y) {
  for (int i = 0; i < n; i++) {
    double t[40];
    for (int j = 0; j < 40; j++) t[j] = y[i] * j;
    for (int j = 0; j < 40; j++) x[i] += t[39 - j] * j;
  }
}
int main(void) {
  enum { n = 100 };
  double x[n], y[n];
  float f[n];
  for (int i = 0; i < n; i++) x[i] = i, y[i] = i + 1, f[i] = 90 - i;
  errno = 77;
  quiet(n, x);
  printf("quiet %d\n", errno);
  errno = 0;
  temporaries(n, x, y);
  printf("temporaries %d\n", errno);
  roots(n, x, y);
  printf("roots %d\n", errno);
  y[97] = -1;
  roots(n, x, y);
  printf("roots %d %s\n", errno, errno == EDOM ? "EDOM" : "");
  errno = 0;
  guarded(n, x, y);
  printf("guarded %d\n", errno);
  y[97] = 4, y[3] = -1;
  errno = 0;
  roots(n, x, y);
  printf("roots %d\n", errno);
  errno = 0;
  y[3] = 3;
  logs(n, x, y);
  printf("logs %d\n", errno);
  y[60] = 0;
  logs(n, x, y);
  printf("logs %d %s\n", errno, errno == ERANGE ? "ERANGE" : "");
  errno = 0;
  same_for_all(0, x, y, -1.0);
  sometimes(n, x, y, -1.0);
  printf("none %d\n", errno);
  same_for_all(n, x, y, -1.0);
  printf("same %d\n", errno);
  errno = 0;
  floats(n, f);
  printf("floats %d\n", errno);
  print_doubles("x", x, n);
  errno = 0;
  constant(n, x);
  printf("constant %d\n", errno);
}
