// C += A * B, flat arrays, sizes as parameters, rows of B in the innermost loop.
void sgemm_ikj(int m, int n, int k, const float* restrict a, const float* restrict b, float* restrict c) {
  for (int i = 0; i < m; i++)
    for (int l = 0; l < k; l++)
      for (int j = 0; j < n; j++) c[i * n + j] += a[i * k + l] * b[l * n + j];
}
