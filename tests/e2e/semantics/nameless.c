// Members of structures without a name are members of what is around them; what is far from simple in sizes, and what
// nests deep.
// inside: served S
// behind: served S
// chain: served SSSSSSSSS
#include "semantics.h"
struct outer {
  int n;
  struct {
    double scale;
    struct {
      double shift;
    };
  };
  struct {
    double at[4];
  } named;
};
NOINLINE void inside(struct outer o, double *x) {
  for (int i = 0; i < o.n; i++) x[i] = x[i] * o.scale + o.shift + o.named.at[1];
}
NOINLINE void behind(const struct outer *restrict o, double *restrict x) {
  for (int i = 0; i < o->n; i++) x[i] = x[i] * o->scale + o->shift + o->named.at[1];
}
static int least(int a, int b) { return a < b ? a : b; }
static int most(int a, int b) { return a > b ? a : b; }
// Written out, each minimum names its operands twice.
NOINLINE int chain(int n, int k, double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++) x[i] += 1;
  k = least(k, 3 + 2 * n), k = most(k, n - 31), k = least(k, 4 + 3 * n), k = most(k, n - 32);
  k = least(k, 5 + 4 * n), k = most(k, n - 33), k = least(k, 6 + 5 * n), k = most(k, n - 34);
  k = least(k, 7 + 6 * n), k = most(k, n - 35), k = least(k, 8 + 7 * n), k = most(k, n - 36);
  k = least(k, 9 + 8 * n), k = most(k, n - 37), k = least(k, 10 + 9 * n), k = most(k, n - 38);
  k = least(k, 11 + 10 * n), k = most(k, n - 39), k = least(k, 12 + 11 * n), k = most(k, 0);
  for (int i = 0; i < n; i++) y[k + i] = 2 * i;
  return k;
}
int main(void) {
  const struct outer o = {.n = 9, .scale = 3, .shift = .5, .named = {{1, 2, 3, 4}}};
  double x[9], y[40] = {0};
  for (int i = 0; i < 9; i++) x[i] = i;
  inside(o, x), print_doubles("inside", x, 9);
  behind(&o, x), print_doubles("behind", x, 9);
  for (int k = -3; k < 60; k += 7) {
    for (int i = 0; i < 40; i++) y[i] = -1;
    printf("chain %d\n", chain(9, k % 30, x, y)), print_doubles("chain", y, 40);
  }
}
