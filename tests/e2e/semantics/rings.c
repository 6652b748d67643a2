// Loops around a ring, which are taken apart at their ends: sizes from none on, neighbours farther away, in place, and
// what only looks like a ring.
// remainders: served OOSSSS
// by_function: served OOSSSS
// corrected: served OOSSSS
// chosen: served OOSSSS
// in_place: served OOSSSS
// farther: served OOSSSS
// repeated: served OSSSSS
// both_ways: served OOSSSS
// last_value: served OOSSSS
// constant: served S
// overlapping: served SO
// also: vectorize chosen; parallelize corrected remainders
#include "semantics.h"
NOINLINE void remainders(int n, const double* restrict u, double* restrict v) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      v[i * n + j] = u[((i + 1) % n) * n + j] - 2 * u[((i - 1 + n) % n) * n + j] + 3 * u[i * n + (j + 1) % n] -
                     u[i * n + (j - 1 + n) % n] * u[i * n + j];
}
static int at(int i, int j, int n) { return (i + n) % n * n + (j + n) % n; }
NOINLINE void by_function(int n, const double* restrict u, double* restrict v) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      v[at(i, j, n)] = u[at(i + 1, j, n)] - 2 * u[at(i - 1, j, n)] + 3 * u[at(i, j + 1, n)] - u[at(i, j - 1, n)];
}
NOINLINE void corrected(int n, const double* restrict u, double* restrict v) {
  int i, j, ip, im, jp, jm;
  for (i = 0; i < n; i++) {
    ip = i + 1, im = i - 1;
    if (ip == n) ip = 0;
    if (i == 0) im = n - 1;
    for (j = 0; j < n; j++) {
      jp = j + 1, jm = j - 1;
      if (jp >= n) jp -= n;
      if (jm < 0) jm += n;
      v[i * n + j] = u[ip * n + j] - 2 * u[im * n + j] + 3 * u[i * n + jp] - u[i * n + jm];
    }
  }
}
NOINLINE void chosen(int n, const double* restrict u, double* restrict v) {
  for (int j = 0; j < n; j++) {
    int jp = j + 1 < n ? j + 1 : 0, jm = j > 0 ? j - 1 : n - 1;
    v[j] = u[jp] - 2 * u[jm] + (j == n - 1 ? 7 : u[j]);
  }
}
// Each iteration reads what the one before has written, the last one what the first has.
NOINLINE void in_place(int n, double* u) {
  for (int i = 0; i < n; i++) u[i] = 0.5 * u[(i + n - 1) % n] + 0.25 * u[(i + 1) % n] - u[i];
}
NOINLINE void farther(int n, const double* restrict u, double* restrict v) {
  for (int i = 0; i < n; i++) v[i] = u[(i + 2) % n] - u[(i + n - 2) % n] + u[(i + 1) % n];
}
// A border that repeats its last element is none.
NOINLINE void repeated(int n, const double* restrict u, double* restrict v) {
  for (int i = 0; i < n; i++) {
    int p = i + 1, m = i - 1;
    if (p > n - 1) p = n - 1;
    if (m < 0) m = 0;
    v[i] = u[p] - 3 * u[m];
  }
}
// Conditions that one end decides, and one that none does.
NOINLINE double both_ways(int n, int from, const double* restrict u, double* restrict v) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    int p = i == n - 1 ? 0 : i + 1;
    if (i != 0 && i < n - 1 && i >= from) sum += u[p];
    if (i <= 0 || !(i < n - 1)) v[i] = sum + i;
    else if (u[i] > 0) continue;
    v[p] = u[i] - u[p];
  }
  return sum;
}
NOINLINE int last_value(int n, const double* restrict u, double* restrict v) {
  int i, p = -5, turns = 0;
  for (i = 0; i < n; i++) {
    p = i + 1;
    if (p == n) p = 0, turns++;
    v[i] = u[p];
  }
  for (i = 0; i < n; i++) {
    p = i + 1;
    if (p == n) p = 0;
    v[i] += u[p];
  }
  return 100 * p + 10 * i + turns;
}
enum { N = 12 };
NOINLINE void constant(double (*restrict u)[N], double (*restrict v)[N]) {
  for (int t = 0; t < 5; t++) {
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        v[i][j] = u[(i + 1) % N][j] + u[(i + N - 1) % N][j] - u[i][(j + 1) % N] * u[i][(j + N - 1) % N];
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) u[i][j] = 0.5 * u[i][j] + 0.01 * v[i][j];
  }
}
NOINLINE void overlapping(int n, const double* u, double* v) {
  for (int i = 0; i < n; i++) v[i] = u[(i + 1) % n] + u[(i + n - 1) % n];
}
int main(void) {
  static const int sizes[] = {0, 1, 2, 3, 4, 9};
  for (int k = 0; k < 6; k++) {
    const int n = sizes[k];
    // Nothing beyond the elements is there.
    double *u = before_fence(n * n * sizeof *u), *v = behind_fence(n * n * sizeof *v);
    double *line = before_fence(n * sizeof *u), *out = behind_fence(n * sizeof *v);
    for (int i = 0; i < n * n; i++) u[i] = (i * 37 % 101) / 8.0 - 5, v[i] = -1;
    for (int i = 0; i < n; i++) line[i] = i * i - 3.5 * i;
    remainders(n, u, v), print_doubles("remainders", v, n * n);
    by_function(n, u, v), print_doubles("by_function", v, n * n);
    corrected(n, u, v), print_doubles("corrected", v, n * n);
    chosen(n, line, out), print_doubles("chosen", out, n);
    farther(n, line, out), print_doubles("farther", out, n);
    repeated(n, line, out), print_doubles("repeated", out, n);
    printf("%a\n", both_ways(n, 2, line, out)), print_doubles("both_ways", out, n);
    printf("%d\n", last_value(n, line, out)), print_doubles("last_value", out, n);
    in_place(n, line), print_doubles("in_place", line, n);
  }
  static double a[N][N], b[N][N];
  for (int i = 0; i < N * N; i++) a[0][i] = i % 7 - 3;
  constant(a, b), print_doubles("constant", a[0], N * N);
  overlapping(N * N, a[0], b[0]), overlapping(N, a[0] + 2, a[0]);
  print_doubles("overlapping", a[0], N * N), print_doubles("overlapping", b[0], N * N);
}
