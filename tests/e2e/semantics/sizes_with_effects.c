// The size of a parameter's array is computed once for each call, whoever then runs the nest.
// sized: served OS
// pointed: served OS
#include "semantics.h"
static int calls;
NOINLINE int bump(void) { return ++calls + 50; }
NOINLINE void sized(int n, int a[bump()], int *b) {
  for (int i = 0; i < n; i++) a[i] += b[i] * 2;
}
NOINLINE void pointed(int n, int (*unused)[bump()], int *a, int *b) {
  for (int i = 0; i < n; i++) a[i] -= b[i] * 2;
}
int main(void) {
  int x[99];
  for (int i = 0; i < 99; i++) x[i] = i;
  sized(20, x, x + 1);
  sized(20, x, x + 50);
  pointed(20, 0, x, x + 1);
  pointed(20, 0, x, x + 50);
  print_ints("x", x, 99);
  printf("%d\n", calls);
}
