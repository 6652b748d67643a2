// y += A^T * x.
void dgemv_transposed(int m, int n, const double* restrict a, const double* restrict x, double* restrict y) {
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) y[j] += a[i * n + j] * x[i];
}
