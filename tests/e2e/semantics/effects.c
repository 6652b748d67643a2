// Increments inside of subscripts and values, of what lies in memory.
// transpose: served SS
// before: served S
// narrow: served S
// sometimes: served S
// declared: served S
// same: served S
// twice: c.side-effect
// beside: c.side-effect
// also: unroll transpose before
#include "semantics.h"
NOINLINE void transpose(int n, const int *row, const double *x, int *restrict next, int *restrict at, double *restrict to) {
  for (int i = 0; i < n; i++)
    for (int k = row[i]; k < row[i + 1]; k++) {
      to[next[k % 4]] = x[k] + i;
      at[next[k % 4]++] = i;
    }
}
NOINLINE void before(int n, const unsigned char *px, int *restrict count, int *restrict y) {
  for (int i = 0; i < n; i++) y[i] = ++count[px[i]] * 2 + count[px[i] + 1]--;
}
// The value wraps as its type does.
NOINLINE void narrow(int n, unsigned char *restrict c, signed char *restrict d, _Bool *restrict b, int *restrict y) {
  for (int i = 0; i < n; i++) {
    y[i] = c[i]++;
    y[i] += 1000 * ++d[i];
    y[i] += 100000 * b[i]--;
  }
}
NOINLINE void sometimes(int n, int *restrict c, int *restrict y) {
  for (int i = 0; i < n; i++) y[i] = (c[i] > 2 && c[i]++ < 5) + (c[i] & 1 ? c[i]-- : 7);
}
NOINLINE void declared(int n, int *restrict next, const int *restrict x, int *restrict y) {
  for (int i = 0; i < n; i++) {
    int k = x[next[i % 3]++];
    y[i] = k + k;
  }
}
// Its own subscript is of the same array.
NOINLINE void same(int n, int *restrict a, int *restrict y) {
  for (int i = 0; i < n; i++) y[i] = a[a[i] & 7]++;
}
NOINLINE void twice(int n, int *restrict next, int *restrict y) {
  for (int i = 0; i < n; i++) y[next[i % 3]++] += i;
}
static int first(const int *a) { return a[0]; }
NOINLINE void beside(int n, int *restrict a, int *restrict y) {
  for (int i = 0; i < n; i++) y[i] = first(a + i) + a[i + 1]++;
}
int main(void) {
  int row[5] = {0, 3, 3, 7, 12}, next[4] = {0, 3, 6, 9}, at[12] = {0};
  double x[12], to[12] = {0};
  for (int i = 0; i < 12; i++) x[i] = i * 1.5;
  transpose(0, row, x, next, at, to);
  transpose(4, row, x, next, at, to);
  print_ints("at", at, 12);
  print_ints("next", next, 4);
  print_doubles("to", to, 12);
  unsigned char px[12] = {1, 2, 3, 1, 1, 0, 255, 255, 254, 2, 1, 0};
  int count[257] = {5, 6, 7}, y[40] = {0};
  before(12, px, count, y);
  print_ints("y", y, 12);
  print_ints("count", count, 257);
  unsigned char c[6] = {255, 0, 1, 254, 7, 128};
  signed char d[6] = {127, -128, -1, 0, 1, 126};
  _Bool b[6] = {1, 0, 1, 0, 0, 1};
  narrow(6, c, d, b, y);
  print_ints("y", y, 6);
  for (int i = 0; i < 6; i++) printf("%d %d %d ", c[i], d[i], b[i]);
  int some[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  sometimes(8, some, y);
  print_ints("some", some, 8);
  print_ints("y", y, 8);
  int starts[3] = {0, 3, 5};
  declared(9, starts, at, y);
  print_ints("starts", starts, 3);
  print_ints("y", y, 9);
  int a[10] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3};
  same(10, a, y);
  print_ints("a", a, 10);
  twice(9, starts, y);
  print_ints("y", y, 40);
  beside(8, a, y);
  print_ints("a", a, 10);
  print_ints("y", y, 10);
}
