// A scalar keeps its last value for what reads it behind its loop: a subscript, a bound, another statement; and a value
// that went into an element is read from there only while the element has it.
// subscript: served S
// bound: served S
// stored: served S
// overwritten: served S
// squares: served S
// constants: served S
#include "semantics.h"
enum { N = 40 };
#define QUOTIENTS                 \
  int t = 0;                      \
  for (int i = 0; i < n; i++) {   \
    t = b[i] / c[i];              \
    x[i] = t;                     \
    z[i] = t;                     \
  }
NOINLINE void subscript(int m, int n, int *restrict x, int *restrict z, int *restrict y, const int *restrict b,
                        const int *restrict c) {
  for (int k = 0; k < m; k++) {
    QUOTIENTS
    for (int j = 0; j < n; j++) y[t] += j;
  }
}
NOINLINE void bound(int m, int n, int *restrict x, int *restrict z, int *restrict y, const int *restrict b,
                    const int *restrict c) {
  for (int k = 0; k < m; k++) {
    QUOTIENTS
    for (int j = 0; j < t; j++) y[j] += k;
  }
}
NOINLINE void stored(int n, double (*restrict a)[N], double c) {
  for (int i = 0; i < n; i++)
    for (int j = i; j < n; j++) {
      const double t = a[i][j] / (c - 1);
      a[i][j] = t;
      a[j][i] = t;
    }
}
NOINLINE void overwritten(int n, double *a, double *b) {
  for (int i = 0; i < n; i++) {
    const double t = b[i] / 3;
    a[i] = t;
    a[n - 1 - i] = 2;
    b[i] = t * t + t;
  }
}
NOINLINE void squares(int n, double *restrict a, int *restrict b) {
  for (int i = 0; i < n; i++) {
    double t = a[i] / 7, t1 = t * t / 3 + 1, t2 = t1 * t1 / 3 + 1, t3 = t2 * t2 / 3 + 1, t4 = t3 * t3 / 3 + 1;
    double t5 = t4 * t4 / 3 - 1, t6 = t5 * t5 / 3 - 1, t7 = t6 * t6 / 3 - 1, t8 = t7 / (t6 * t6), t9 = t8 * t8;
    a[i] = t9 * t9;
    int s = i % 3 - 1, s1 = s * s + 1, s2 = s1 * s1 - 1, s3 = s2 * s2, s4 = s3 * s3 % 5, s5 = s4 * s4, s6 = s5 * s5;
    b[i] = s6;
  }
}
static const float third = 1.0f / 3;
const double outside = -0.0;
NOINLINE void constants(int n, double *restrict a) {
  const double tenth = 0.1, huge = 1e308 * 10;
  for (int i = 0; i < n; i++) a[i] = i % 4 ? a[i] * tenth + third : i % 8 ? outside * i : huge;
}
int main(void) {
  static int b[N], c[N], x[N], y[10 * N], z[N];
  static double a[N][N], d[2 * N];
  for (int i = 0; i < N; i++) {
    b[i] = 5 * i, c[i] = 1 + i % 3, d[i] = d[N + i] = i / 3.;
    for (int j = 0; j < N; j++) a[i][j] = i * j % 17;
  }
  subscript(3, N, x, z, y, b, c);
  bound(3, N, x, z, y, b, c);
  stored(N, a, 1.5);
  overwritten(N, d, d + N);
  print_bytes("x", x, sizeof x), print_bytes("y", y, sizeof y), print_bytes("z", z, sizeof z);
  print_bytes("a", a, sizeof a), print_bytes("d", d, sizeof d);
  squares(N, d + N, x);
  constants(N, d);
  print_bytes("x", x, sizeof x), print_bytes("d", d, sizeof d);
}
