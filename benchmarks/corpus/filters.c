/* Convolutions, filters and resampling, as people write them. T: the element type. */
#ifndef T
#define T double
#endif

void fir(int n, int taps, const T *restrict x, const T *restrict h, T *restrict y) {
  for (int i = 0; i < n; i++) {
    T s = 0;
    for (int k = 0; k < taps; k++) s += x[i + k] * h[k];
    y[i] = s;
  }
}

void convolve(int rows, int columns, int size, const T *restrict in, const T *restrict w, T *restrict out) {
  for (int y = 0; y < rows; y++)
    for (int x = 0; x < columns; x++) {
      T s = 0;
      for (int v = 0; v < size; v++)
        for (int u = 0; u < size; u++) s += in[(y + v) * (columns + size) + x + u] * w[v * size + u];
      out[y * columns + x] = s;
    }
}

void convolve_channels(int outs, int ins, int rows, int columns, const T *restrict in, const T *restrict w,
                       T *restrict out) {
  for (int o = 0; o < outs; o++)
    for (int c = 0; c < ins; c++)
      for (int y = 0; y < rows; y++)
        for (int x = 0; x < columns; x++)
          for (int v = 0; v < 3; v++)
            for (int u = 0; u < 3; u++)
              out[(o * rows + y) * columns + x] +=
                  in[(c * (rows + 2) + y + v) * (columns + 2) + x + u] * w[((o * ins + c) * 3 + v) * 3 + u];
}

void blur_rows(int rows, int columns, const T *restrict in, T *restrict out) {
  for (int y = 0; y < rows; y++)
    for (int x = 2; x < columns - 2; x++)
      out[y * columns + x] = (in[y * columns + x - 2] + 4 * in[y * columns + x - 1] + 6 * in[y * columns + x] +
                              4 * in[y * columns + x + 1] + in[y * columns + x + 2]) * (T)0.0625;
}

void blur_columns(int rows, int columns, const T *restrict in, T *restrict out) {
  for (int x = 0; x < columns; x++)
    for (int y = 2; y < rows - 2; y++)
      out[y * columns + x] = (in[(y - 2) * columns + x] + 4 * in[(y - 1) * columns + x] + 6 * in[y * columns + x] +
                              4 * in[(y + 1) * columns + x] + in[(y + 2) * columns + x]) * (T)0.0625;
}

void halve(int rows, int columns, const T *restrict in, T *restrict out) {
  for (int y = 0; y < rows; y++)
    for (int x = 0; x < columns; x++)
      out[y * columns + x] = (in[4 * y * columns + 2 * x] + in[4 * y * columns + 2 * x + 1] +
                              in[(4 * y + 2) * columns + 2 * x] + in[(4 * y + 2) * columns + 2 * x + 1]) * (T)0.25;
}

void smooth_rows(int rows, int columns, T *restrict a) {
  for (int y = 0; y < rows; y++)
    for (int x = 1; x < columns; x++) a[y * columns + x] = (T)0.7 * a[y * columns + x] + (T)0.3 * a[y * columns + x - 1];
}

void smooth_columns(int rows, int columns, T *restrict a) {
  for (int x = 0; x < columns; x++)
    for (int y = 1; y < rows; y++) a[y * columns + x] = (T)0.7 * a[y * columns + x] + (T)0.3 * a[(y - 1) * columns + x];
}

void sums_of_rows(int rows, int columns, T *restrict a) {
  for (int y = 0; y < rows; y++)
    for (int x = 1; x < columns; x++) a[y * columns + x] += a[y * columns + x - 1];
}
