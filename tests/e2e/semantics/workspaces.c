// A workspace that each iteration fills anew: a thread has its own, and the program finds in it what the last iteration
// left. Where it may be a part of what the nest works on, or there is nothing to do, nothing is written to it.
// passed: served SSSOO
// systems: served SSS
// in_file: served SS
// of_function: served SS
// from_malloc: served SS
// scalar: served SS
// partly: served S
// kept: served S
// beyond: served S
// trees: served SSOO
// alignments: served SSO
// also: privatize passed systems in_file scalar alignments; parallelize trees
#include "semantics.h"
NOINLINE void passed(int n, int m, double *a, double *row) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++) row[j] = a[i * m + j] * 3 + i;
    for (int j = 0; j < m; j++) a[i * m + j] = row[m - 1 - j] - 1;
  }
}
// Tridiagonal systems, with coefficients that are made anew for each.
NOINLINE void systems(int n, int m, const double *b, double *x, double *restrict g) {
  for (int i = 0; i < n; i++) {
    double *y = x + i * m;
    g[0] = 1 / b[0];
    y[0] = y[0] / b[0];
    for (int j = 1; j < m; j++) {
      double r = 1 / (b[j] - g[j - 1]);
      g[j] = r;
      y[j] = (y[j] + y[j - 1]) * r;
    }
    for (int j = m - 2; j >= 0; j--) y[j] += g[j] * y[j + 1];
  }
}
static float line[64];
NOINLINE void in_file(int n, float *a) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < 64; j++) line[j] = a[i * 64 + j] * 0.5f + i;
    for (int j = 0; j < 64; j++) a[i * 64 + j] = line[63 - j];
  }
}
NOINLINE void of_function(int n, int m, double *a) {
  double row[m];
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++) row[j] = a[i * m + j] + 1;
    for (int j = 0; j < m; j++) a[i * m + j] = row[m - 1 - j] * 2;
  }
}
NOINLINE void from_malloc(int n, int m, double *a) {
  double *row = malloc(m * sizeof *row + 1);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++) row[j] = a[i * m + j] + 1;
    for (int j = 0; j < m; j++) a[i * m + j] = row[m - 1 - j] * 2;
  }
  free(row);
}
NOINLINE void scalar(int n, int m, double *a, double *restrict sum) {
  for (int i = 0; i < n; i++) {
    *sum = 0;
    for (int j = 0; j < m; j++) *sum += a[i * m + j];
    for (int j = 0; j < m; j++) a[i * m + j] -= *sum;
  }
}
// Later iterations fill less of it: what is left there is an earlier one's.
NOINLINE void partly(int n, double *restrict a, double *restrict row) {
  for (int i = 0; i < n; i++) {
    for (int j = i; j < n; j++) row[j - i] = a[i * n + j] * 2;
    for (int j = i; j < n; j++) a[i * n + j] = row[n - 1 - j];
  }
}
// An iteration reads what the one before left.
NOINLINE void kept(int n, int m, double *restrict a, double *restrict row) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++) a[i * m + j] += row[m - 1 - j];
    for (int j = 0; j < m; j++) row[j] = a[i * m + j];
  }
}
static double a[40 * 60], w[60], b[60];
static float f[20 * 64];
static void fill(void) {
  for (int k = 0; k < 40 * 60; k++) a[k] = k % 23 * 0.25 + 1;
  for (int k = 0; k < 60; k++) w[k] = -k, b[k] = 3 + k % 5;
  for (int k = 0; k < 20 * 64; k++) f[k] = k % 17;
}
#define SHOW(x) print_bytes(#x, x, sizeof x)
// What data say lies behind the extent that the parameter has, where nothing is filled anew.
NOINLINE void beyond(int n, int m, double row[restrict m], const int *restrict at, double *restrict x) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++) row[j] = i + j;
    for (int j = 0; j < m; j++) x[i * m + j] = row[at[j]];
  }
}
// The only element that is read of what each fills is there where the loop that fills it runs: that is asked for.
NOINLINE void trees(int n, int m, const double *price, double *out) {
  for (int i = 0; i < n; i++) {
    double value[64];
    value[0] = 0;
    for (int j = 0; j <= m; j++) value[j] = price[i] - j * 3;
    for (int k = m - 1; k >= 0; k--)
      for (int j = 0; j <= k; j++) value[j] = value[j] * 0.5 + value[j + 1] * 0.25;
    out[i] = value[0];
  }
}
NOINLINE void alignments(int n, int m, const int *left, const int *right, int *out) {
  static int cost[41][41];
  for (int i = 0; i < n; i++) {
    for (int k = 0; k <= m; k++) cost[k][0] = cost[0][k] = k;
    for (int k = 1; k <= m; k++)
      for (int j = 1; j <= m; j++) {
        int same = cost[k - 1][j - 1] + (left[i * m + k - 1] != right[i * m + j - 1]);
        int one = cost[k - 1][j] < cost[k][j - 1] ? cost[k - 1][j] + 1 : cost[k][j - 1] + 1;
        cost[k][j] = same < one ? same : one;
      }
    out[i] = cost[m][m];
  }
}
int main(void) {
  fill();
  double *end = before_fence(60 * sizeof(double));
  memset(end, 0, 60 * sizeof(double));
  passed(40, 60, a, end);
  print_bytes("end", end, 60 * sizeof(double));
  passed(1, 60, a, w);
  SHOW(w);
  // Where no iteration runs, the workspace need not be there.
  passed(0, 60, a, behind_fence(0));
  SHOW(a);
  passed(20, 60, a, a + 60 * 5);
  SHOW(a);
  passed(40, 60, a, a + 40 * 60 - 60);
  SHOW(a);
  fill();
  systems(40, 60, b, a, w);
  SHOW(w);
  systems(40, 1, b, a, w);
  systems(0, 60, b, a, w);
  SHOW(a);
  SHOW(w);
  in_file(20, f);
  SHOW(line);
  in_file(1, f);
  SHOW(line);
  SHOW(f);
  of_function(40, 60, a);
  of_function(3, 1, a);
  from_malloc(40, 60, a);
  from_malloc(0, 60, a);
  double sum = 4;
  scalar(0, 60, a, &sum);
  print_doubles("sum", &sum, 1);
  scalar(40, 60, a, &sum);
  print_doubles("sum", &sum, 1);
  SHOW(a);
  partly(40, a, w);
  SHOW(w);
  kept(40, 60, a, w);
  SHOW(a);
  SHOW(w);
  double more[200], out[800];
  int at[20];
  for (int k = 0; k < 200; k++) more[k] = 1000 + k;
  for (int k = 0; k < 20; k++) at[k] = (k * 37) % 200;
  beyond(40, 20, more, at, out);
  SHOW(more);
  SHOW(out);
  trees(20, 40, a, out);
  trees(20, 0, a, out + 20);
  trees(20, -1, a, out + 40);
  trees(20, 40, out + 19, out);
  SHOW(out);
  int words[800], costs[20];
  for (int k = 0; k < 800; k++) words[k] = k * k % 7;
  for (int k = 20; k >= -20; k -= 20) {
    alignments(15, k < 0 ? 0 : k + 1, words, words + 400, costs);
    for (int i = 0; i < 15; i++) printf(" %d", costs[i]);
  }
}
