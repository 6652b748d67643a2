// Linear equations by Gauss elimination with pivoting.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int solve(int n, double *restrict a, double *restrict b) {
  for (int k = 0; k < n; k++) {
    int pivot = k;
    for (int i = k + 1; i < n; i++)
      if (fabs(a[i * n + k]) > fabs(a[pivot * n + k])) pivot = i;
    if (a[pivot * n + k] == 0) return -1;
    if (pivot != k) {
      for (int j = k; j < n; j++) {
        double t = a[k * n + j];
        a[k * n + j] = a[pivot * n + j];
        a[pivot * n + j] = t;
      }
      double t = b[k];
      b[k] = b[pivot];
      b[pivot] = t;
    }
    for (int i = k + 1; i < n; i++) {
      double f = a[i * n + k] / a[k * n + k];
      for (int j = k; j < n; j++) a[i * n + j] -= f * a[k * n + j];
      b[i] -= f * b[k];
    }
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int j = i + 1; j < n; j++) b[i] -= a[i * n + j] * b[j];
    b[i] /= a[i * n + i];
  }
  return 0;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 900;
  double *a = malloc(sizeof *a * n * n), *b = malloc(sizeof *b * n), sum = 0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) a[i * n + j] = (i * 7 + j * 13) % 17 + (i == (j + 1) % n ? n : 0);
    b[i] = i % 5;
  }
  int status = solve(n, a, b);
  for (int i = 0; i < n; i++) sum += b[i] * (i + 1);
  printf("%d %.17g\n", status, sum);
  free(a), free(b);
  return 0;
}
