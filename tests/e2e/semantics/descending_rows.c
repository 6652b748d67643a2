// Rows and planes at descending addresses, as malloc gives large ones; two tables whose rows lie in turns.
// add: served OSSSOSSSOSSSOSSSOSSSOSSSOSSSOOOOOOOOOSOOOSOOOSOOOOOOOSOOOSOOOSSSOO
// smooth: served OOOSSSSS
// row_sums: served OSSSSSSSSO
// invert: served SSSOO
// stream: served OSSSOOSSOSSSOOSSOSSSOOSSOSSSOOSSOOOOOOSOOSOOOOSS
// reflect: served OSSSSSOO
// also: vectorize add row_sums; parallelize add stream; tile add; inner row_sums; lanes row_sums
#include "semantics.h"
NOINLINE void add(int n, int m, double **a, const double *const *b) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) a[i][j] += 2 * b[i][j] + i;
}
NOINLINE void smooth(int n, int m, float **a) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m; j++) a[i][j] = a[i - 1][j] + a[i + 1][j - 1] * 0.5f - a[i][j - 1];
}
NOINLINE void row_sums(int n, int m, const int *const *a, int *restrict sum) {
  for (int i = 0; i < n; i++) {
    sum[i] = 0;
    for (int j = 0; j < m; j++) sum[i] += a[i][j] * (j + 1);
  }
}
// The rows may be the table itself.
NOINLINE void invert(int n, int m, unsigned char **p) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) p[i][j] = 255 - p[i][j];
}
NOINLINE void stream(int planes, int h, int w, double **f, double **g) {
  for (int y = 1; y < h - 1; y++)
    for (int x = 0; x < w; x++)
      for (int q = 0; q < planes; q++) g[q][y * w + x] = f[q][(y - 1) * w + x] * 0.5 + f[q][(y + 1) * w + x];
}
NOINLINE void reflect(int n, float **a, const float *const *b) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) a[i][j] -= b[j][i];
}
#define ROWS(t, first, by) \
  for (int row = 0; row < 7; row++) (t)[row] = (first) + row * (by)
static double memory[600];
static void add_all(const char *name, long from_a, long by_a, long from_b, long by_b, int m) {
  double *a[7];
  const double *b[7];
  ROWS(a, memory + from_a, by_a);
  ROWS(b, memory + from_b, by_b);
  add(0, m, a, b), add(1, m, a, b), add(2, m, a, b), add(7, m, a, b);
  print_doubles(name, memory, 600);
}
static void stream_all(const char *name, long by_f, long from_g, long by_g) {
  double *f[7], *g[7];
  ROWS(f, memory + (by_f < 0 ? 360 : 0), by_f);
  ROWS(g, memory + from_g, by_g);
  for (int planes = 0; planes < 8; planes += planes ? 3 : 1) stream(planes, 5, 4, f, g);
  stream(7, 2, 4, f, g), stream(7, 5, 0, f, g), stream(7, 3, 1, f, g), stream(1, 20, 1, f, g);
  print_doubles(name, memory, 600);
}
int main(void) {
  for (int i = 0; i < 600; i++) memory[i] = i * 37 % 101 * 0.5 - 20;
  add_all("down, down", 60, -10, 260, -20, 8), add_all("down, up", 60, -10, 80, 11, 9);
  add_all("up, down", 0, 10, 200, -12, 10), add_all("in turns, down", 300, -20, 310, -20, 10);
  add_all("in turns, up", 0, 20, 10, 20, 10), add_all("other order", 310, -20, 300, -20, 10);
  add_all("in turns, both ways", 120, -20, 10, 20, 10), add_all("one too long", 300, -20, 310, -20, 11);
  add_all("one too early", 300, -20, 309, -20, 10), add_all("one too late", 300, -20, 311, -20, 10);
  add_all("closer than rows", 300, -9, 500, -20, 10), add_all("other distances", 300, -20, 310, -21, 10);
  add_all("the same", 300, -20, 300, -20, 10), add_all("a row apart", 300, -20, 280, -20, 20);
  add_all("not at all", 300, 0, 500, -20, 10), add_all("narrow", 300, -1, 500, -3, 1);
  double *a[7] = {memory + 60, memory + 50, memory + 40, memory + 30, memory + 20, memory + 9, memory};
  add(5, 10, a, (const double *const *)a), add(6, 9, a, (const double *const *)(a + 1)), print_doubles("bent", memory, 80);

  // The lowest row begins where memory does, the highest one ends there.
  float *block = fenced(1), *last = block + PAGE / sizeof *block, **t = before_fence(7 * sizeof *t);
  for (int i = 0; i < (int)(PAGE / sizeof *block); i++) block[i] = i % 23;
  ROWS(t, last - 16, -168);
  for (int n = 0; n < 8; n++) smooth(n, 16, t), print_floats("smooth", block, 16);
  print_floats("smooth", block, PAGE / sizeof *block);

  int *ints = (int *)block, sum[7];
  const int *rows[7];
  for (int i = 0; i < (int)(PAGE / sizeof *ints); i++) ints[i] = i % 41 - 20;
  ROWS(rows, ints + 6 * 13, -13);
  for (int n = 0; n < 8; n++) row_sums(n, 13, rows, sum), print_ints("row_sums", sum, n);
  ROWS(rows, ints + PAGE / sizeof *ints - 65, -155);
  row_sums(7, 65, rows, sum), print_ints("row_sums", sum, 7);
  rows[3]--;
  row_sums(7, 65, rows, sum), print_ints("row_sums", sum, 7);

  static struct {
    _Alignas(256) unsigned char bytes[256];
    unsigned char *p[8];
  } own;
  for (int i = 0; i < 256; i++) own.bytes[i] = i;
  for (int i = 0; i < 8; i++) own.p[i] = own.bytes + 200 - 8 * i;
  invert(8, 8, own.p), invert(3, 5, own.p), invert(1, 7, own.p), invert(0, 3, 0);
  print_bytes("invert", own.bytes, 256);
  own.p[0] = (unsigned char *)&own.p[1];  // the first row turns the pointer to the second one
  own.p[1] = own.bytes + 3;
  invert(2, 1, own.p);
  print_bytes("rest", own.bytes, 256);

  stream_all("planes down", -60, 580, -30), stream_all("in turns", -60, 390, -60), stream_all("up", 60, 30, 60);
  stream_all("by turns", -60, 381, -60), stream_all("overlapping", -60, 375, -60), stream_all("too close", -15, 400, 20);

  static float x[63], y[63];
  for (int i = 0; i < 63; i++) x[i] = i, y[i] = i * i % 19;
  float *to[7];
  const float *from[7];
  ROWS(to, x + 54, -9);
  ROWS(from, y + 42, -7);
  for (int n = 0; n < 6; n++) reflect(n, to, from), print_floats("reflect", x, 63);
  ROWS(from, x + 54, -9);
  reflect(6, to, from), reflect(7, to, from);
  print_floats("reflect", x, 63);
}
