// Powers of a matrix by squaring, all matrices in flat arrays, column by column as a Fortran programmer would lay them
// out, with the loops in the order of the textbook's formula.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(m, i, j) m[(size_t)(j) * n + (i)]

static double *new_matrix(int n) {
  double *m = calloc((size_t)n * n, sizeof *m);
  if (!m) {
    fprintf(stderr, "no memory\n");
    exit(1);
  }
  return m;
}

static void multiply(int n, const double *a, const double *b, double *c) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      AT(c, i, j) = 0.0;
      for (int k = 0; k < n; k++) AT(c, i, j) += AT(a, i, k) * AT(b, k, j);
    }
}

/* Makes every row add up to one, so that the powers stay in bounds. */
static void make_stochastic(int n, double *m) {
  for (int i = 0; i < n; i++) {
    double total = 0;
    for (int j = 0; j < n; j++) total += AT(m, i, j);
    for (int j = 0; j < n; j++) AT(m, i, j) /= total;
  }
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 400, exponent = 5;
  double *base = new_matrix(n), *power = new_matrix(n), *scratch = new_matrix(n);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) AT(base, i, j) = (i * 7 + j * 3) % 11 + 0.25;
    AT(power, i, i) = 1;
  }
  make_stochastic(n, base);
  while (exponent > 0) {
    if (exponent % 2 == 1) {
      multiply(n, power, base, scratch);
      memcpy(power, scratch, sizeof(double) * n * n);
    }
    exponent /= 2;
    if (exponent > 0) {
      multiply(n, base, base, scratch);
      memcpy(base, scratch, sizeof(double) * n * n);
    }
  }
  double sum = 0, trace = 0;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) sum += AT(power, i, j) * (i % 5 + 1);
  for (int i = 0; i < n; i++) trace += AT(power, i, i);
  printf("%.17g %.17g %.17g\n", sum, trace, AT(power, 0, n - 1));
  free(base);
  free(power);
  free(scratch);
  return 0;
}
