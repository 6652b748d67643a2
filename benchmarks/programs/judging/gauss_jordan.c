// The inverse of a matrix by Gauss and Jordan's elimination, with the largest element of the column as pivot.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double **new_rows(int n, int m) {
  double **rows = malloc(n * sizeof(double *));
  for (int i = 0; i < n; i++) rows[i] = calloc(m, sizeof(double));
  return rows;
}

static void free_rows(double **rows, int n) {
  for (int i = 0; i < n; i++) free(rows[i]);
  free(rows);
}

static int pivot_row(double **a, int n, int column) {
  int best = column;
  for (int i = column + 1; i < n; i++)
    if (fabs(a[i][column]) > fabs(a[best][column])) best = i;
  return best;
}

/* `a` has n rows of 2n elements; its right half becomes the inverse of its left one. Returns 0 if there is none. */
static int invert(double **a, int n) {
  for (int c = 0; c < n; c++) {
    int p = pivot_row(a, n, c);
    if (fabs(a[p][c]) < 1e-12) return 0;
    double *t = a[p];
    a[p] = a[c];
    a[c] = t;
    double f = 1.0 / a[c][c];
    for (int j = c; j < 2 * n; j++) a[c][j] *= f;
    for (int i = 0; i < n; i++) {
      if (i == c) continue;
      double g = a[i][c];
      for (int j = c; j < 2 * n; j++) a[i][j] -= g * a[c][j];
    }
  }
  return 1;
}

static double largest_error(double **original, double **a, int n) {
  double worst = 0;
  for (int i = 0; i < n; i += 7)
    for (int j = 0; j < n; j += 5) {
      double s = i == j ? -1.0 : 0.0;
      for (int k = 0; k < n; k++) s += original[i][k] * a[k][n + j];
      if (fabs(s) > worst) worst = fabs(s);
    }
  return worst;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 850;
  double **a = new_rows(n, 2 * n), **original = new_rows(n, n);
  unsigned s = 1;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      s = s * 1103515245u + 12345u;
      original[i][j] = a[i][j] = (double)(s >> 16) / 65536 - 0.5 + (i + j == n - 1 ? 10 : 0);
    }
    a[i][n + i] = 1;
  }
  if (!invert(a, n)) {
    printf("singular\n");
    return 1;
  }
  double sum = 0, trace = 0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) sum += fabs(a[i][n + j]);
    trace += a[i][2 * n - 1 - i];
  }
  printf("%.17g %.17g %s\n", sum, trace, largest_error(original, a, n) < 1e-9 ? "good" : "bad");
  free_rows(a, n);
  free_rows(original, n);
  return 0;
}
