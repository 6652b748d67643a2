// y += A * x, by dot products.
void dgemv(int m, int n, const double* restrict a, const double* restrict x, double* restrict y) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) y[i] += a[i * n + j] * x[j];
}
