// Two signals at every delay, and windows that the ends cut off: sums of several things over ranges of maxima and minima.
// correlate: served *
// window: served *
// moments: served *
// also: parallelize correlate window moments
#include <math.h>
#include "semantics.h"
NOINLINE void correlate(const double *x, const double *y, int n, int lags, double *r) {
  for (int lag = -lags; lag <= lags; lag++) {
    int first = lag < 0 ? -lag : 0, last = lag > 0 ? n - lag : n;
    double sum = 0, ex = 0, ey = 0;
    for (int i = first; i < last; i++) {
      sum += x[i] * y[i + lag];
      ex += x[i] * x[i];
      ey += y[i + lag] * y[i + lag];
    }
    r[lag + lags] = sum / sqrt(ex * ey + 1e-12);
  }
}
NOINLINE void window(int n, int w, const float *restrict from, float *restrict to, float *restrict most) {
  for (int t = 0; t < n; t++) {
    int from_here = t - w > 0 ? t - w : 0, to_here = t + w < n - 1 ? t + w : n - 1;
    float sum = 0, squares = 1;
    for (int k = from_here; k <= to_here; k++) sum += from[k];
    for (int k = from_here; k <= to_here; k++) squares += from[k] * from[k];
    to[t] = sum / squares;
    most[t] = from[to_here] - from[from_here];
  }
}
NOINLINE void moments(int rows, int n, const double *restrict a, double *restrict mean, double *restrict spread) {
  for (int i = 0; i < rows; i++) {
    double one = 0, two = 0;
    for (int j = 0; j < n; j++) one += a[i * n + j];
    for (int j = 0; j < n; j++) two += (a[i * n + j] - one) * (a[i * n + j] - one);
    mean[i] = one;
    spread[i] = two;
  }
}
int main(void) {
  enum { most = 40 };
  for (int n = 0; n <= 20; n += 1 + n / 4) {
    double *x = before_fence(n * sizeof(double)), *y = behind_fence(n * sizeof(double));
    float *f = before_fence((n + 1) * sizeof(float)), to[most], differences[most];
    for (int i = 0; i < n; i++) x[i] = i * 37 % 11 - 4.5, y[i] = i * 29 % 13 - 5.25;
    for (int i = 0; i < n; i++) f[i] = (float)x[i] * 0.7f;
    for (int lags = 0; lags <= n && lags < 19; lags += 1 + lags / 3) {
      double r[2 * most];
      correlate(x, y, n, lags, r), print_doubles("correlate", r, 2 * lags + 1);
    }
    if (n == 0) continue;
    for (int w = 0; w < 9; w += 2) {
      window(n, w, f, to, differences);
      print_floats("window", to, n), print_floats("most", differences, n);
    }
    for (int rows = 1; rows < 5; rows++) {
      double mean[4], spread[4];
      moments(rows, n / rows, x, mean, spread), print_doubles("mean", mean, rows), print_doubles("spread", spread, rows);
    }
  }
}
