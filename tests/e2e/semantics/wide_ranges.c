// Ranges whose ends lie farther apart than 64 bits count: those that are empty run nothing.
// box: served
// planes: served
// from_one: served
// plane: served
// downward: served
// ahead: served
// triangle: served
// summed: served
// walked: served
// narrow: served SSS
// least: served
// constant: c.loop.form
// also: vectorize box summed; parallelize box planes triangle; tile plane
#include <limits.h>
#include "semantics.h"
// Where nothing was found: what a search for the least and the largest index begins with.
NOINLINE void box(long lo, long hi, int *restrict x) {
  for (long i = lo; i < hi; i++) x[i] = 1;
}
NOINLINE void planes(long lo, long hi, long low, long high, int *restrict x) {
  for (long i = lo; i < hi; i++)
    for (long j = low; j <= high; j++) x[i * 8 + j] += 2;
}
NOINLINE void from_one(long n, int *restrict x, const int *restrict y) {
  for (long i = 1; i < n; i++) x[i] += y[i - 1];
}
NOINLINE void plane(long n, long m, int *restrict x) {
  for (long i = 1; i < n - 1; i++)
    for (long j = 1; j < m; j++) x[i * 8 + j] += 3;
}
NOINLINE void downward(long lo, long hi, int *restrict x) {
  for (long i = hi; i > lo; i--) x[i] += 5;
}
NOINLINE void ahead(long n, int *restrict x, const int *restrict y) {
  for (long i = 0; i + 1 < n; i++) x[i] += y[i + 1];
}
NOINLINE void triangle(long n, int *restrict x, const int *restrict y) {
  for (long i = 0; i < n; i++)
    for (long j = i + 1; j < n; j++) x[i * 8 + j] += y[j];
}
NOINLINE unsigned long summed(long lo, long hi) {
  unsigned long s = 0;
  for (long i = lo; i < hi; i++) s += i ^ (i >> 3);
  return s;
}
NOINLINE long walked(long i, long n, int *restrict x) {
  while (i < n) x[i++] += 7;
  return i;
}
NOINLINE void narrow(int lo, int hi, int *restrict x) {
  for (int i = lo; i < hi; i++) x[i - lo] += 9;
}
NOINLINE void least(long n, int *restrict x) {
  for (long i = 1; i < n; i++) x[i] *= 3;
}
NOINLINE void constant(int *restrict x) {
  for (long i = 5; i < LONG_MIN; i++) x[i] *= 3;
}
int main(void) {
  int x[64], y[64];
  for (int i = 0; i < 64; i++) x[i] = i % 5, y[i] = i;
  const long lowest = LONG_MIN, most = LONG_MAX;
  const long ends[] = {lowest + 1, lowest + 2, -most / 2 - 1, -most / 2 - 2, -1, 0, 1, 6, lowest};
  for (int k = 0; k < 9; k++) {
    from_one(ends[k], x, y), ahead(ends[k], x, y), triangle(ends[k], x, y);
    plane(5, ends[k], x);
    if (ends[k] > lowest) plane(ends[k], 5, x);
    for (long lo = 0; lo < 3; lo++) {
      box(lo, ends[k], x), planes(lo, 4, lo, ends[k], x), planes(lo, ends[k], lo, 4, x);
      downward(lo, ends[k], x), downward(most - lo, ends[k], x);
      printf("%ld\n", walked(lo, ends[k], x));
    }
  }
  box(most, lowest, x + 2), box(most, 3, x), box(1, lowest, x), box(0, 9, x), downward(most, lowest, x + 2);
  downward(3, 9, x), planes(most, lowest, most, lowest, x), planes(0, 2, most, lowest, x), planes(0, 3, 0, 4, x);
  printf("%lu %lu\n", summed(most, lowest), summed(1, lowest));
  printf("%lu %lu\n", summed(most - 9, most), summed(lowest, lowest + 37));
  printf("%ld\n", walked(most, lowest, x));
  narrow(INT_MAX, INT_MIN, x), narrow(INT_MAX - 7, INT_MAX, x), narrow(INT_MIN, INT_MIN + 5, x);
  least(LONG_MIN, x), constant(x);
  print_ints("end", x, 64);
}
