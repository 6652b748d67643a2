// Conway's Life on a torus.
#include <stdio.h>
#include <stdlib.h>

enum { H = 96, W = 128 };
static unsigned char now[H][W], next[H][W];

void generation(void) {
  for (int i = 0; i < H; i++)
    for (int j = 0; j < W; j++) {
      int up = (i + H - 1) % H, down = (i + 1) % H, left = (j + W - 1) % W, right = (j + 1) % W;
      int n = now[up][left] + now[up][j] + now[up][right] + now[i][left] + now[i][right] + now[down][left] +
              now[down][j] + now[down][right];
      if (n == 3 || (n == 2 && now[i][j]))
        next[i][j] = 1;
      else
        next[i][j] = 0;
    }
  for (int i = 0; i < H; i++)
    for (int j = 0; j < W; j++) now[i][j] = next[i][j];
}

int main(int argc, char **argv) {
  int generations = argc > 1 ? atoi(argv[1]) : 4000;
  unsigned state = 1;
  for (int i = 0; i < H; i++)
    for (int j = 0; j < W; j++) {
      state = state * 1103515245u + 12345u;
      now[i][j] = state >> 30 == 0;
    }
  for (int g = 0; g < generations; g++) generation();
  unsigned long sum = 0;
  for (int i = 0; i < H; i++)
    for (int j = 0; j < W; j++) sum = sum * 3 + now[i][j];
  printf("%lu\n", sum);
  return 0;
}
