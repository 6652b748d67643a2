// Matrix product over arrays of row pointers, each row its own malloc.
#include <stdio.h>
#include <stdlib.h>

static double **matrix(int rows, int columns) {
  double **m = malloc(rows * sizeof *m);
  for (int i = 0; i < rows; i++) m[i] = malloc(columns * sizeof **m);
  return m;
}

void multiply(int n, int m, int l, double **a, double **b, double **c) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      double sum = 0;
      for (int k = 0; k < l; k++) sum += a[i][k] * b[k][j];
      c[i][j] = sum;
    }
}

static void fill(double **m, int rows, int columns, double seed) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) m[i][j] = seed * (i + 1) / (j + 2);
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 800;
  int m = n + n / 8, l = n + n / 4;
  double **a = matrix(n, l), **b = matrix(l, m), **c = matrix(n, m);
  fill(a, n, l, 0.5);
  fill(b, l, m, 0.25);
  multiply(n, m, l, a, b, c);
  double check = 0;
  for (int i = 0; i < n; i++) check += c[i][i % m] * (i % 7);
  printf("%.17g %.17g\n", check, c[n - 1][m - 1]);
  return 0;
}
