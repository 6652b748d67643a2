// The spectral norm of an infinite matrix, of which only a corner is looked at and no element is ever stored: power
// iteration with a function for the elements; and a Julia set in the shape of a count for each pixel.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double element(int i, int j) { return 1.0 / ((i + j) * (i + j + 1) / 2 + i + 1); }

static void times(int n, const double *v, double *out) {
  for (int i = 0; i < n; i++) {
    out[i] = 0;
    for (int j = 0; j < n; j++) out[i] += element(i, j) * v[j];
  }
}

static void transposed_times(int n, const double *v, double *out) {
  for (int i = 0; i < n; i++) {
    out[i] = 0;
    for (int j = 0; j < n; j++) out[i] += element(j, i) * v[j];
  }
}

static double norm(int n, int rounds) {
  double *u = malloc(n * sizeof(double)), *v = malloc(n * sizeof(double)), *t = malloc(n * sizeof(double));
  for (int i = 0; i < n; i++) u[i] = 1;
  for (int k = 0; k < rounds; k++) {
    times(n, u, t);
    transposed_times(n, t, v);
    times(n, v, t);
    transposed_times(n, t, u);
  }
  double uv = 0, vv = 0;
  for (int i = 0; i < n; i++) {
    uv += u[i] * v[i];
    vv += v[i] * v[i];
  }
  free(u), free(v), free(t);
  return sqrt(uv / vv);
}

/* How soon z * z + c leaves the circle of radius two, for starting points in a square. */
static void julia(int n, double cr, double ci, int most, unsigned short *counts) {
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) {
      double zr = 3.0 * x / n - 1.5, zi = 3.0 * y / n - 1.5;
      int k = 0;
      while (k < most && zr * zr + zi * zi < 4) {
        double t = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = t;
        k++;
      }
      counts[y * n + x] = (unsigned short)k;
    }
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1800;
  printf("%.17g\n", norm(n, 5));
  unsigned short *counts = malloc(sizeof *counts * n * n);
  julia(n, -0.7, 0.27015, 120, counts);
  long sum = 0;
  for (int i = 0; i < n * n; i++) sum += counts[i];
  printf("%ld\n", sum);
  free(counts);
  return 0;
}
