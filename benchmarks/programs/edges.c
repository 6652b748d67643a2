// Edge detection: Gaussian 5x5, Sobel, magnitude, non-maximum suppression on a grey picture with fixed size.
#include <stdio.h>
#include <stdlib.h>
#define W 1280
#define H 960
static unsigned char pic[H][W];
static short smooth[H][W];
static short gx[H][W], gy[H][W];
static int mag[H][W];
static unsigned char edge[H][W];
static const int k5[5][5] = {{2, 4, 5, 4, 2}, {4, 9, 12, 9, 4}, {5, 12, 15, 12, 5}, {4, 9, 12, 9, 4}, {2, 4, 5, 4, 2}};

static void blur(void) {
  for (int y = 2; y < H - 2; y++)
    for (int x = 2; x < W - 2; x++) {
      int s = 0;
      for (int j = 0; j < 5; j++)
        for (int i = 0; i < 5; i++) s += k5[j][i] * pic[y + j - 2][x + i - 2];
      smooth[y][x] = s / 159;
    }
}
static void gradient(void) {
  for (int y = 1; y < H - 1; y++)
    for (int x = 1; x < W - 1; x++) {
      gx[y][x] = smooth[y - 1][x + 1] + 2 * smooth[y][x + 1] + smooth[y + 1][x + 1] - smooth[y - 1][x - 1] -
                 2 * smooth[y][x - 1] - smooth[y + 1][x - 1];
      gy[y][x] = smooth[y + 1][x - 1] + 2 * smooth[y + 1][x] + smooth[y + 1][x + 1] - smooth[y - 1][x - 1] -
                 2 * smooth[y - 1][x] - smooth[y - 1][x + 1];
      mag[y][x] = abs(gx[y][x]) + abs(gy[y][x]);
    }
}
static void thin(int threshold) {
  for (int y = 1; y < H - 1; y++)
    for (int x = 1; x < W - 1; x++) {
      int m = mag[y][x], a, b;
      if (m < threshold) {
        edge[y][x] = 0;
        continue;
      }
      if (abs(gx[y][x]) > 2 * abs(gy[y][x])) {
        a = mag[y][x - 1];
        b = mag[y][x + 1];
      } else if (abs(gy[y][x]) > 2 * abs(gx[y][x])) {
        a = mag[y - 1][x];
        b = mag[y + 1][x];
      } else if ((gx[y][x] ^ gy[y][x]) < 0) {
        a = mag[y - 1][x + 1];
        b = mag[y + 1][x - 1];
      } else {
        a = mag[y - 1][x - 1];
        b = mag[y + 1][x + 1];
      }
      edge[y][x] = m >= a && m > b ? 255 : 0;
    }
}
int main(int argc, char **argv) {
  int frames = argc > 1 ? atoi(argv[1]) : 40;
  unsigned check = 0;
  for (int f = 0; f < frames; f++) {
    for (int y = 0; y < H; y++)
      for (int x = 0; x < W; x++) pic[y][x] = ((x * 3 + f * 5) ^ (y * 7)) + (x * y >> 6);
    blur();
    gradient();
    thin(60 + f);
    for (int y = 0; y < H; y++)
      for (int x = 0; x < W; x++) check = check * 5 + edge[y][x];
  }
  printf("%u\n", check);
  return 0;
}
