// Layer normalization, forward and backward, of tokens that are rows of one flat array.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct layer_norm {
  int width;
  float *gain, *shift;
  float *gain_gradient, *shift_gradient;
};

static void forward(const struct layer_norm *l, int tokens, const float *x, float *y, float *means, float *scales) {
  for (int t = 0; t < tokens; t++) {
    const float *row = x + t * l->width;
    float mean = 0, variance = 0;
    for (int i = 0; i < l->width; i++) mean += row[i];
    mean /= l->width;
    for (int i = 0; i < l->width; i++) {
      float d = row[i] - mean;
      variance += d * d;
    }
    float scale = 1.0f / sqrtf(variance / l->width + 1e-5f);
    for (int i = 0; i < l->width; i++) y[t * l->width + i] = (row[i] - mean) * scale * l->gain[i] + l->shift[i];
    means[t] = mean;
    scales[t] = scale;
  }
}

static void backward(struct layer_norm *l, int tokens, const float *x, const float *dy, const float *means,
                     const float *scales, float *dx) {
  int width = l->width;
  for (int t = 0; t < tokens; t++) {
    const float *row = x + t * width, *slope = dy + t * width;
    float sum = 0, dot = 0;
    for (int i = 0; i < width; i++) {
      float normal = (row[i] - means[t]) * scales[t];
      float d = slope[i] * l->gain[i];
      sum += d;
      dot += d * normal;
      l->gain_gradient[i] += slope[i] * normal;
      l->shift_gradient[i] += slope[i];
    }
    for (int i = 0; i < width; i++) {
      float normal = (row[i] - means[t]) * scales[t];
      dx[t * width + i] = (slope[i] * l->gain[i] - sum / width - normal * dot / width) * scales[t];
    }
  }
}

int main(int argc, char **argv) {
  int tokens = argc > 1 ? atoi(argv[1]) : 60000, width = 768;
  struct layer_norm l = {width, malloc(width * sizeof(float)), malloc(width * sizeof(float)),
                         calloc(width, sizeof(float)), calloc(width, sizeof(float))};
  float *x = malloc(sizeof(float) * tokens * width), *y = malloc(sizeof(float) * tokens * width),
        *means = malloc(sizeof(float) * tokens), *scales = malloc(sizeof(float) * tokens);
  for (int i = 0; i < width; i++) {
    l.gain[i] = 1.0f + 0.01f * (i % 7);
    l.shift[i] = 0.1f * (i % 3);
  }
  for (int i = 0; i < tokens * width; i++) x[i] = (float)(i * 2654435761u >> 20) / 4096.0f - 0.3f;
  forward(&l, tokens, x, y, means, scales);
  double sum = 0;
  for (int i = 0; i < tokens * width; i += 5) sum += y[i];
  backward(&l, tokens, x, y, means, scales, x);
  double gains = 0, shifts = 0, slopes = 0;
  for (int i = 0; i < width; i++) {
    gains += l.gain_gradient[i];
    shifts += l.shift_gradient[i] * (i % 4);
  }
  for (int i = 0; i < tokens * width; i += 3) slopes += fabsf(x[i]);
  printf("%.12g %.12g %.12g %.12g\n", sum, gains, shifts, slopes);
  free(l.gain), free(l.shift), free(l.gain_gradient), free(l.shift_gradient);
  free(x), free(y), free(means), free(scales);
  return 0;
}
