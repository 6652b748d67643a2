// Causal attention of several heads: queries, keys and values lie beside each other in one row per position.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned state = 815;

static float noise(void) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return (float)(state % 20000) / 10000 - 1;
}

static void attend(float *out, float *weights, const float *qkv, int batch, int length, int width, int heads) {
  int row = 3 * width, size = width / heads;
  float scale = 1 / sqrtf((float)size);
  for (int b = 0; b < batch; b++)
    for (int t = 0; t < length; t++)
      for (int h = 0; h < heads; h++) {
        const float *query = qkv + (b * length + t) * row + h * size;
        float *weight = weights + ((b * heads + h) * length + t) * length;
        float *to = out + (b * length + t) * width + h * size;
        float largest = -1e30f, sum = 0;
        for (int s = 0; s <= t; s++) {
          const float *key = qkv + (b * length + s) * row + width + h * size;
          float dot = 0;
          for (int i = 0; i < size; i++) dot += query[i] * key[i];
          dot *= scale;
          if (dot > largest) largest = dot;
          weight[s] = dot;
        }
        for (int s = 0; s <= t; s++) {
          weight[s] = expf(weight[s] - largest);
          sum += weight[s];
        }
        for (int s = 0; s < length; s++) weight[s] = s <= t ? weight[s] / sum : 0;
        for (int i = 0; i < size; i++) to[i] = 0;
        for (int s = 0; s <= t; s++) {
          const float *value = qkv + (b * length + s) * row + 2 * width + h * size;
          for (int i = 0; i < size; i++) to[i] += weight[s] * value[i];
        }
      }
}

int main(int argc, char **argv) {
  int length = argc > 1 ? atoi(argv[1]) : 128, batch = 2, heads = 4, width = 192;
  size_t positions = (size_t)batch * length;
  float *qkv = malloc(positions * 3 * width * sizeof *qkv), *out = malloc(positions * width * sizeof *out);
  float *weights = malloc(positions * heads * length * sizeof *weights);
  for (size_t i = 0; i < positions * 3 * width; i++) qkv[i] = noise();
  attend(out, weights, qkv, batch, length, width, heads);
  double sum = 0;
  for (size_t i = 0; i < positions * width; i++) sum += fabsf(out[i]);
  printf("%.3f\n", sum);
  free(qkv), free(out), free(weights);
  return 0;
}
