// A picture scaled by bilinear interpolation, and sharpened; at its borders the outermost pixels go on.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int within(int k, int n) { return k < 0 ? 0 : k >= n ? n - 1 : k; }

void sharpen(int h, int w, const float *restrict in, float *restrict out) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      int up = y - 1 < 0 ? 0 : y - 1, down = y + 1 >= h ? h - 1 : y + 1;
      int left = x - 1 < 0 ? 0 : x - 1, right = x + 1 >= w ? w - 1 : x + 1;
      out[y * w + x] = 5 * in[y * w + x] - in[up * w + x] - in[down * w + x] - in[y * w + left] - in[y * w + right];
    }
}

void scale(int h, int w, const float *restrict in, int oh, int ow, float *restrict out) {
  for (int y = 0; y < oh; y++)
    for (int x = 0; x < ow; x++) {
      float fy = (y + 0.5f) * h / oh - 0.5f, fx = (x + 0.5f) * w / ow - 0.5f;
      int y0 = (int)floorf(fy), x0 = (int)floorf(fx);
      float dy = fy - y0, dx = fx - x0;
      int ya = within(y0, h), yb = within(y0 + 1, h), xa = within(x0, w), xb = within(x0 + 1, w);
      float top = in[ya * w + xa] * (1 - dx) + in[ya * w + xb] * dx;
      float bottom = in[yb * w + xa] * (1 - dx) + in[yb * w + xb] * dx;
      out[y * ow + x] = top * (1 - dy) + bottom * dy;
    }
}

int main(int argc, char **argv) {
  int w = argc > 1 ? atoi(argv[1]) : 1200, h = w * 2 / 3, ow = w * 3 / 2, oh = h * 3 / 2;
  float *in = malloc(sizeof *in * w * h), *sharp = malloc(sizeof *in * w * h), *out = malloc(sizeof *in * ow * oh);
  for (int k = 0; k < w * h; k++) in[k] = k * 37 % 251;
  sharpen(h, w, in, sharp);
  scale(h, w, sharp, oh, ow, out);
  double sum = 0;
  for (int k = 0; k < ow * oh; k++) sum += out[k] * (k % 7 + 1);
  printf("%.9g\n", sum);
  free(in), free(sharp), free(out);
  return 0;
}
