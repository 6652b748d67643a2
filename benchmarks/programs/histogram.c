// Histogram of the grey values of a picture, and its equalization through a table.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct image {
  int width, height;
  uint8_t *pixels;
};

void histogram(const uint8_t *px, int count, unsigned bins[256]) {
  for (int i = 0; i < 256; i++) bins[i] = 0;
  for (int i = 0; i < count; i++) bins[px[i]]++;
}

void cumulate(const unsigned *bins, int count, uint8_t *table) {
  unsigned below = 0;
  for (int v = 0; v < 256; v++) {
    below += bins[v];
    table[v] = (uint8_t)(255.0 * below / count);
  }
}

void remap(struct image *im, const uint8_t *restrict table) {
  for (int y = 0; y < im->height; y++)
    for (int x = 0; x < im->width; x++)
      im->pixels[y * im->width + x] = table[im->pixels[y * im->width + x]];
}

int main(int argc, char **argv) {
  struct image im;
  im.width = argc > 1 ? atoi(argv[1]) : 6000;
  im.height = im.width * 3 / 4;
  int count = im.width * im.height;
  im.pixels = malloc(count);
  uint32_t state = 12345;
  for (int i = 0; i < count; i++) {
    state = state * 1664525u + 1013904223u;
    im.pixels[i] = (state >> 24) & (state >> 16);
  }
  unsigned bins[256];
  uint8_t table[256];
  histogram(im.pixels, count, bins);
  cumulate(bins, count, table);
  remap(&im, table);
  histogram(im.pixels, count, bins);
  unsigned long sum = 0;
  for (int v = 0; v < 256; v++) sum += (unsigned long)bins[v] * (v + 1);
  printf("%lu %u %u\n", sum, bins[0], bins[255]);
  free(im.pixels);
  return 0;
}
