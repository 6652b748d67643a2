// Sparse matrix times vector, compressed rows in a structure; power iteration around it.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  int rows, entries;
  int *start, *column;
  double *val;
} csr;

void apply(const csr *A, const double *restrict x, double *restrict y) {
  for (int i = 0; i < A->rows; i++) {
    double sum = 0;
    for (int k = A->start[i]; k < A->start[i + 1]; k++) sum += A->val[k] * x[A->column[k]];
    y[i] = sum;
  }
}

static csr ring(int n, int width) {
  csr A = {n, 0, malloc((n + 1) * sizeof(int)), malloc((size_t)n * width * sizeof(int)),
           malloc((size_t)n * width * sizeof(double))};
  for (int i = 0; i < n; i++) {
    A.start[i] = A.entries;
    for (int k = 0; k < 1 + i % width; k++) {
      A.column[A.entries] = (int)((i + (long)k * k * 37) % n);
      A.val[A.entries++] = 1.0 / (1 + k);
    }
  }
  A.start[n] = A.entries;
  return A;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 400000;
  csr A = ring(n, 24);
  double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y), length = 0;
  for (int i = 0; i < n; i++) x[i] = 1;
  for (int step = 0; step < 12; step++) {
    apply(&A, x, y);
    length = 0;
    for (int i = 0; i < n; i++) length += y[i] * y[i];
    length = sqrt(length);
    for (int i = 0; i < n; i++) x[i] = y[i] / length;
  }
  printf("%d %.17g %.17g\n", A.entries, length, x[n / 2]);
  return 0;
}
