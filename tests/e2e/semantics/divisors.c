// Nothing is divided by what the program does not divide by in that call: a bound of an inner loop that never begins.
// beside: served SSO
// rows: served SSO
// also: parallelize rows
#include "semantics.h"
int factor = 3;
NOINLINE void beside(int m, int k, int s, int *x) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < k / s; j++) x[j] += factor * i;
}
NOINLINE void rows(int m, int k, int s, int *x, const int *y) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < k % s; j++) x[i] += y[j] * i;
}
int main(void) {
  int x[100], y[100];
  for (int i = 0; i < 100; i++) x[i] = i, y[i] = i * i;
  beside(3, 10, 2, x);
  beside(3, 70, 7, x);
  beside(0, 10, 0, x);
  rows(30, 29, 10, x, y);
  rows(40, 9, 30, x, y);
  rows(0, 9, 0, x, y);
  print_ints("x", x, 100);
}
