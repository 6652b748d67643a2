// Separable Gaussian blur of an image whose rows are reached by pointers into one block.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { RADIUS = 4 };

static float **image(int height, int width) {
  float **rows = malloc(height * sizeof *rows);
  float *block = malloc((size_t)height * width * sizeof *block);
  for (int y = 0; y < height; y++) rows[y] = block + (size_t)y * width;
  return rows;
}

void blur_rows(float **in, float **out, int height, int width, const float *weight) {
  for (int y = 0; y < height; y++)
    for (int x = RADIUS; x < width - RADIUS; x++) {
      float sum = 0;
      for (int k = -RADIUS; k <= RADIUS; k++) sum += weight[k + RADIUS] * in[y][x + k];
      out[y][x] = sum;
    }
}

void blur_columns(float **in, float **out, int height, int width, const float *weight) {
  for (int y = RADIUS; y < height - RADIUS; y++)
    for (int x = 0; x < width; x++) {
      float sum = 0;
      for (int k = 0; k < 2 * RADIUS + 1; k++) sum += weight[k] * in[y + k - RADIUS][x];
      out[y][x] = sum;
    }
}

int main(int argc, char **argv) {
  int width = argc > 1 ? atoi(argv[1]) : 3000, height = width * 2 / 3;
  float weight[2 * RADIUS + 1], total = 0;
  for (int k = 0; k <= 2 * RADIUS; k++) total += weight[k] = expf(-0.1f * (k - RADIUS) * (k - RADIUS));
  for (int k = 0; k <= 2 * RADIUS; k++) weight[k] /= total;
  float **a = image(height, width), **b = image(height, width);
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) a[y][x] = b[y][x] = (float)((x * 31 + y * 17) % 256);
  for (int pass = 0; pass < 3; pass++) {
    blur_rows(a, b, height, width, weight);
    blur_columns(b, a, height, width, weight);
  }
  double sum = 0;
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) sum += a[y][x];
  printf("%.9g %.9g\n", sum, a[height / 2][width / 2]);
  return 0;
}
