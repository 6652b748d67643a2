// A signal through a bank of windowed low-, band- and high-pass filters, and the energy that each lets through.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PI 3.14159265358979323846

typedef struct {
  float *taps;
  float energy;
} filter;

/* The band from `low` to `high` (fractions of the sampling rate), a sinc under Hamming's window. */
static void design(filter *f, int taps, double low, double high) {
  f->taps = malloc(taps * sizeof(float));
  f->energy = 0;
  for (int k = 0; k < taps; k++) {
    double t = k - (taps - 1) / 2.0, ideal;
    if (fabs(t) < 1e-9)
      ideal = 2 * (high - low);
    else
      ideal = (sin(2 * PI * high * t) - sin(2 * PI * low * t)) / (PI * t);
    f->taps[k] = (float)(ideal * (0.54 - 0.46 * cos(2 * PI * k / (taps - 1))));
  }
}

static void apply(const float *taps, int count, const float *restrict in, int n, float *restrict out) {
  for (int i = 0; i < n - count + 1; i++) {
    float y = 0.0f;
    for (int k = 0; k < count; k++) y += taps[k] * in[i + count - 1 - k];
    out[i] = y;
  }
}

static float energy(const float *x, int n) {
  float e = 0;
  for (int i = 0; i < n; i++) e += x[i] * x[i];
  return e / n;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 340000;
  enum { bands = 12, taps = 96 };
  filter bank[bands];
  float *in = malloc(n * sizeof(float)), *out = malloc(n * sizeof(float));
  for (int i = 0; i < n; i++)
    in[i] = (float)(sin(0.05 * i) + 0.5 * sin(0.7 * i + 1) + 0.25 * sin(1e-5 * i * (double)i));
  for (int b = 0; b < bands; b++) {
    design(&bank[b], taps, 0.5 * b / bands, 0.5 * (b + 1) / bands);
    apply(bank[b].taps, taps, in, n, out);
    bank[b].energy = energy(out, n - taps + 1);
  }
  for (int b = 0; b < bands; b++) printf("%2d %.9g\n", b, bank[b].energy);
  for (int b = 0; b < bands; b++) free(bank[b].taps);
  free(in);
  free(out);
  return 0;
}
