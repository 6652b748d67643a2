// What all calls of the file pass, to functions that other files may call with something else: here by another name.
// smooth: served SSO
// least: served SSOSO
// own: served SS
// also: vectorize smooth; parallelize smooth least own
#include <math.h>
#include "semantics.h"
NOINLINE void smooth(int n, const float *restrict x, float *restrict y, int radius) {
  for (int i = 0; i < n; i++) {
    float sum = 0;
    for (int k = -radius; k <= radius; k++) sum += x[i + k + 8] * (k + 4);
    y[i] = sum;
  }
}
NOINLINE void least(int rows, int columns, double (*a)[6], double *restrict best, int *restrict at) {
  for (int i = 0; i < rows; i++) {
    best[i] = INFINITY;
    at[i] = -1;
    for (int j = 0; j < columns; j++)
      if (a[i][j] < best[i]) best[i] = a[i][j], at[i] = j;
  }
}
// Not inlined by an attribute, so left without a hint; its callers are all here.
NOINLINE static void own(int n, double *x, double by) {
  for (int i = 0; i < n; i++) x[i] = x[i] > -HUGE_VAL ? x[i] * by : by;
}
void smooth_from_elsewhere(int, const float *, float *, int) __asm__("smooth");
void least_from_elsewhere(int, int, double (*)[6], double *, int *) __asm__("least");
// These may be put in the place of their calls: where static objects and functions are named, nothing is said about that.
static int calls;
static double twice(double x) { return calls++, 2 * x; }
double total(int n, const double *x) {
  static double before;
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i];
  before += sum;
  return twice(before);
}
int main(void) {
  float x[40], y[20];
  for (int i = 0; i < 40; i++) x[i] = i * i % 13;
  smooth(20, x, y, 3), print_floats("smooth", y, 20);
  smooth(7, x, y, 3), print_floats("smooth", y, 20);
  smooth_from_elsewhere(20, x, y, 5), print_floats("smooth", y, 20);
  double a[5][6], best[5];
  int at[5];
  for (int i = 0; i < 30; i++) a[i / 6][i % 6] = i * 7 % 11;
  a[2][3] = a[3][0] = NAN, a[4][5] = -INFINITY;
  for (int i = 0; i < 6; i++) a[1][i] = INFINITY;
  least(5, 6, a, best, at), print_doubles("least", best, 5), print_ints("at", at, 5);
  least(2, 6, a, best, at), print_doubles("least", best, 5), print_ints("at", at, 5);
  least_from_elsewhere(5, 4, a, best, at), print_doubles("least", best, 5), print_ints("at", at, 5);
  least_from_elsewhere(4, 6, a, best, at), print_doubles("least", best, 5), print_ints("at", at, 5);
  least_from_elsewhere(4, 0, a, best, at), print_doubles("least", best, 5), print_ints("at", at, 5);
  own(6, a[0], 3), print_doubles("own", a[0], 6);
  own(6, a[4], 3), print_doubles("own", a[4], 6);
  double sum = total(6, a[2]) + total(6, a[0]);
  print_doubles("total", &sum, 1), printf("%d\n", calls);
}
