// What a nest leaves in an array that nobody reads again may be anything; in every other array it is the program's.
// unread: served S
// partly: served S
// escaped: served S
// again: served SSS
// rows: served S
// rows_live: served S
// kernel: served SS
// scratch: served SS
// looped: served SSS
// block: served S
// block_live: served S
// earlier: served SSS
// written: served S
// carried: served SS
// also: expand rows rows_live kernel scratch carried
#include "semantics.h"
static volatile int tick;
static double sink, *kept;
enum { N = 50 };
NOINLINE void unread(double *restrict x, const double *restrict y) {
  double t[N];
  for (int i = 0; i < N; i++) {
    t[i] = y[i] * 3;
    x[i] = y[i] + 1;
  }
  sink += sizeof t;
}
NOINLINE void partly(double *restrict x, const double *restrict y) {
  double t[N];
  for (int i = 0; i < N; i++) {
    t[i] = y[i] * 3;
    x[i] = y[i] + 1;
  }
  sink += t[7];
}
NOINLINE static void keep(double *p) { kept = p; }
NOINLINE static void look(void) { sink += kept[3]; }
NOINLINE void escaped(double *restrict x, const double *restrict y) {
  double t[N];
  keep(t);
  for (int i = 0; i < N; i++) {
    t[i] = y[i] * 3;
    x[i] = y[i] + 1;
  }
  look();
}
NOINLINE void again(double *restrict x, const double *restrict y) {
  static double t[N];
  for (int i = 0; i < N; i++) {
    x[i] = t[i] + y[i];
    t[i] = x[i] * 2;
  }
}
NOINLINE void rows(double A[restrict N][N], double B[restrict N][N]) {
  double t[N];
  t[0] = 1;
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) t[j] = B[i][j] * 2;
    for (int k = 0; k < N; k++) A[i][k] = t[N - 1 - k] + t[k];
  }
}
NOINLINE void rows_live(double A[restrict N][N], double B[restrict N][N]) {
  double t[N];
  t[0] = 1;
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) t[j] = B[i][j] * 2;
    for (int k = 0; k < N; k++) A[i][k] = t[N - 1 - k] + t[k];
  }
  sink += t[N - 1];
}
NOINLINE static void kernel(double A[restrict N][N], double B[restrict N][N], double *restrict t) {
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) t[j] = B[i][j] * 2;
    for (int k = 0; k < N; k++) A[i][k] += t[N - 1 - k] + t[k];
  }
}
NOINLINE static void scratch(double A[restrict N][N], double B[restrict N][N], double *restrict t) {
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) t[j] = B[i][j] * 2;
    for (int k = 0; k < N; k++) A[i][k] += t[N - 1 - k] + t[k];
  }
}
NOINLINE void looped(double *restrict x) {
  double t[N] = {1, 2, 3};
  for (int round = 0; round < 3; round++) {
    tick = round;
    for (int i = 0; i < N; i++) {
      x[i] += t[i];
      t[i] = x[i] + round;
    }
  }
}
NOINLINE void block(double *restrict x, const double *restrict y) {
  double *t = malloc(N * sizeof *t);
  if (!t) return;
  tick = 1;
  for (int i = 0; i < N; i++) {
    t[i] = y[i] * 3;
    x[i] = y[i] + 1;
  }
  free(t);
}
NOINLINE void block_live(double *restrict x, const double *restrict y) {
  double *t = malloc(N * sizeof *t);
  if (!t) return;
  tick = 1;
  for (int i = 0; i < N; i++) {
    t[i] = y[i] * 3;
    x[i] = y[i] + 1;
  }
  for (int i = 40; i < 43; i++) sink += t[i], tick = i;
  free(t);
}
NOINLINE void earlier(double *restrict x, const double *restrict y) {
  double t[N] = {0};
  for (int round = 0; round < 3; round++) {
    sink += t[9];
    tick = round;
    for (int i = 0; i < N; i++) {
      t[i] = y[i] + round;
      x[i] = y[i] + 1;
    }
  }
}
NOINLINE void written(double *restrict x, const double *restrict y) {
  double t[N];
  for (int i = 0; i < N; i++) {
    t[i] = y[i] * 3;
    x[i] = y[i] + 1;
  }
  fwrite(t, sizeof t, 1, stdout);
}
NOINLINE void carried(double A[restrict N][N], double B[restrict N][N], double *restrict x) {
  static double t[N];
  for (int i = 0; i < N; i++) x[i] += t[i];
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) t[j] = B[i][j] * 2;
    for (int k = 0; k < N; k++) A[i][k] += t[N - 1 - k] + t[k];
  }
}
static double A[N][N], B[N][N], x[N], y[N];
int main(void) {
  double one[N], two[N];
  for (int i = 0; i < N; i++) {
    y[i] = 1. / (i + 1);
    for (int j = 0; j < N; j++) B[i][j] = i - j * y[i];
  }
  unread(x, y);
  print_bytes("x", x, sizeof x);
  partly(x, y);
  escaped(x, y);
  for (int k = 0; k < 3; k++) again(x, y);
  print_bytes("x", x, sizeof x);
  rows(A, B);
  print_bytes("A", A, sizeof A);
  rows_live(A, B);
  kernel(A, B, one), kernel(A, B, two);
  sink += two[11];  // and so neither may be left as it is
  scratch(A, B, one), scratch(A, B, two);
  looped(x);
  block(x, y);
  block_live(x, y);
  earlier(x, y);
  written(x, y);
  carried(A, B, x), carried(A, B, x);
  print_bytes("A", A, sizeof A), print_bytes("x", x, sizeof x), print_bytes("sink", &sink, sizeof sink);
}
