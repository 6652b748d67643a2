// Arrays without elements, flexible members, loops that do not run.
// zero_length: served SS
// flexible: served SS
// none: served SSS
// empty_inner: served SS
// also: vectorize zero_length flexible none; parallelize zero_length none
#include "semantics.h"
static double nothing[0];
struct list { long n; double values[]; };
struct tail { int n; int more[0]; };
NOINLINE void zero_length(int n, double *restrict x) {
  for (int i = 0; i < n; i++) x[i] += nothing[i];
}
NOINLINE void flexible(struct list *restrict l, long n, double *restrict x) {
  for (long i = 0; i < n; i++) x[i] = l->values[i] + 1;
}
NOINLINE void none(int n, int m, double *restrict x) {
  for (int i = n; i < m; i++) x[i] = 5;
  for (int i = m; i > n; i -= 2) x[i] = 6;
}
NOINLINE void empty_inner(int n, int m, double (*x)[m + 1]) {
  for (int i = 0; i < n; i++) {
    x[i][m] = i;
    for (int j = 0; j < m; j++) x[i][j] = x[i][m];
  }
}
int main(void) {
  double x[40] = {0};
  zero_length(0, x), zero_length(-1, 0);
  struct list *l = malloc(sizeof *l + 8 * 5);
  for (int i = 0; i < 5; i++) l->values[i] = i;
  flexible(l, 5, x), flexible(l, 0, 0);
  none(5, 5, x), none(9, 3, 0), none(4, 20, x);
  empty_inner(10, 0, (void *)x), empty_inner(0, 4, (void *)x);
  print_doubles("x", x, 40);
  free(l);
}
