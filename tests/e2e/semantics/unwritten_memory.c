// Nothing is written that the original does not write: what stays unchanged may be read-only, const, or another
// thread's.
// conditional: served SS
// odd: served S
// never: served S
// counter: served SS
// clamp: served S
// tables: served S
// triangle: served S
// scalar: served SS
// also: vectorize conditional odd never clamp tables; parallelize conditional odd never clamp; inner triangle; tile odd
// march: x86-64-v3 x86-64
#include <pthread.h>
#include "semantics.h"
NOINLINE void conditional(int n, double *restrict x, const double *restrict y) {
  for (int i = 0; i < n; i++)
    if (y[i] > 0) x[i] = y[i];
}
NOINLINE void odd(int n, int *restrict x) {
  for (int i = 1; i < n; i += 2) x[i] = x[i] + i;
}
NOINLINE void never(int n, float *restrict x, const int *restrict w) {
  for (int i = 0; i < n; i++) {
    if (w[i] > 3) x[i] = 1;
    if (w[i] == 2) x[i] += 5;
  }
}
static int hits;
NOINLINE void counter(int n, const double *restrict y) {
  for (int i = 0; i < n; i++)
    if (y[i] > 0) hits++;
}
NOINLINE void clamp(int n, short *restrict x) {
  for (int i = 0; i < n; i++)
    if (x[i] > 100) x[i] = 100;
}
static const double weights[5] = {1, 2, 4, 8, 16};
const int order[5] = {4, 2, 0, 1, 3};
NOINLINE void tables(int n, double *restrict x) {
  static const int local[] = {3, 1, 2};
  for (int i = 0; i < n; i++) x[i] = weights[order[i % 5]] + local[i % 3];
}
NOINLINE void triangle(int n, double *restrict x) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) x[i * n + j] += 1;
}
NOINLINE void scalar(int n, double *restrict s, const double *restrict y) {
  for (int i = 0; i < n; i++)
    if (y[i] > 5) *s += y[i];
}
enum { n = 1000 };
static int shared[n];
static _Atomic int ready;
static void *evens(void *unused) {
  ready = 1;
  for (int k = 0; k < 2000; k++)
    for (int i = 0; i < n; i += 2) ((volatile int *)shared)[i]++;
  return unused;
}
int main(void) {
  double *x = before_fence(PAGE), y[PAGE / 8], zero = 3;
  for (int i = 0; i < PAGE / 8; i++) x[i] = i, y[i] = -i;
  read_only(x, PAGE);
  conditional(PAGE / 8, x, y);
  print_bytes("read-only", x, PAGE);
  double z[100];
  for (int i = 0; i < 100; i++) z[i] = 7, y[i] = i % 3 - 1;
  conditional(100, z, y);
  print_doubles("conditional", z, 100);
  float *f = before_fence(400);
  memset(f, 0, 400);
  read_only(f, 400);
  int w[100];
  for (int i = 0; i < 100; i++) w[i] = i % 2;
  never(100, f, w);
  short *s = before_fence(200);
  for (int i = 0; i < 100; i++) s[i] = (short)(i % 101);
  read_only(s, 200);
  clamp(100, s);
  tables(100, z);
  print_doubles("tables", z, 100);
  counter(100, y), counter(0, y);
  double *t = before_fence(8 * 6 * 6);  // rows and upper part: two pages would be needed to protect them apart
  for (int i = 0; i < 36; i++) t[i] = 0;
  triangle(6, t);
  print_doubles("triangle", t, 36);
  double *sum = before_fence(8);
  *sum = 2;
  read_only(sum, 8);
  scalar(100, sum, y), scalar(100, &zero, x);
  printf("%d %g %g\n", hits, *sum, zero);
  pthread_t thread;
  pthread_create(&thread, 0, evens, 0);
  while (!ready) {}
  odd(n, shared);
  pthread_join(thread, 0);
  for (int k = 0; k < 1; k++) print_ints("shared", shared, n);
}
