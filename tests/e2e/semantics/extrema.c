// The least and the greatest of floats on threads: of equal zeros the first stays, and no NaN counts.
// greatest: served *
// least: served *
// flipped: served *
// chosen: served *
// narrow: served *
// whole: served *
// distance: served *
// last_of_equals: served *
// macro: served *
// library: served *
// shared: served *
// through: served *
// also: parallelize greatest least flipped chosen narrow whole distance; dynamic greatest least flipped chosen narrow whole distance
// runs: OMP_NUM_THREADS=1 | OMP_NUM_THREADS=2 | OMP_NUM_THREADS=3 | OMP_NUM_THREADS=5
// flags: | -ffp-contract=off | -fno-signed-zeros
#include <math.h>
#include "semantics.h"
NOINLINE double greatest(int n, const double *x, double first) {
  double m = first;
  for (int i = 0; i < n; i++)
    if (x[i] > m) m = x[i];
  return m;
}
NOINLINE double least(int n, const double *x, double first) {
  double m = first;
  for (int i = 0; i < n; i++)
    if (x[i] < m) m = x[i];
  return m;
}
NOINLINE double flipped(int n, const double *x, double first) {
  double m = first;
  for (int i = n - 1; i >= 0; i--) {
    if (m < x[i]) {
      m = x[i];
    }
  }
  return m;
}
NOINLINE double chosen(int n, const double *x, double first) {
  double m = first;
  for (int i = 0; i < n; i++) m = x[i] > m ? x[i] : m;
  return m;
}
NOINLINE float narrow(int n, const float *x, float first) {
  float m = first;
  for (int i = 0; i < n; i++)
    if (x[i] < m) m = x[i];
  return m;
}
NOINLINE int whole(int n, const int *x, int first) {
  int m = first;
  for (int i = 0; i < n; i++)
    if (x[i] > m) m = x[i];
  return m;
}
NOINLINE double distance(int n, double *restrict r, const double *x, const double *y) {
  double worst = 0;
  for (int i = 0; i < n; i++) {
    r[i] = x[i] - y[i];
    double d = fabs(r[i]);
    if (d > worst) worst = d;
  }
  return worst;
}
NOINLINE double last_of_equals(int n, const double *x, double first) {
  double m = first;
  for (int i = 0; i < n; i++)
    if (x[i] >= m) m = x[i];
  return m;
}
#define MAX(a, b) ((a) > (b) ? (a) : (b))
NOINLINE double macro(int n, const double *x, double first) {
  double m = first;
  for (int i = 0; i < n; i++) m = MAX(m, x[i]);
  return m;
}
NOINLINE double library(int n, const double *x, double first) {
  double m = first;
  for (int i = 0; i < n; i++) m = fmax(m, x[i]);
  return m;
}
double global;
NOINLINE void shared(int n, const double *x) {
  for (int i = 0; i < n; i++)
    if (x[i] > global) global = x[i];
}
NOINLINE void through(int n, const double *restrict x, double *restrict m) {
  for (int i = 0; i < n; i++)
    if (x[i] > *m) *m = x[i];
}
static void all(const char *name, int n, const double *x, double first) {
  double r[9], m[1] = {first};
  global = first;
  shared(n, x);
  through(n, x, m);
  float f[200];
  for (int i = 0; i < n; i++) f[i] = (float)x[i];
  r[0] = greatest(n, x, first), r[1] = least(n, x, first), r[2] = flipped(n, x, first), r[3] = chosen(n, x, first);
  r[4] = narrow(n, f, (float)first), r[5] = last_of_equals(n, x, first), r[6] = macro(n, x, first);
  r[7] = global, r[8] = m[0];
  print_doubles(name, r, 9);
  // Of zeros, fmax gives any.
  double l = library(n, x, first);
  printf("%s %a\n", name, l == 0 ? 0 : l);
}
int main(void) {
  static double x[200], y[200], r[200];
  static int k[200];
  const double firsts[] = {0.0, -0.0, -INFINITY, INFINITY, NAN, -1, 1e-300};
  for (int f = 0; f < 7; f++)
    for (int shape = 0; shape < 8; shape++) {
      for (int i = 0; i < 200; i++) {
        const double zero = (i * 7 + shape) % 3 ? -0.0 : 0.0;
        x[i] = shape < 2 ? zero : shape == 2 ? NAN : shape == 3 ? (i % 5 ? zero : NAN) : sin(i * shape) * (i % 11 ? 1 : 0);
        if (shape == 4) x[i] = x[i] < 0 ? x[i] : zero;
        if (shape == 5) x[i] = x[i] > 0 ? x[i] : zero;
        if (shape == 6) x[i] = i % 2 ? -INFINITY : NAN;
        y[i] = x[199 - i], k[i] = (i * 7919 + shape) % 1009 - 500;
      }
      char name[32];
      sprintf(name, "%d %d", f, shape);
      for (int n = 0; n < 200; n = 2 * n + 1) all(name, n, x, firsts[f]);
      double d = distance(200, r, x, y);
      print_doubles("distance", &d, 1), print_doubles("r", r, 200);
      printf("%d %d\n", whole(200, k, shape * 60), whole(0, k, -7));
    }
}
