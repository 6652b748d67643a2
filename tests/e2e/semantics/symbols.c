// Objects that have two names, or that may not be there, and volatile ones: the nest is left alone.
// by_alias: c.symbol
// by_label: c.symbol
// absent: c.symbol
// absent_number: c.symbol
// present: served S
// volatile_member: c.volatile
// volatile_row: c.volatile
// volatile_pointer: c.volatile
#include "semantics.h"
double A[40], C[40];
extern double B[40] __attribute__((alias("A")));
extern double D[40] __asm__("C");
NOINLINE void by_alias(int n) {
  for (int i = 0; i < n; i++) B[i + 1] = A[i] + 1;
}
NOINLINE void by_label(int n) {
  for (int i = 0; i < n; i++) D[i + 1] = C[i] + 1;
}
extern double missing[10] __attribute__((weak));
extern int missing_number __attribute__((weak));
__attribute__((weak)) double table[10] = {1, 2, 3};
NOINLINE void absent(int n, double *restrict x) {
  for (int i = 0; i < n; i++) x[i] = missing ? missing[i] : -1;
}
NOINLINE void absent_number(int n, double *restrict x, int there) {
  for (int i = 0; i < n; i++) x[i] = there ? missing_number : -1;
}
NOINLINE void present(int n, double *restrict x) {
  for (int i = 0; i < n; i++) x[i] = table[i] + 1;
}
struct inner { int n, row[4]; double *to; };
static struct { volatile struct inner v; } g;
NOINLINE int volatile_member(double *restrict x) {
  int i;
  for (i = 0; i < g.v.n; i++) x[i] = i;
  return i;
}
NOINLINE void volatile_row(int n, double *restrict x) {
  for (int i = 0; i < n; i++) x[i] = g.v.row[i & 3];
}
NOINLINE void volatile_pointer(int n) {
  for (int i = 0; i < n; i++) g.v.to[i] = i;
}
int main(void) {
  double x[10];
  by_alias(30);
  by_label(30);
  print_doubles("A", A, 40);
  print_doubles("C", C, 40);
  absent(10, x);
  print_doubles("absent", x, 10);
  absent_number(10, x, 0);
  print_doubles("absent_number", x, 10);
  present(10, x);
  print_doubles("present", x, 10);
  g.v.n = 7;
  g.v.row[1] = 5;
  g.v.to = x;
  printf("%d\n", volatile_member(x));
  print_doubles("volatile_member", x, 10);
  volatile_row(10, x);
  print_doubles("volatile_row", x, 10);
  volatile_pointer(10);
  print_doubles("volatile_pointer", x, 10);
}
