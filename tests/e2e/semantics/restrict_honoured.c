// restrict parameters and distinct arrays are apart: nothing is checked on entry.
// add: served S
// arrays: served S
// locals: served S
// unchecked: add arrays locals
// also: vectorize add arrays; parallelize add arrays
#include "semantics.h"
NOINLINE void add(int n, double *restrict x, const double *restrict y, const double *restrict z) {
  for (int i = 0; i < n; i++) x[i] = y[i] + z[i];
}
static double a[50], b[50];
NOINLINE void arrays(int n) {
  for (int i = 0; i < n; i++) a[i] = b[i] + 1;
}
NOINLINE void locals(int n, const double *x) {
  double t[50];
  for (int i = 0; i < n; i++) t[i] = x[i] * 2;
  print_doubles("locals", t, n);
}
int main(void) {
  double x[50], y[50];
  for (int i = 0; i < 50; i++) x[i] = 0, y[i] = i;
  add(50, x, y, y);  // both only read: may be the same
  print_doubles("add", x, 50);
  arrays(50);
  print_doubles("arrays", a, 50);
  locals(50, x);
}
