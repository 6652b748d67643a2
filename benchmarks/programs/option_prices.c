// European options by Black and Scholes, and what volatility a price stands for.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// The normal distribution by Abramowitz and Stegun 26.2.17, good to seven digits.
static double tail(double x) {
  double k = 1 / (1 + 0.2316419 * x);
  double p = ((((1.330274429 * k - 1.821255978) * k + 1.781477937) * k - 0.356563782) * k + 0.319381530) * k;
  return p * exp(-0.5 * x * x) * 0.39894228040143267794;
}

static double normal(double x) {
  if (x < -8) return 0;
  if (x < 0) return tail(-x);
  return 1 - tail(x);
}

static double price(int call, double s, double k, double r, double v, double t) {
  if (t <= 0) {
    double now = call ? s - k : k - s;
    if (now < 0) return 0;
    return now;
  }
  double d1 = (log(s / k) + (r + 0.5 * v * v) * t) / (v * sqrt(t)), d2 = d1 - v * sqrt(t);
  if (call) return s * normal(d1) - k * exp(-r * t) * normal(d2);
  return k * exp(-r * t) * normal(-d2) - s * normal(-d1);
}

void price_all(int n, const int *restrict call, const double *restrict s, const double *restrict k,
               const double *restrict t, double *restrict out) {
  for (int i = 0; i < n; i++) out[i] = price(call[i], s[i], k[i], 0.02, 0.3, t[i]);
}

void compound(int n, int years, double rate, const double *restrict in, double *restrict out) {
  for (int i = 0; i < n; i++) {
    double v = in[i];
    for (int y = 0; y < years; y++) {
      v *= 1 + rate;
      if (v > 1000) break;
    }
    out[i] = v;
  }
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 2000000;
  int *call = malloc(sizeof *call * n);
  double *s = malloc(sizeof *s * n), *k = malloc(sizeof *s * n), *t = malloc(sizeof *s * n),
         *out = malloc(sizeof *s * n), sum = 0;
  for (int i = 0; i < n; i++) call[i] = i % 2, s[i] = 20 + i % 90, k[i] = 30 + i % 70, t[i] = i % 11 * 0.25;
  price_all(n, call, s, k, t, out);
  compound(n, 60, 0.05, s, t);
  for (int i = 0; i < n; i++) sum += out[i] + t[i];
  printf("%.17g\n", sum);
  free(call), free(s), free(k), free(t), free(out);
  return 0;
}
