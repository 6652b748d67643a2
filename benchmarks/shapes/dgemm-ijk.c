// C = A * B, flat arrays, sizes as parameters, dot products innermost.
void dgemm_ijk(int m, int n, int k, const double* restrict a, const double* restrict b, double* restrict c) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int l = 0; l < k; l++) sum += a[i * k + l] * b[l * n + j];
      c[i * n + j] = sum;
    }
}
