// parameter: served O
// block: served O
// local: served O
// bound: served SS
//
// What assembly puts into a pointer or a bound: a parameter and a block from malloc that are no longer what they were.
#include "semantics.h"

static double data[40];

static void fill(double* a, int n) {
  for (int i = 0; i < n; i++) {
    __asm__("");
    a[i] = i % 7;
  }
}

static NOINLINE void parameter(int n, double* p) {
  double* a = malloc(40 * sizeof *a);
  fill(a, 40);
  __asm__("" : "=r"(p) : "0"(a + 1));
  for (int i = 0; i < n; i++) p[i] = a[i] * 0.5 + a[i + 1];
  print_doubles("parameter", a, 40);
  free(a);
}

static NOINLINE void block(int n) {
  double *a = malloc(40 * sizeof *a), *b = malloc(sizeof *b), *const own = b;
  fill(a, 40);
  __asm__("" : "=r"(b) : "0"(a + 1));
  for (int i = 0; i < n; i++) b[i] = a[i] * 0.5 + a[i + 1];
  print_doubles("block", a, 40);
  free(a);
  free(own);
}

static NOINLINE void local(int n, double* p) {
  double a[40];
  fill(a, 40);
  __asm__("" : "=r"(p) : "0"(a + 1));
  for (int i = 0; i < n; i++) p[i] = a[i] * 0.5 + a[i + 1];
  print_doubles("local", a, 40);
}

static NOINLINE void bound(int n) {
  int m = 5, k = 3;
  __asm__("" : "=r"(m) : "0"(n));
  for (int i = 0; i < m; i++) data[i] = data[i] * 0.5 + data[i + 1];
  __asm__("" : "=r"(k) : "0"(n + 3));
  for (int i = 0; i < k; i++) data[i] += i;
  print_doubles("bound", data, 40);
}

int main(void) {
  fill(data, 40);
  parameter(30, data);
  block(30);
  local(30, data);
  bound(30);
  return 0;
}
