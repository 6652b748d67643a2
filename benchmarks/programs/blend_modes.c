// Two layers of a picture put over each other; how is asked for each pixel.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum mode { NORMAL, MULTIPLY, SCREEN, DARKEN, LIGHTEN };

void blend(int count, const uint8_t *restrict mode, const uint8_t *restrict top, uint8_t *restrict bottom) {
  for (int i = 0; i < count; i++) {
    int a = top[i], b = bottom[i], r;
    switch (mode[i]) {
      case MULTIPLY:
        r = a * b / 255;
        break;
      case SCREEN:
        r = 255 - (255 - a) * (255 - b) / 255;
        break;
      case DARKEN:
        r = a < b ? a : b;
        break;
      case LIGHTEN:
        r = a > b ? a : b;
        break;
      case NORMAL:
      default:
        r = a;
    }
    bottom[i] = r;
  }
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 20000000;
  uint8_t *mode = malloc(n), *top = malloc(n), *bottom = malloc(n);
  for (int i = 0; i < n; i++) mode[i] = i / 5 % 6, top[i] = i * 7, bottom[i] = i * 13 / 3;
  blend(n, mode, top, bottom);
  unsigned long sum = 0;
  for (int i = 0; i < n; i++) sum = sum * 31 + bottom[i];
  printf("%lu\n", sum);
  free(mode), free(top), free(bottom);
  return 0;
}
