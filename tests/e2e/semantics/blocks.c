// memset, memcpy and memmove of elements, tables of inner blocks, lists of values, pointers that may be null.
// cleared: served *
// windows: served *
// counted: served *
// bytes: served *
// shifted: served *
// backwards: c.call.unknown-effects
// edges: served *
// smooth: served *
// linear: served *
// twice: served *
// sorted: served *
// banded: served *
// drawn: served *
// also: parallelize edges smooth drawn
#include "semantics.h"
NOINLINE void cleared(int n, int m, const double *restrict a, double *restrict s) {
  for (int i = 0; i < n; i++) {
    memset(s + i * m, 0, m * sizeof *s);
    for (int k = 0; k < 4; k++)
      for (int j = 0; j < m; j++) s[i * m + j] += a[k * m + j] * (i + k);
  }
}
NOINLINE void windows(int n, const double *restrict x, double *restrict out) {
  for (int f = 0; f < n; f++) {
    double t[2][4], r[8];
    memset(t, 0, sizeof t);
    for (int k = 0; k < 8; k++) t[k / 4][k % 4] += x[f + k] * (k + 1);
    memcpy(r, t, sizeof r);
    memcpy(&out[f * 8], r, 5 * sizeof(double));
  }
}
NOINLINE void counted(int n, const uint8_t *px, int h[16][16]) {
  for (int b = 0; b < n; b++) {
    int local[16][16] = {0}, few[12] = {3, 0, b};
    for (int i = 0; i < 32; i++) local[px[b * 32 + i] >> 4][px[b * 32 + i] & 15]++;
    for (int i = 0; i < 16; i++)
      for (int j = 0; j < 16; j++) h[i][j] += local[i][j] + few[(i + j) % 12];
  }
}
NOINLINE void bytes(int n, int m, int *restrict a, signed char *restrict c, int v) {
  for (int i = 0; i < n; i++) {
    memset(a + i * m, 0xfe, m * sizeof(int));
    memset(c + i * m, v + i, m);
    for (int j = 0; j < m; j++) a[i * m + j] += c[i * m + j];
  }
}
NOINLINE void shifted(int n, int t, double *restrict line, const double *restrict in, double *restrict out) {
  for (int i = 0; i < n; i++) {
    memmove(line, line + 1, (t - 1) * sizeof *line);
    line[t - 1] = in[i];
    double s = 0;
    for (int k = 0; k < t; k++) s += line[k] * (k + 1);
    out[i] = s;
  }
}
NOINLINE void backwards(int n, int t, double *restrict line, const double *restrict in) {
  for (int i = 0; i < n; i++) {
    memmove(line + 1, line, (t - 1) * sizeof *line);
    line[0] = in[i];
  }
}
NOINLINE void edges(int h, int w, const int *restrict in, int *restrict out) {
  for (int y = 1; y < h - 1; y++)
    for (int x = 1; x < w - 1; x++) {
      static const int g[3][3] = {{-1, 0, 1}, {-2, 0, 2}, {-1, -2147483647 - 1, 1}};
      int s = 0;
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) s ^= g[i][j] * (in[(y + i - 1) * w + x + j - 1] & 1);
      out[y * w + x] = s;
    }
}
static double tap(int k) {
  static const double t[5] = {0.1, [2] = 0x1.fffffffffffffp+3, -0.0};
  const float u[5] = {0.1f, 1e-40f};
  return t[k] + u[4 - k];
}
NOINLINE void smooth(int n, const double *restrict a, double *restrict b) {
  for (int i = 2; i < n - 2; i++) {
    double s = 0;
    for (int k = 0; k < 5; k++) s += tap(k) * a[i + k - 2];
    b[i] = s;
  }
}
NOINLINE void linear(int n, int m, const double *w, const double *x, const double *bias, double *out) {
  for (int i = 0; i < n; i++) {
    double s = bias != NULL ? bias[i] : 0.5;
    for (int j = 0; j < m; j++) s += w[i * m + j] * x[j];
    if (!bias) s = -s;
    out[i] = s;
  }
}
static void row(int m, const double *x, const double *by, double *out) {
  for (int j = 0; j < m; j++) out[j] = by ? x[j] * by[j] : x[j] + out[j];
}
NOINLINE void twice(int n, int m, const double *restrict x, const double *restrict by, double *restrict out) {
  for (int i = 0; i < n; i++) {
    row(m, x + i * m, by, out + i * m);
    row(m, x + i * m, NULL, out + i * m);
  }
}
NOINLINE void sorted(int rows, int n, int (*restrict a)[16]) {
  for (int r = 0; r < rows; r++)
    for (int i = 1; i < n; i++) {
      int key = a[r][i], j;
      for (j = i - 1; j >= 0 && a[r][j] > key; j--) a[r][j + 1] = a[r][j];
      a[r][j + 1] = key;
    }
}
struct band {
  int n, wide;
  double *v;
};
static double *at(const struct band *b, int i, int j) { return &b->v[i * (2 * b->wide + 1) + (j - i + b->wide)]; }
NOINLINE void banded(const struct band *b) {
  for (int k = 0; k < b->n - b->wide; k++)
    for (int i = k + 1; i <= k + b->wide; i++)
      for (int j = k + 1; j <= k + b->wide; j++) *at(b, i, j) -= *at(b, i, k) * *at(b, k, j);
}
struct seed {
  unsigned at[2];
};
static unsigned next(struct seed *g) {
  unsigned t = g->at[0];
  g->at[0] = g->at[1];
  return g->at[1] = t * 1664525u + (g->at[0] ^ 1013904223u);
}
static int dice(struct seed *g) { return (int)(next(g) >> 8) % 6 + 1; }
NOINLINE void drawn(int n, int *out) {
  for (int i = 0; i < n; i++) {
    struct seed g = {{i + 1u, 7u}};
    next(&g);
    int s = 0;
    for (int k = 0; k < 5; k++) s = s * 6 + dice(&g);
    out[i] = s;
  }
}
int main(void) {
  enum { N = 12, M = 7 };
  double x[N * 8 + 16], y[N * 8], *edge = before_fence(M * sizeof(double));
  int a[N * 16], h[16][16] = {{0}}, s[6][16];
  signed char c[N * M];
  uint8_t px[N * 32];
  for (int i = 0; i < N * 8 + 16; i++) x[i] = i * 37 % 101 - 50.25;
  for (int i = 0; i < N * 8; i++) y[i] = i;
  for (int i = 0; i < N * 32; i++) px[i] = i * 73;
  for (int i = 0; i < 96; i++) s[i / 16][i % 16] = i * 29 % 23 - 9;
  for (int i = 0; i < M; i++) edge[i] = i + 0.125;
  for (int n = 0; n <= N; n += 4) {
    cleared(n, M, x, y), print_doubles("cleared", y, N * 8);
    windows(n, x, y), print_doubles("windows", y, N * 8);
    counted(n, px, h), print_ints("counted", h[0], 256);
    memset(a, 0, sizeof a), memset(c, 1, sizeof c);
    bytes(n, M, a, c, 125), print_ints("bytes", a, N * M), print_bytes("bytes", c, sizeof c);
    shifted(n, n + 1, y, x, y + 40), print_doubles("shifted", y, N * 8);
    backwards(n, n + 1, y, x), print_doubles("backwards", y, N * 8);
    smooth(n + 5, x, y), print_doubles("smooth", y, N * 8);
    linear(n < M ? n : M, M, x, x + 3, edge, y), print_doubles("with", y, N * 8);
    linear(n, M, x, x + 3, NULL, y), print_doubles("without", y, N * 8);
    twice(n, M, x, edge, y), print_doubles("by", y, N * 8);
    twice(n, M, x, NULL, y), print_doubles("not by", y, N * 8);
    sorted(n < 6 ? n : 6, n, s), print_ints("sorted", s[0], 96);
  }
  for (int i = 0; i < N * 16; i++) a[i] = i * 31 % 17;
  int out[N * 16] = {0};
  drawn(N, out), print_ints("drawn", out, N);
  edges(N, 16, a, out), print_ints("edges", out, N * 16);
  struct band b = {14, 2, x};
  banded(&b), print_doubles("banded", x, 70);
}
