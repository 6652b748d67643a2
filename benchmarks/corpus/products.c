/* Products of matrices and what has their shape, as people write them. T: the element type. */
#ifndef T
#define T double
#endif

void product(int n, int m, int k, const T *restrict a, const T *restrict b, T *restrict c) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      T s = 0;
      for (int l = 0; l < k; l++) s += a[i * k + l] * b[l * m + j];
      c[i * m + j] = s;
    }
}

void product_bt(int n, int m, int k, const T *restrict a, const T *restrict b, T *restrict c) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      T s = 0;
      for (int l = 0; l < k; l++) s += a[i * k + l] * b[j * k + l];
      c[i * m + j] = s;
    }
}

void product_at(int n, int m, int k, const T *restrict a, const T *restrict b, T *restrict c) {
  for (int l = 0; l < k; l++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++) c[i * m + j] += a[l * n + i] * b[l * m + j];
}

void gram(int n, int k, const T *restrict x, T *restrict g) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      T s = 0;
      for (int l = 0; l < k; l++) s += x[l * n + i] * x[l * n + j];
      g[i * n + j] = s;
    }
}

void linear_relu(int batch, int in, int out, const T *restrict x, const T *restrict w, const T *restrict bias,
                 T *restrict y) {
  for (int b = 0; b < batch; b++)
    for (int o = 0; o < out; o++) {
      T s = bias[o];
      for (int i = 0; i < in; i++) s += x[b * in + i] * w[o * in + i];
      y[b * out + o] = s > 0 ? s : 0;
    }
}

void batched(int batch, int n, const T *restrict a, const T *restrict b, T *restrict c) {
  for (int p = 0; p < batch; p++)
    for (int i = 0; i < n; i++)
      for (int l = 0; l < n; l++)
        for (int j = 0; j < n; j++) c[(p * n + i) * n + j] += a[(p * n + i) * n + l] * b[(p * n + l) * n + j];
}

void distances(int n, int centers, int dims, const T *restrict x, const T *restrict m, T *restrict d) {
  for (int i = 0; i < n; i++)
    for (int c = 0; c < centers; c++) {
      T s = 0;
      for (int k = 0; k < dims; k++) s += (x[i * dims + k] - m[c * dims + k]) * (x[i * dims + k] - m[c * dims + k]);
      d[i * centers + c] = s;
    }
}

void shortest(int n, const T *restrict a, const T *restrict b, T *restrict c) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++) {
        T through = a[i * n + k] + b[k * n + j];
        c[i * n + j] = through < c[i * n + j] ? through : c[i * n + j];
      }
}

void times_vector(int n, int m, const T *restrict a, const T *restrict x, T *restrict y) {
  for (int i = 0; i < n; i++) {
    T s = 0;
    for (int j = 0; j < m; j++) s += a[i * m + j] * x[j];
    y[i] = s;
  }
}

void transposed_times_vector(int n, int m, const T *restrict a, const T *restrict x, T *restrict y) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) y[j] += a[i * m + j] * x[i];
}

void rank_one(int n, int m, T *restrict a, const T *restrict x, const T *restrict y) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) a[i * m + j] += x[i] * y[j];
}
