// Blocks of a transformer without attention: layer norm, two linear layers of which one has no bias, GELU, residuals.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned state = 4711;

static float noise(void) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return (float)(state % 10000) / 10000 - 0.5f;
}

static void layer_norm(float *out, const float *in, const float *scale, const float *shift, int tokens, int width) {
  for (int t = 0; t < tokens; t++) {
    const float *x = in + t * width;
    float *y = out + t * width;
    float mean = 0, variance = 0;
    for (int i = 0; i < width; i++) mean += x[i];
    mean /= width;
    for (int i = 0; i < width; i++) variance += (x[i] - mean) * (x[i] - mean);
    float by = 1 / sqrtf(variance / width + 1e-5f);
    for (int i = 0; i < width; i++) y[i] = (x[i] - mean) * by * scale[i] + (shift ? shift[i] : 0);
  }
}

static void linear(float *out, const float *in, const float *weight, const float *bias, int tokens, int from, int to) {
  for (int t = 0; t < tokens; t++)
    for (int o = 0; o < to; o++) {
      float sum = bias != NULL ? bias[o] : 0.0f;
      for (int i = 0; i < from; i++) sum += in[t * from + i] * weight[o * from + i];
      out[t * to + o] = sum;
    }
}

static void gelu(float *x, int n) {
  for (int i = 0; i < n; i++) x[i] = 0.5f * x[i] * (1 + tanhf(0.79788456f * (x[i] + 0.044715f * x[i] * x[i] * x[i])));
}

static void pool(const float *x, int tokens, int width, int window, float *out) {
  for (int w = 0; w + window <= tokens; w += window) {
    float *y = out + w / window * width;
    memset(y, 0, width * sizeof *y);
    for (int t = w; t < w + window; t++)
      for (int i = 0; i < width; i++) y[i] += x[t * width + i];
  }
}

int main(int argc, char **argv) {
  int tokens = argc > 1 ? atoi(argv[1]) : 128, width = 3 * tokens, hidden = 4 * width, layers = 3;
  size_t size = (size_t)tokens * width, weights = (size_t)width * hidden;
  float *x = malloc(size * sizeof *x), *t = malloc(size * sizeof *t), *h = malloc(4 * size * sizeof *h);
  float *up = malloc(weights * sizeof *up), *down = malloc(weights * sizeof *down);
  float *scale = malloc(width * sizeof *scale), *bias = malloc(hidden * sizeof *bias);
  double sum = 0;
  for (size_t i = 0; i < size; i++) x[i] = noise();
  for (size_t i = 0; i < weights; i++) up[i] = noise() / 16, down[i] = noise() / 16;
  for (int i = 0; i < width; i++) scale[i] = 1 + noise() / 8;
  for (int i = 0; i < hidden; i++) bias[i] = noise() / 8;
  for (int l = 0; l < layers; l++) {
    layer_norm(t, x, scale, l ? bias : NULL, tokens, width);
    linear(h, t, up, bias, tokens, width, hidden);
    gelu(h, tokens * hidden);
    linear(t, h, down, NULL, tokens, hidden, width);
    for (size_t i = 0; i < size; i++) x[i] += t[i];
  }
  pool(x, tokens, width, 4, t);
  for (size_t i = 0; i < size / 4; i++) sum += fabsf(t[i]);
  printf("%.3f\n", sum);
  free(x), free(t), free(h), free(up), free(down), free(scale), free(bias);
  return 0;
}
