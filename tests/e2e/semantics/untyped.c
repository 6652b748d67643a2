// Parameters void *: arrays of what they are cast to, which may be two types in one place.
// widen: served SS
// add: served SOS
// bytes: served S
// two: served S
#include "semantics.h"

NOINLINE void widen(int n, void *to, const void *from) {
  for (int i = 0; i < n; i++) ((double *)to)[i] = 2 * ((const float *)from)[i];
}
NOINLINE void add(int n, void *y, const void *x) {
  for (int i = 0; i < n; i++) ((int *)y)[i] += ((const int *)x)[i];
}
// C lets bytes be read of anything: each integer changes those of the next iterations.
NOINLINE void bytes(int n, void *y) {
  for (int i = 0; i < n; i++) ((int *)y)[i] = 1 + ((unsigned char *)y)[4 * i + 3] + ((unsigned char *)y)[i];
}
// restrict keeps other pointers away, not the other type.
NOINLINE void two(int n, void *restrict y, int *restrict sum) {
  for (int i = 0; i < n; i++) {
    ((unsigned char *)y)[i] = 1;
    sum[0] += ((int *)y)[i];
  }
}

int main(void) {
  float f[9] = {1, -2, 3.5f, 4, 5, 6, 7, 8, 9};
  double d[9] = {0};
  int x[32];
  for (int i = 0; i < 32; i++) x[i] = i * 77 % 19;
  widen(0, d, f), widen(9, d, f);
  print_doubles("widen", d, 9);
  add(10, x, x + 16), add(12, x + 1, x), add(-1, x, x + 9);
  print_ints("add", x, 32);
  bytes(20, x);
  print_ints("bytes", x, 32);
  int sum = 0;
  two(20, x, &sum);
  printf("%d\n", sum);
  return 0;
}
