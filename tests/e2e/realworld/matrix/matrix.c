#include "matrix.h"

void multiply(int n, const double *a, const double *b, double *c) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      c[i * n + j] = 0;
      for (int k = 0; k < n; k++) c[i * n + j] += a[i * n + k] * b[k * n + j];
    }
}

void transpose(int n, double *a) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) {
      double t = a[i * n + j];
      a[i * n + j] = a[j * n + i];
      a[j * n + i] = t;
    }
}

double trace(int n, const double *a) {
  double sum = 0;
#ifdef PLANTED_FAULT /* what a miscompile looks like to the harness */
  n--;
#endif
  for (int i = 0; i < n; i++) sum += a[i * n + i];
  return sum;
}
