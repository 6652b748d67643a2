// A variable that has no value yet is not read by calling the generated code: where the program does not use it,
// it may stay without one.
// scalar: served SS
// integer: served SS
// carried: served S
// pointer: served SS
// member: served SS
// divided: served
// also: vectorize scalar integer pointer member; parallelize divided
#include "semantics.h"
NOINLINE void scalar(int n, int has, double *restrict x) {
  double t;
  if (has) t = x[0] * 3;
  for (int i = 0; i < n; i++)
    if (has) x[i] = x[i] + t;
  printf("%s\n", has ? "has" : "has not");
}
NOINLINE void integer(int n, int has, int *restrict x) {
  int k;
  if (has) {
    k = x[0];
    printf("with %d\n", k);
  }
  for (int i = 0; i < n; i++)
    if (has) x[i] += k;
}
NOINLINE void carried(int n, double *restrict x, const double *restrict y) {
  double before;
  for (int i = 0; i < n; i++) {
    if (i > 0) x[i] = before;
    before = y[i];
  }
}
NOINLINE void pointer(int n, int use, double *restrict x, const double *restrict y) {
  const double *t;
  if (use) t = y + 1;
  for (int i = 0; i < n; i++)
    if (use) x[i] += t[i];
  printf("%s\n", use ? "use" : "do not use");
}
NOINLINE void member(int n, int use, double *restrict x) {
  struct { int n; double w; } p;
  p.n = n;
  if (use) p.w = 3;
  for (int i = 0; i < p.n; i++)
    if (use) x[i] += p.w;
  printf("%s\n", use ? "use" : "do not use");
}
// Without rows, nothing is divided by what has no value, whatever is found where it would be.
NOINLINE int next(int by) {
  static int k = 3;
  return k += by;
}
static inline __attribute__((always_inline)) void divided(int k, int rows, int has, unsigned *restrict x) {
  int n;
  if (has) n = next(has);
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < k / n; j++) x[i] += i * j;
}
NOINLINE void without(int k, int unused, int rows, unsigned *x) { divided(k, rows, 0, x); }
NOINLINE void with(int k, int rows, unsigned *x) { divided(k, rows, 1, x); }
int main(int none, char **arguments) {
  double x[20], y[20];
  int k[20];
  for (int i = 0; i < 20; i++) x[i] = y[i] = i + 1, k[i] = i + 2;
  scalar(20, 0, x);
  scalar(20, 1, x);
  integer(20, 0, k);
  integer(20, 1, k);
  carried(20, x, y);
  pointer(19, 0, x, y);
  pointer(19, 1, x, y);
  member(20, 0, x);
  member(20, 1, x);
  print_doubles("x", x, 20);
  print_ints("k", k, 20);
  unsigned u[100] = {0};
  for (int t = 0; t < 100; t++) with(1000, 100, u);  // threads pay
  for (int t = 0; t < 4; t++) without(t % 2 ? 7 : 100, 5, none - 1, u);
  printf("%u\n", u[1]);
}
