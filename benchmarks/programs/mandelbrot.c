// The Mandelbrot set, by the number of steps until a point escapes.
#include <stdio.h>
#include <stdlib.h>

void render(int width, int height, int limit, unsigned short *image) {
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      double cr = -2.2 + 3.2 * x / width, ci = -1.2 + 2.4 * y / height;
      double zr = 0, zi = 0;
      int steps = 0;
      while (steps < limit && zr * zr + zi * zi <= 4.0) {
        double t = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = t;
        steps++;
      }
      image[y * width + x] = steps;
    }
}

int main(int argc, char **argv) {
  int width = argc > 1 ? atoi(argv[1]) : 1600, height = width * 3 / 4;
  unsigned short *image = malloc(sizeof *image * width * height);
  render(width, height, 400, image);
  unsigned long sum = 0;
  for (int k = 0; k < width * height; k++) sum = sum * 31 + image[k];
  printf("%lu\n", sum);
  free(image);
  return 0;
}
