// Layers of grouped convolutions over planes, with zeros around them and with steps, then the larger of value and zero.
#include <stdio.h>
#include <stdlib.h>

struct planes {
  int batch, count, height, width;
  float *data;
};

static struct planes planes(int batch, int count, int height, int width) {
  struct planes p = {batch, count, height, width, malloc(sizeof(float) * batch * count * height * width)};
  return p;
}

static void convolve(const struct planes *in, struct planes *out, const float *weights, const float *bias, int groups,
                     int kernel, int step, int border) {
  int from = in->count / groups, to = out->count / groups;
  for (int b = 0; b < in->batch; b++)
    for (int g = 0; g < groups; g++)
      for (int o = 0; o < to; o++)
        for (int y = 0; y < out->height; y++)
          for (int x = 0; x < out->width; x++) {
            float sum = bias[g * to + o];
            for (int i = 0; i < from; i++)
              for (int ky = 0; ky < kernel; ky++)
                for (int kx = 0; kx < kernel; kx++) {
                  int iy = y * step + ky - border, ix = x * step + kx - border;
                  if (iy < 0 || iy >= in->height || ix < 0 || ix >= in->width) continue;
                  sum += weights[(((g * to + o) * from + i) * kernel + ky) * kernel + kx] *
                         in->data[((b * in->count + g * from + i) * in->height + iy) * in->width + ix];
                }
            out->data[((b * out->count + g * to + o) * out->height + y) * out->width + x] = sum > 0 ? sum : 0;
          }
}

int main(int argc, char **argv) {
  int size = argc > 1 ? atoi(argv[1]) : 32, batch = 2, count = 32;
  struct planes a = planes(batch, count, size, size), b = planes(batch, count, size, size),
                c = planes(batch, 2 * count, size / 2, size / 2);
  float *weights = malloc(sizeof(float) * 2 * count * count * 9), *bias = malloc(sizeof(float) * 2 * count);
  for (int i = 0; i < batch * count * size * size; i++) a.data[i] = i * 131 % 1009 * 0.001f - 0.5f;
  for (int i = 0; i < 2 * count * count * 9; i++) weights[i] = i * 37 % 211 * 0.001f - 0.1f;
  for (int i = 0; i < 2 * count; i++) bias[i] = 0.01f * i;
  convolve(&a, &b, weights, bias, 4, 3, 1, 1);
  convolve(&b, &c, weights, bias, 2, 3, 2, 1);
  double sum = 0;
  for (int i = 0; i < batch * 2 * count * (size / 2) * (size / 2); i++) sum += c.data[i];
  printf("%.3f\n", sum);
  free(a.data), free(b.data), free(c.data), free(weights), free(bias);
  return 0;
}
