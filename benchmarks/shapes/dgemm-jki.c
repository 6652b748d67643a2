// C += A * B, columns of C in the innermost loop.
void dgemm_jki(int m, int n, int k, const double* restrict a, const double* restrict b, double* restrict c) {
  for (int j = 0; j < n; j++)
    for (int l = 0; l < k; l++)
      for (int i = 0; i < m; i++) c[i * n + j] += a[i * k + l] * b[l * n + j];
}
