// A summed-area table by prefix sums of the rows and then of the columns, and with it the mean and the variance of the
// neighbourhood of each pixel, as adaptive thresholding wants them.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  int w, h;
  int64_t *sum, *squares;  // (w + 1) by (h + 1), the first row and column zero
} table;

static void prefix_rows(const uint8_t *pixels, table *t) {
  int stride = t->w + 1;
  for (int y = 0; y < t->h; y++) {
    int64_t s = 0, q = 0;
    for (int x = 0; x < t->w; x++) {
      int v = pixels[y * t->w + x];
      s += v;
      q += v * v;
      t->sum[(y + 1) * stride + x + 1] = s;
      t->squares[(y + 1) * stride + x + 1] = q;
    }
  }
}

static void prefix_columns(table *t) {
  int stride = t->w + 1;
  for (int x = 1; x <= t->w; x++)
    for (int y = 1; y <= t->h; y++) {
      t->sum[y * stride + x] += t->sum[(y - 1) * stride + x];
      t->squares[y * stride + x] += t->squares[(y - 1) * stride + x];
    }
}

static inline int64_t box(const int64_t *s, int stride, int x0, int y0, int x1, int y1) {
  return s[y1 * stride + x1] - s[y0 * stride + x1] - s[y1 * stride + x0] + s[y0 * stride + x0];
}

static void threshold(const uint8_t *pixels, const table *t, int radius, uint8_t *out) {
  int stride = t->w + 1;
  for (int y = 0; y < t->h; y++)
    for (int x = 0; x < t->w; x++) {
      int x0 = x > radius ? x - radius : 0, x1 = x + radius < t->w ? x + radius : t->w;
      int y0 = y > radius ? y - radius : 0, y1 = y + radius < t->h ? y + radius : t->h;
      int64_t count = (int64_t)(x1 - x0) * (y1 - y0);
      int64_t s = box(t->sum, stride, x0, y0, x1, y1), q = box(t->squares, stride, x0, y0, x1, y1);
      int64_t mean = s / count, variance = q / count - mean * mean;
      int64_t limit = mean - variance / 256;
      out[y * t->w + x] = pixels[y * t->w + x] > limit ? 255 : 0;
    }
}

int main(int argc, char **argv) {
  int w = argc > 1 ? atoi(argv[1]) : 3800, h = w * 3 / 4;
  uint8_t *pixels = malloc((size_t)w * h), *out = malloc((size_t)w * h);
  table t = {w, h, calloc((size_t)(w + 1) * (h + 1), sizeof(int64_t)),
             calloc((size_t)(w + 1) * (h + 1), sizeof(int64_t))};
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) pixels[y * w + x] = (uint8_t)((x * x / 64 + y * 3 + (x ^ y)) & 255);
  prefix_rows(pixels, &t);
  prefix_columns(&t);
  threshold(pixels, &t, 12, out);
  long white = 0, mix = 0;
  for (int i = 0; i < w * h; i++) {
    white += out[i] == 255;
    mix += out[i] * (i % 17);
  }
  printf("%ld %ld %lld %lld\n", white, mix, (long long)t.sum[(w + 1) * h + w], (long long)t.squares[(w + 1) * h + w]);
  free(pixels), free(out), free(t.sum), free(t.squares);
  return 0;
}
