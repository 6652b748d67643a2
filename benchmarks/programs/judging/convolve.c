// A picture convolved with a kernel of any odd size, colour by colour; pixels beyond the border repeat the border's.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  int width, height;
  float *data;  // three planes, one after the other
} picture;

static picture new_picture(int width, int height) {
  picture p = {width, height, malloc(sizeof(float) * 3 * width * height)};
  if (p.data == NULL) exit(1);
  return p;
}

static int clamp(int v, int low, int high) { return v < low ? low : v > high ? high : v; }

/* A Gaussian that adds up to one. */
static void gaussian(int radius, float *kernel) {
  int side = 2 * radius + 1;
  float total = 0;
  for (int y = -radius; y <= radius; y++)
    for (int x = -radius; x <= radius; x++) {
      float v = expf(-(float)(x * x + y * y) / (0.5f * radius * radius));
      kernel[(y + radius) * side + x + radius] = v;
      total += v;
    }
  for (int i = 0; i < side * side; i++) kernel[i] /= total;
}

/* Copies a plane into one that is larger by the radius on every side. */
static void pad(const float *plane, int width, int height, int radius, float *padded) {
  int stride = width + 2 * radius;
  for (int y = 0; y < height + 2 * radius; y++)
    for (int x = 0; x < stride; x++)
      padded[y * stride + x] = plane[clamp(y - radius, 0, height - 1) * width + clamp(x - radius, 0, width - 1)];
}

static void convolve(const float *padded, const float *kernel, int radius, int width, int height, float *out) {
  int side = 2 * radius + 1, stride = width + 2 * radius;
  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++) {
      float sum = 0;
      for (int ky = 0; ky < side; ky++)
        for (int kx = 0; kx < side; kx++) sum += kernel[ky * side + kx] * padded[(y + ky) * stride + x + kx];
      out[y * width + x] = sum;
    }
  }
}

int main(int argc, char **argv) {
  int width = argc > 1 ? atoi(argv[1]) : 1600, height = width * 2 / 3, radius = 5;
  picture in = new_picture(width, height), out = new_picture(width, height);
  float kernel[11 * 11];
  float *padded = malloc(sizeof(float) * (width + 2 * radius) * (height + 2 * radius));
  for (int i = 0; i < 3 * width * height; i++) in.data[i] = (float)((i * 37 + i / 91) % 256) / 255;
  gaussian(radius, kernel);
  for (int c = 0; c < 3; c++) {
    pad(in.data + c * width * height, width, height, radius, padded);
    convolve(padded, kernel, radius, width, height, out.data + c * width * height);
  }
  double sum = 0, edges = 0;
  for (int i = 0; i < 3 * width * height; i++) {
    sum += out.data[i];
    edges += fabs(in.data[i] - out.data[i]) * (i % 7 + 1);
  }
  printf("%.12g %.12g %.9g\n", sum, edges, out.data[width * height / 2]);
  free(in.data);
  free(out.data);
  free(padded);
  return 0;
}
