// The run-time check is exact at its boundary: adjacent arrays are apart, one shared byte is an overlap.
// add: served SSOOSSOOOOSS
// shift: served SSOO
// rows: served SSO
// reversed: served SO
// also: vectorize add shift rows; parallelize add shift
#include "semantics.h"
NOINLINE void add(int n, double *x, const double *y) {
  for (int i = 0; i < n; i++) x[i] = 2 * y[i] + x[i];
}
NOINLINE void shift(int n, float *x, const float *y) {
  for (int i = 3; i < n; i++) x[i] = y[i - 3] + 1;
}
NOINLINE void rows(int n, int m, double *x, const double *y) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) x[i * m + j] = y[j * n + i] + 1;
}
NOINLINE void reversed(int n, int *x, const int *y) {
  for (int i = 0; i < n; i++) x[i] = y[n - 1 - i] * 3;
}
static double d[400];
static float f[200];
static int k[100];
int main(void) {
  enum { n = 37 };
  for (int i = 0; i < 400; i++) d[i] = i % 17;
  add(n, d, d + n);            // adjacent
  add(n, d + n, d);            // adjacent, the other way round
  add(n, d, d + n - 1);        // the last is the other's first
  add(n, d + n - 1, d);        // the first is the other's last
  add(n, d + 1, d + n + 1);
  add(n, d + n + 1, d + 1);
  add(n, d, d);                // one array under two names
  add(n, d, d + 1);            // reads ahead of the writes
  add(n, d + 1, d);            // reads what it wrote
  add(n, (double *)((char *)(d + n) - 1), d);  // one byte
  add(0, d, d);                // nothing is accessed: apart
  add(-3, d, d + 1);
  print_doubles("add", d, 100);
  for (int i = 0; i < 200; i++) f[i] = i % 13;
  shift(40, f, f + 40);
  shift(40, f + 40, f);
  shift(40, f + 3, f);
  shift(40, f, f);
  print_floats("shift", f, 100);
  rows(5, 7, d, d + 35);
  rows(5, 7, d + 35, d);
  rows(5, 7, d, d + 34);
  print_doubles("rows", d, 80);
  for (int i = 0; i < 100; i++) k[i] = i;
  reversed(20, k, k + 20);
  reversed(21, k, k + 20);
  print_ints("reversed", k, 50);
}
