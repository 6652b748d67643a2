// Images enlarged with cubic weights, three bytes a pixel; what lies outside repeats the border.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef unsigned char byte;

static float weight(float x) {
  x = fabsf(x);
  if (x < 1) return (1.5f * x - 2.5f) * x * x + 1;
  if (x < 2) return ((-0.5f * x + 2.5f) * x - 4) * x + 2;
  return 0;
}

static int clamp(int v, int most) { return v < 0 ? 0 : v > most ? most : v; }

static void enlarge(const byte *from, int width, int height, byte *to, int new_width, int new_height) {
  for (int y = 0; y < new_height; y++) {
    float sy = (y + 0.5f) * height / new_height - 0.5f;
    int top = (int)floorf(sy);
    for (int x = 0; x < new_width; x++) {
      float sx = (x + 0.5f) * width / new_width - 0.5f;
      int left = (int)floorf(sx);
      for (int c = 0; c < 3; c++) {
        float sum = 0, all = 0;
        for (int dy = -1; dy < 3; dy++)
          for (int dx = -1; dx < 3; dx++) {
            int row = clamp(top + dy, height - 1), column = clamp(left + dx, width - 1);
            float w = weight(sy - (top + dy)) * weight(sx - (left + dx));
            sum += w * from[(row * width + column) * 3 + c];
            all += w;
          }
        float v = sum / all + 0.5f;
        to[(y * new_width + x) * 3 + c] = v < 0 ? 0 : v > 255 ? 255 : (byte)v;
      }
    }
  }
}

int main(int argc, char **argv) {
  int width = argc > 1 ? atoi(argv[1]) : 200, height = width * 2 / 3;
  int new_width = width * 7 / 3, new_height = height * 9 / 4;
  byte *from = malloc((size_t)3 * width * height), *to = malloc((size_t)3 * new_width * new_height);
  for (int i = 0; i < 3 * width * height; i++) from[i] = (byte)(i * 31 + i / 77 * (i % 5));
  enlarge(from, width, height, to, new_width, new_height);
  unsigned sum = 0;
  for (int i = 0; i < 3 * new_width * new_height; i++) sum = sum * 31 + to[i];
  printf("%u\n", sum);
  free(from), free(to);
  return 0;
}
