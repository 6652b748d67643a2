// The lower triangle of C += A * A^T.
void dsyrk(int n, int k, const double* restrict a, double* restrict c) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      for (int l = 0; l < k; l++) c[i * n + j] += a[i * k + l] * a[j * k + l];
}
