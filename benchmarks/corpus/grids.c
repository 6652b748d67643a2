/* Sweeps over grids, once and in time, as people write them. T: the element type. */
#ifndef T
#define T double
#endif

void sweep_five(int n, const T *restrict a, T *restrict b) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      b[i * n + j] = (T)0.2 * (a[i * n + j] + a[(i - 1) * n + j] + a[(i + 1) * n + j] + a[i * n + j - 1] + a[i * n + j + 1]);
}

void sweep_seven(int n, const T *restrict a, T *restrict b) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      for (int k = 1; k < n - 1; k++)
        b[(i * n + j) * n + k] = a[(i * n + j) * n + k] * (T)0.4 +
                                 (a[((i - 1) * n + j) * n + k] + a[((i + 1) * n + j) * n + k] + a[(i * n + j - 1) * n + k] +
                                  a[(i * n + j + 1) * n + k] + a[(i * n + j) * n + k - 1] + a[(i * n + j) * n + k + 1]) *
                                     (T)0.1;
}

void diffuse(int steps, int n, T *restrict a, T *restrict b) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        b[i * n + j] = (T)0.2 * (a[i * n + j] + a[(i - 1) * n + j] + a[(i + 1) * n + j] + a[i * n + j - 1] + a[i * n + j + 1]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) a[i * n + j] = b[i * n + j];
  }
}

void diffuse_line(int steps, int n, T *restrict a, T *restrict b) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++) b[i] = (T)0.5 * a[i] + (T)0.25 * (a[i - 1] + a[i + 1]);
    for (int i = 1; i < n - 1; i++) a[i] = (T)0.5 * b[i] + (T)0.25 * (b[i - 1] + b[i + 1]);
  }
}

void relax(int steps, int n, T *restrict a) {
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[i * n + j] = (T)0.25 * (a[(i - 1) * n + j] + a[(i + 1) * n + j] + a[i * n + j - 1] + a[i * n + j + 1]);
}

void wave(int steps, int n, T *restrict u, T *restrict v, const T *restrict c) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        v[i * n + j] += c[i * n + j] * (u[(i - 1) * n + j] + u[(i + 1) * n + j] + u[i * n + j - 1] + u[i * n + j + 1] -
                                        4 * u[i * n + j]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) u[i * n + j] += (T)0.1 * v[i * n + j];
  }
}
