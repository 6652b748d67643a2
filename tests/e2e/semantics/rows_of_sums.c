// Rows as long as a sum of parameters, of any size; borders that a condition leaves out.
// paths: served *
// bordered: served *
// inner: served *
// padded: served OOOSSSS
// scored: served *
// also: parallelize bordered inner padded
#include "semantics.h"
NOINLINE void paths(int n, int m, int *t) {
  for (int i = 0; i <= n; i++)
    for (int j = 0; j <= m; j++)
      t[i * (m + 1) + j] = i == 0 || j == 0 ? i + j : t[(i - 1) * (m + 1) + j] * 3 - t[i * (m + 1) + j - 1];
}
NOINLINE void bordered(int h, int w, int r, int *restrict to, const int *restrict from, const int *restrict k) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      int s = 0;
      for (int v = -r; v <= r; v++)
        for (int u = -r; u <= r; u++) {
          int yy = y + v, xx = x + u;
          if (yy >= 0 && yy < h && xx >= 0 && xx < w) s += from[yy * w + xx] * k[(v + r) * (2 * r + 1) + u + r];
        }
      to[y * w + x] = s;
    }
}
NOINLINE void inner(int d, int h, int w, int *restrict to, const int *restrict from) {
  for (int k = 0; k < d; k++)
    for (int i = 0; i < h - 2; i++)
      for (int j = 0; j < w - 2; j++)
        to[(k * (h - 2) + i) * (w - 2) + j] = from[(k * h + i) * w + j] - 2 * from[(k * h + i + 2) * w + j + 2];
}
NOINLINE void padded(int h, int w, int pad, int *restrict to, const int *restrict from) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) to[y * w + x] = from[y * (w + pad) + x] + y;
}
NOINLINE int scored(int n, int m, int *restrict t, const int *restrict a, const int *restrict b) {
  int best = -9;
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= m; j++) {
      int here = t[(i - 1) * (m + 1) + j - 1] + (a[i - 1] == b[j - 1] ? 2 : -1), up = t[(i - 1) * (m + 1) + j] - 1,
          left = t[i * (m + 1) + j - 1] - 1;
      if (up > here) here = up;
      if (left > here) here = left;
      t[i * (m + 1) + j] = here;
      if (here > best) best = here;
    }
  return best;
}
int main(void) {
  static int from[900], to[900], k[100];
  for (int i = 0; i < 900; i++) from[i] = i * 7919 % 23;
  for (int i = 0; i < 100; i++) k[i] = i % 7 - 3;
  for (int n = 0; n < 5; n++)
    for (int m = 0; m < 9; m += n + 1) paths(n, m, to), print_ints("paths", to, (n + 1) * (m + 1));
  for (int r = 0; r < 4; r++)
    for (int h = 1; h < 8; h += 2)
      for (int w = 1; w < 8; w += 3) bordered(h, w, r, to, from, k), print_ints("bordered", to, h * w);
  for (int h = 2; h < 7; h++)
    for (int w = 2; w < 9; w += 2) inner(3, h, w, to, from), print_ints("inner", to, 3 * (h - 2) * (w - 2));
  for (int pad = -3; pad < 4; pad++) padded(6, 5, pad, to, from + 30), print_ints("padded", to, 30);
  for (int n = 0; n < 20; n += 3)
    for (int m = 0; m < 20; m += 4) {
      for (int i = 0; i < (n + 1) * (m + 1); i++) to[i] = 0;
      int best = scored(n, m, to, from, from + 17);
      print_ints("best", &best, 1), print_ints("scored", to, (n + 1) * (m + 1));
    }
}
