/* Work on rows and columns, statistics of them, pairs of points, as people write them. T: the element type. */
#ifndef T
#define T double
#endif

void scale_rows(int n, int m, T *restrict a, const T *restrict s) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) a[i * m + j] *= s[i];
}

void row_means(int n, int m, const T *restrict a, T *restrict mean) {
  for (int i = 0; i < n; i++) {
    T s = 0;
    for (int j = 0; j < m; j++) s += a[i * m + j];
    mean[i] = s / m;
  }
}

void column_means(int n, int m, const T *restrict a, T *restrict mean) {
  for (int j = 0; j < m; j++) {
    T s = 0;
    for (int i = 0; i < n; i++) s += a[i * m + j];
    mean[j] = s / n;
  }
}

void normalize_rows(int n, int m, const T *restrict a, T *restrict b) {
  for (int i = 0; i < n; i++) {
    T s = 0, q = 0;
    for (int j = 0; j < m; j++) {
      s += a[i * m + j];
      q += a[i * m + j] * a[i * m + j];
    }
    s /= m;
    q = q / m - s * s + (T)1e-5;
    for (int j = 0; j < m; j++) b[i * m + j] = (a[i * m + j] - s) / q;
  }
}

void transpose(int n, int m, const T *restrict a, T *restrict b) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) b[j * n + i] = a[i * m + j];
}

void forces(int n, const T *restrict x, const T *restrict y, const T *restrict m, T *restrict fx, T *restrict fy) {
  for (int i = 0; i < n; i++) {
    T sx = 0, sy = 0;
    for (int j = 0; j < n; j++) {
      T dx = x[j] - x[i], dy = y[j] - y[i];
      T w = m[j] / (dx * dx + dy * dy + (T)1e-3);
      sx += w * dx;
      sy += w * dy;
    }
    fx[i] = sx;
    fy[i] = sy;
  }
}

void substitute(int n, int m, const T *restrict l, T *restrict b) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < i; k++)
      for (int j = 0; j < m; j++) b[i * m + j] -= l[i * n + k] * b[k * m + j];
}

void eliminate(int n, T *restrict a) {
  for (int k = 0; k < n; k++)
    for (int i = k + 1; i < n; i++) {
      a[i * n + k] /= a[k * n + k];
      for (int j = k + 1; j < n; j++) a[i * n + j] -= a[i * n + k] * a[k * n + j];
    }
}
