// Tables of rows of which some are used under conditions only, or in larger steps: what is read of the table on entry is
// what the nest surely reads.
// either: served SOO
// eliminate: served SSSOO
// every_third: served SSO
// forward: served SSOO
// upper: served SS
// below: served SOO
// planes: served SO
// static_rows: served SSO
// red_black: served SSOOO
// also: parallelize planes
#include "semantics.h"
#include <sys/mman.h>
// Both ways come to the rows.
NOINLINE void either(int n, int m, const int *which, double **a) {
  for (int i = n - 1; i >= 0; i--)
    for (int j = m - 1; j >= 0; j--) {
      if (which[j] > i)
        a[i][j] = a[i + 1][j + 1] + 1;
      else if (a[i + 1][j] > 3)
        a[i][j] = a[i + 1][j] - 0.5;
      else
        a[i][j] = a[i][j + 1];
    }
}
NOINLINE void eliminate(int n, int m, int c, double **a) {
  double f = 1 / a[c][c];
  for (int j = c; j < m; j++) a[c][j] *= f;
  for (int i = 0; i < n; i++) {
    if (i == c) continue;
    double g = a[i][c];
    for (int j = c; j < m; j++) a[i][j] -= g * a[c][j];
  }
}
// The table has no more rows than are used.
NOINLINE void every_third(int n, int m, double **a, double *restrict out) {
  for (int i = 0; i < n; i += 3)
    for (int j = 0; j < m; j++) out[i] += a[i][j];
}
// The first row is not looked at.
NOINLINE void forward(int n, double **l, double *restrict x) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < i; k++) x[i] -= l[i][k] * x[k];
}
// Nor the last.
NOINLINE void upper(int n, double **u, double *restrict x) {
  for (int i = n - 1; i >= 0; i--)
    for (int k = i + 1; k < n; k++) x[i] -= u[i][k] * x[k];
}
// Rows below a bound that the run brings: where it leaves the first one out, the original runs.
NOINLINE void below(int n, int from, int m, float **a) {
  for (int i = 0; i < n; i++)
    if (i >= from)
      for (int j = 0; j < m; j++) a[i][j] += 1;
}
static double *plane[4], *other[4];
NOINLINE void planes(int n, const unsigned char *solid) {
  for (int i = 0; i < n; i++) {
    if (solid[i]) continue;
    double sum = 0;
    for (int q = 0; q < 4; q++) sum += plane[q][i];
    for (int q = 0; q < 4; q++) plane[q][i] += 0.25 * sum;
  }
}
NOINLINE void static_rows(int n, int rows, const unsigned char *solid) {
  for (int q = 0; q < rows; q++)
    for (int i = 0; i < n; i++)
      if (solid[i]) other[q][i] = other[q][i] * 2 + q;
}
// Where a row begins depends on a remainder: of few columns, some rows have none of a colour.
NOINLINE void red_black(int n, int m, double **u) {
  for (int colour = 0; colour < 2; colour++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1 + ((i + colour) & 1); j < m - 1; j += 2)
        u[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
}
// n pointers up to where memory ends.
static void *at_the_end(size_t bytes) {
  char *page = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(page + 4096, 4096, PROT_NONE);
  return page + 4096 - bytes;
}
// And from where it begins.
static void *at_the_start(void) {
  char *page = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(page, 4096, PROT_NONE);
  return page + 4096;
}
int main(void) {
  static double x[200];
  double *rows[9], *same[9];
  int which[12];
  for (int i = 0; i < 200; i++) x[i] = (i * 37 % 41) * 0.25 + 1;
  for (int i = 0; i < 9; i++) rows[i] = x + 20 * i, same[i] = x + (i == 4 ? 0 : 20 * i);
  for (int i = 0; i < 12; i++) which[i] = i * 5 % 7;
  either(8, 11, which, rows);
  either(0, 11, 0, 0);
  either(8, 11, which, same);
  print_doubles("either", x, 200);
  eliminate(8, 16, 3, rows);
  eliminate(8, 16, 0, rows);
  eliminate(8, 16, 7, rows);
  eliminate(8, 16, 8, rows);
  eliminate(8, 16, 2, same);
  print_doubles("eliminate", x, 200);
  double out[12] = {0};
  double **tight = at_the_end(7 * sizeof(double *));
  for (int i = 0; i < 7; i++) tight[i] = rows[i];
  every_third(9, 15, tight, out);
  every_third(8, 15, tight, out);
  every_third(9, 15, same, out);
  print_doubles("every_third", out, 12);
  double **late = (double **)at_the_start() - 1;
  for (int i = 1; i < 9; i++) late[i] = rows[i];
  forward(9, late, out);
  forward(2, late, out);
  forward(1, 0, out);
  forward(9, same, out);
  print_doubles("forward", out, 12);
  tight = at_the_end(8 * sizeof(double *));
  for (int i = 0; i < 8; i++) tight[i] = rows[i];
  upper(9, tight, out);
  upper(2, tight, out);
  print_doubles("upper", out, 12);
  float y[90], *r[9];
  for (int i = 0; i < 90; i++) y[i] = i;
  for (int i = 0; i < 9; i++) r[i] = y + 10 * i;
  float **from_3 = (float **)at_the_start() - 3;
  for (int i = 3; i < 9; i++) from_3[i] = r[i];
  below(9, 0, 10, r);
  below(9, 3, 10, from_3);
  below(9, 9, 10, 0);
  print_floats("below", y, 90);
  unsigned char solid[20];
  for (int i = 0; i < 20; i++) solid[i] = i % 3 == 0;
  for (int q = 0; q < 4; q++) plane[q] = x + 40 * q;
  planes(20, solid);
  plane[2] = x;
  planes(20, solid);
  static_rows(20, 0, solid);
  for (int q = 0; q < 4; q++) other[q] = x + 25 * q;
  static_rows(20, 4, solid);
  other[1] = x + 4;
  static_rows(20, 3, solid);
  print_doubles("planes", x, 200);
  tight = at_the_end(8 * sizeof(double *));
  for (int i = 0; i < 8; i++) tight[i] = rows[i];
  red_black(8, 18, tight);
  red_black(7, 17, tight);
  red_black(2, 18, 0);
  red_black(8, 2, 0);
  red_black(8, 18, same);
  print_doubles("red_black", x, 200);
}
