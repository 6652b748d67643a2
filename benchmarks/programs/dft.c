// The discrete Fourier transform, by its definition, with a window.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double angle(int k, int t, int n) { return -2 * 3.14159265358979323846 * k * t / n; }

static double window(int t, int n) {
  int half = n / 2;
  if (t < half) return (double)t / half;
  if (t == half) return 1;
  return (double)(n - t) / half;
}

void transform(int n, const double *restrict x, double *restrict re, double *restrict im) {
  for (int k = 0; k < n; k++) {
    double r = 0, i = 0;
    for (int t = 0; t < n; t++) {
      double v = x[t] * window(t, n);
      r += v * cos(angle(k, t, n));
      i += v * sin(angle(k, t, n));
    }
    re[k] = r;
    im[k] = i;
  }
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 2500;
  double *x = malloc(sizeof *x * n), *re = malloc(sizeof *x * n), *im = malloc(sizeof *x * n), sum = 0;
  for (int t = 0; t < n; t++) x[t] = t * 37 % 101 * 0.01;
  transform(n, x, re, im);
  for (int k = 0; k < n; k++) sum += re[k] * re[k] + im[k] * im[k];
  printf("%.17g\n", sum);
  free(x), free(re), free(im);
  return 0;
}
