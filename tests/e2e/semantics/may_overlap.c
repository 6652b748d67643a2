// Pointers of which nobody knows how far they are used may be the same memory: the order of their accesses stays. (What is
// read under a condition only is not looked at ahead.)
// scatter: served SSSS
// gather: served SSSO
// sum: served SSS
// swap_in: served SS
// both: served SSS
// total: served SO
// bound: c.alias.unknown-extent
// by_value: c.alias.unknown-extent
// also: unroll gather
// unchecked: scatter sum swap_in
#include "semantics.h"
NOINLINE void scatter(int n, const int *at, double *x, const double *y) {
  for (int i = 0; i < n; i++)
    if (y[i] < 1e300) x[at[i]] = y[i] * 2 + 1;
}
NOINLINE void gather(int n, const int *at, int *x, const int *y) {
  for (int i = 0; i < n; i++)
    if (x[i] != 12345) x[i] = y[at[i]] + 1;
}
// A sum that may be one of the numbers that it adds.
NOINLINE void sum(int n, const int *at, long *s, const long *y) {
  for (int i = 0; i < n; i++)
    if (y[i] != 12345) s[at[0]] += y[at[i]];
}
// A loop of its own for each statement would be wrong where y is x.
NOINLINE void swap_in(int n, const int *at, double *x, double *y) {
  for (int i = 0; i < n; i++) {
    if (x[i] > 1e300) continue;
    x[at[i]] = y[at[i]] + 1;
    y[at[i]] = x[at[i]] * 3;
    x[at[i]] += i;
  }
}
// x and z are compared, y is not: it may be either.
NOINLINE void both(int n, const int *at, double *x, double *y, double *z) {
  for (int i = 0; i < n; i++) {
    x[i] = z[i] + 1;
    if (z[i] < 1e300) y[at[i]] = x[i] * z[i];
  }
}
// Its bound may be what it writes; a parameter keeps the value that it was given.
NOINLINE void bound(int n, const int *at, int *x, const int *last) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < last[i]; k++)
      if (k != i + 50) x[at[k]] = 3;
}
double given = 5;
static void put(double v, double *p, const int *at) {
  p[at[0]] = 1;
  p[at[1]] = v;
}
NOINLINE void by_value(int n, const int *at, double *x) {
  for (int i = 0; i < n; i++) put(given, x, at + i);
}
// A scalar in memory beside what data leads to: by its address, not by its value.
double all = 4096;
NOINLINE void total(int n, const unsigned char *at, double *x) {
  for (int i = 0; i < n; i++) {
    x[at[i]] += i;
    all += x[i];
  }
}
int main(void) {
  int at[12] = {3, 1, 2, 2, 0, 7, 5, 6, 4, 8, 8, 0};
  double d[40];
  for (int shift = 0; shift < 4; shift++) {
    for (int i = 0; i < 40; i++) d[i] = i;
    scatter(12, at, d + shift, d);
    print_doubles("scatter", d, 40);
  }
  int k[40];
  for (int shift = 0; shift < 3; shift++) {
    for (int i = 0; i < 40; i++) k[i] = i;
    gather(12, at, k + shift, k);
    print_ints("gather", k, 40);
  }
  // The subscripts lie in what is written.
  int self[16] = {1, 3, 0, 2, 4, 1, 0, 2, 1, 0};
  gather(8, self, self, self + 1);
  print_ints("gather", self, 16);
  long l[16];
  for (int which = 0; which < 3; which++) {
    for (int i = 0; i < 16; i++) l[i] = i + 1;
    sum(12 - which, at + which, l + which, l);
    for (int i = 0; i < 16; i++) printf("%ld ", l[i]);
  }
  for (int shift = 0; shift < 2; shift++) {
    for (int i = 0; i < 40; i++) d[i] = i;
    swap_in(12, at, d, d + shift);
    print_doubles("swap_in", d, 40);
  }
  for (int shift = 0; shift < 24; shift += 11) {
    for (int i = 0; i < 40; i++) d[i] = i;
    both(8, at, d, d + shift, d + 8);
    print_doubles("both", d, 40);
  }
  int ends[12] = {9, 9, 9, 9, 1, 2, 3, 4, 5, 6, 7, 8};
  bound(12, at, ends, ends);
  print_ints("bound", ends, 12);
  int none[2] = {0, 0};
  by_value(1, none, &given);
  printf("%.17g\n", given);
  unsigned char bytes[12] = {3, 1, 2, 2, 0, 7, 5, 6, 4, 8, 8, 0};
  static double far[300];
  total(12, bytes, far);
  print_doubles("total", far, 12);
  total(1, bytes + 4, &all);
  printf("%.17g\n", all);
}
