// Tables whose pointers lead to planes: apart, beside each other, in descending order, with gaps, and overlapping ones.
// relax: served SSSSSSSSSSSSSOSOO
// sums: served *
// also: parallelize relax sums
#include "semantics.h"
static double *f[5];
NOINLINE void relax(int planes, int h, int w, double omega, const unsigned char *restrict solid) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      if (solid[y * w + x]) continue;
      double sum = 0;
      for (int q = 0; q < planes; q++) sum += f[q][y * w + x];
      for (int q = 0; q < planes; q++) f[q][y * w + x] += omega * (sum - f[q][y * w + x]);
    }
}
NOINLINE void sums(int h, int w, float **restrict from, float *restrict to) {
  for (int y = 1; y < h - 1; y++)
    for (int x = 0; x < w; x++) {
      float s = 0;
      for (int c = 0; c < 3; c++) s += from[c][(y - 1) * w + x] - from[c][(y + 1) * w + x] * (c + 1);
      to[y * w + x] = s;
    }
}
static void run(const char *name, int planes, int h, int w, double *first, long apart) {
  static unsigned char solid[200];
  for (int i = 0; i < 200; i++) solid[i] = i % 7 == 3;
  for (int q = 0; q < 5; q++) f[q] = first + q * apart;
  relax(planes, h, w, 0.3, solid);
  double *low = apart < 0 ? f[4] : f[0];
  long all = 4 * (apart < 0 ? -apart : apart) + h * w;
  print_doubles(name, low, all);
}
int main(void) {
  static double memory[1200];
  for (int i = 0; i < 1200; i++) memory[i] = i * 37 % 101 * 0.5;
  run("none", 5, 0, 4, memory, 20), run("thin", 5, 4, 0, memory, 20);
  for (int planes = 1; planes < 6; planes++) run("beside", planes, 4, 7, memory, 28);
  run("gaps", 5, 4, 7, memory, 31), run("gaps", 5, 1, 9, memory, 12), run("gaps", 2, 9, 1, memory, 200);
  run("descending", 5, 4, 7, memory + 800, -28), run("descending", 3, 5, 5, memory + 800, -33);
  run("one row", 5, 1, 20, memory, 20), run("overlapping", 5, 4, 7, memory, 27);
  run("one", 1, 4, 7, memory, 3), run("the same", 3, 4, 7, memory, 0), run("one further", 5, 3, 3, memory, 1);
  static float picture[3][120], to[120];
  for (int i = 0; i < 360; i++) picture[0][i] = i * 29 % 31 * 0.25f;
  float *rows[3] = {picture[0], picture[1], picture[2]};
  for (int h = 3; h < 9; h++)
    for (int w = 1; w < 13; w += 3) sums(h, w, rows, to), print_floats("sums", to, h * w);
}
