// A batch of small matrix products, each operand reached by a pointer of its own.
#include <stdio.h>
#include <stdlib.h>

enum { N = 8 };

void batch(int count, const double *const *a, const double *const *b, double *const *c) {
  for (int t = 0; t < count; t++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        double sum = 0;
        for (int k = 0; k < N; k++) sum += a[t][i * N + k] * b[t][k * N + j];
        c[t][i * N + j] = sum;
      }
}

static double **matrices(int count, double seed) {
  double **m = malloc(count * sizeof *m);
  for (int t = 0; t < count; t++) {
    m[t] = malloc(N * N * sizeof **m);
    for (int k = 0; k < N * N; k++) m[t][k] = seed * (t % 100 + 1) / (k + 3);
  }
  return m;
}

int main(int argc, char **argv) {
  int count = argc > 1 ? atoi(argv[1]) : 100000;
  double **a = matrices(count, 0.5), **b = matrices(count, 0.25), **c = matrices(count, 0);
  batch(count, (const double *const *)a, (const double *const *)b, c);
  double check = 0;
  for (int t = 0; t < count; t++) check += c[t][t % (N * N)];
  printf("%.17g\n", check);
  return 0;
}
