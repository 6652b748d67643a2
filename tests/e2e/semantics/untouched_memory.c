// Nothing is accessed that the original does not access: arrays end, or begin, at a page that faults.
// copy: served SSSSSSSSSSSSSSSSSSSSS
// floats: served SSSSSSSSSSSSSSSSSSSSS
// bytes: served SSSSSSSSSSSSSSSSSSSSS
// backwards: served SSSSSSSSSSSSSSSSSSSSS
// strided: served SSSSSSSSSSSSSSSSSSSSS
// guarded: served SSSSSSSSSSSSSSSSSSSSS
// masked: served SSSSSSSSSSSSSSSSSSSSS
// gathered: served SSSSSSSSSSSSSSSSSSSSS
// triangle: served SSSSSSSSSSSSSSSSSSSSS
// stencil: served SSSSSSSSSSSSSSSSSSSSS
// product: served SSSSSSSSSSSSSSSSSSSSS
// columns: served SSSSSSSSSSSSSSSSSSSSS
// sum: served SSSSSSSSSSSSSSSSSSSSS
// also: vectorize copy floats bytes backwards strided guarded masked gathered stencil; parallelize copy guarded masked; tile copy product columns; inner triangle columns; unroll copy triangle; lanes copy floats
// march: x86-64-v3 x86-64
#include "semantics.h"
NOINLINE void copy(long n, double *restrict x, const double *restrict y) {
  for (long i = 0; i < n; i++) x[i] = y[i] + 1;
}
NOINLINE void floats(long n, float *restrict x, const double *restrict y) {
  for (long i = 0; i < n; i++) x[i] = (float)y[i] + x[i];
}
NOINLINE void bytes(long n, unsigned char *restrict x, const short *restrict y) {
  for (long i = 0; i < n; i++) x[i] = (unsigned char)(x[i] + y[i]);
}
NOINLINE void backwards(long n, int *restrict x, const int *restrict y) {
  for (long i = 0; i < n; i++) x[n - 1 - i] = y[i] - x[n - 1 - i];
}
NOINLINE void strided(long n, float *restrict x, const float *restrict y) {
  for (long i = 0; i < n; i++) x[3 * i] = y[2 * i] * 2;
}
NOINLINE void guarded(long n, long m, double *restrict x, const double *restrict y) {
  for (long i = 0; i < n + 9; i++)
    if (i < n) x[i] = y[i] * m;
}
NOINLINE void masked(long n, double *restrict x, const double *restrict y, const int *restrict which) {
  for (long i = 0; i < 24; i++)
    if (which[i]) x[i] = y[i] + n;
}
NOINLINE void gathered(long n, double *restrict x, const double *restrict y, const int *restrict at) {
  for (long i = 0; i < n; i++) x[i] = y[at[i]];
}
NOINLINE void triangle(long n, double *restrict x, const double *restrict y) {
  for (long i = 0; i < n; i++)
    for (long j = 0; j <= i; j++) x[i * n + j] = y[j] + i;
}
NOINLINE void stencil(long n, double *restrict x, const double *restrict y) {
  for (long i = 1; i < n - 1; i++) x[i] = y[i - 1] + y[i] + y[i + 1];
}
NOINLINE void product(long n, double *restrict c, const double *restrict a, const double *restrict b) {
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++)
      for (long k = 0; k < n; k++) c[i * n + j] += a[i * n + k] * b[k * n + j];
}
NOINLINE void columns(long n, double *restrict x, const double *restrict y) {
  for (long j = 0; j < n; j++)
    for (long i = 0; i < n; i++) x[i * n + j] = y[j * n + i];
}
NOINLINE double sum(long n, const double *x) {
  double s = 0;
  for (long i = 0; i < n; i++) s += x[i];
  return s;
}
static void *memory(long bytes, int front) {
  size_t size = bytes > 0 ? (size_t)bytes : 0;
  char *p = front ? behind_fence(size) : before_fence(size);
  for (size_t i = 0; i < size; i++) p[i] = 0;
  return p;
}
int main(void) {
  for (long n = 0; n < 21; n++) {
    int front = n % 4 == 3;
    double *x = memory(8 * n, front), *y = memory(8 * n, front);
    for (long i = 0; i < n; i++) y[i] = i * i;
    copy(n, x, y);
    float *f = memory(4 * n, front);
    floats(n, f, y);
    unsigned char *c = memory(n, front);
    short *s = memory(2 * n, front);
    for (long i = 0; i < n; i++) s[i] = (short)(300 * i);
    bytes(n, c, s);
    int *k = memory(4 * n, front), *l = memory(4 * n, front);
    for (long i = 0; i < n; i++) l[i] = (int)(i * 7);
    backwards(n, k, l);
    float *g = memory(4 * (3 * n - 2), front), *h = memory(4 * (2 * n - 1), front);
    for (long i = 0; i < 2 * n - 1; i++) h[i] = i;
    strided(n, g, h);
    guarded(n, 3, x, y);
    int *which = memory(4 * 24, 0), *at = memory(4 * n, front);
    for (long i = 0; i < 24; i++) which[i] = i < n && i % 5 != 2;
    void (*volatile apart)(long, double *, const double *, const int *) = masked;  // not part of a nest of main
    apart(n, x, y, which);
    for (long i = 0; i < n; i++) at[i] = (int)(n - 1 - i * 3 % n);
    gathered(n, x, y, at);
    print_doubles("x", x, n), print_floats("f", f, n), print_ints("k", k, n);
    print_bytes("c", c, (size_t)n), print_floats("g", g, n ? 3 * n - 2 : 0);
    double *a = memory(8 * n * n, front), *b = memory(8 * n * n, front);
    triangle(n, a, y);
    stencil(n, x, y);
    for (long i = 0; i < n * n; i++) b[i] = i % 7;
    double *m = memory(8 * n * n, front);
    product(n, m, a, b);
    columns(n, a, m);
    print_doubles("x", x, n), print_bytes("a", a, (size_t)(8 * n * n));
    printf("%g\n", sum(n, x));
  }
}
