// How late an echo arrives: two signals held against each other at every delay, each product normalized by the energy
// of what overlaps.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double mean(const double *x, int n) {
  double s = 0;
  for (int i = 0; i < n; i++) s += x[i];
  return s / n;
}

static void centre(double *x, int n) {
  double m = mean(x, n);
  for (int i = 0; i < n; i++) x[i] -= m;
}

static void correlate(const double *x, const double *y, int n, int lags, double *r) {
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

static int peak(const double *r, int count) {
  int best = 0;
  for (int i = 1; i < count; i++)
    if (r[i] > r[best]) best = i;
  return best;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 74000, lags = n / 40, delay = n / 97;
  double *x = malloc(n * sizeof(double)), *y = malloc(n * sizeof(double)), *r = malloc((2 * lags + 1) * sizeof(double));
  unsigned s = 3;
  for (int i = 0; i < n; i++) {
    s = s * 1664525u + 1013904223u;
    x[i] = sin(0.01 * i) + (double)(s >> 8) / (1 << 24);
    y[i] = 0;
  }
  for (int i = 0; i < n; i++) {
    s = s * 1664525u + 1013904223u;
    y[i] = (i >= delay ? 0.6 * x[i - delay] : 0) + 0.1 * (double)(s >> 8) / (1 << 24);
  }
  centre(x, n);
  centre(y, n);
  correlate(x, y, n, lags, r);
  int at = peak(r, 2 * lags + 1);
  double sum = 0;
  for (int i = 0; i <= 2 * lags; i++) sum += fabs(r[i]);
  printf("%d %.17g %.17g %.17g\n", at - lags - delay, r[at], r[0], sum);
  free(x);
  free(y);
  free(r);
  return 0;
}
