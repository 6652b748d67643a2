// One head of self-attention: each position looks at those before it and at itself.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void project(int length, int width, int depth, float x[length][width], float w[width][depth],
                    float y[length][depth]) {
  for (int i = 0; i < length; i++)
    for (int d = 0; d < depth; d++) {
      float sum = 0;
      for (int k = 0; k < width; k++) sum += x[i][k] * w[k][d];
      y[i][d] = sum;
    }
}

static void attend(int length, int depth, float q[length][depth], float k[length][depth], float v[length][depth],
                   float scores[length][length], float out[length][depth]) {
  float scale = 1.0f / sqrtf((float)depth);
  for (int i = 0; i < length; i++) {
    for (int j = 0; j <= i; j++) {
      float dot = 0;
      for (int d = 0; d < depth; d++) dot += q[i][d] * k[j][d];
      scores[i][j] = dot * scale;
    }
    float largest = scores[i][0], total = 0;
    for (int j = 1; j <= i; j++) largest = fmaxf(largest, scores[i][j]);
    for (int j = 0; j <= i; j++) {
      scores[i][j] = expf(scores[i][j] - largest);
      total += scores[i][j];
    }
    for (int d = 0; d < depth; d++) out[i][d] = 0;
    for (int j = 0; j <= i; j++) {
      float share = scores[i][j] / total;
      for (int d = 0; d < depth; d++) out[i][d] += share * v[j][d];
    }
  }
}

static void fill(int rows, int columns, float m[rows][columns], int salt) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) m[i][j] = (float)((i * 13 + j * 7 + salt) % 29) / 29 - 0.5f;
}

int main(int argc, char **argv) {
  int length = argc > 1 ? atoi(argv[1]) : 4000, width = 128, depth = 64;
  float(*x)[width] = malloc(sizeof(float) * length * width);
  float(*w)[depth] = malloc(sizeof(float) * width * depth);
  float(*q)[depth] = malloc(sizeof(float) * length * depth), (*k)[depth] = malloc(sizeof(float) * length * depth);
  float(*v)[depth] = malloc(sizeof(float) * length * depth), (*out)[depth] = malloc(sizeof(float) * length * depth);
  float(*scores)[length] = malloc(sizeof(float) * length * length);
  fill(length, width, x, 1);
  fill(width, depth, w, 2);
  project(length, width, depth, x, w, q);
  fill(width, depth, w, 5);
  project(length, width, depth, x, w, k);
  fill(width, depth, w, 11);
  project(length, width, depth, x, w, v);
  attend(length, depth, q, k, v, scores, out);
  double sum = 0, weighted = 0;
  for (int i = 0; i < length; i++)
    for (int d = 0; d < depth; d++) {
      sum += fabsf(out[i][d]);
      weighted += out[i][d] * (d % 5 - 2) * (i % 3 + 1);
    }
  printf("%.12g %.12g %.9g\n", sum, weighted, out[length - 1][0]);
  free(x), free(w), free(q), free(k), free(v), free(out), free(scores);
  return 0;
}
