#include <stdio.h>
#include <stdlib.h>

#include "matrix.h"

static int test(const char *name, int ok) {
  printf("%s: %s\n", ok ? "PASS" : "FAIL", name);
  return !ok;
}

int main(void) {
  enum { n = 37 };
  static double a[n * n], b[n * n], c[n * n], d[n * n];
  for (int i = 0; i < n * n; i++) {
    a[i] = (i * 7) % 13;
    b[i] = (i * 5) % 11;
  }
  multiply(n, a, b, c);
  double direct = 0;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) direct += a[i * n + k] * b[k * n + i];
  int bad = test("trace of a product", trace(n, c) == direct);
  /* (ab)' = b'a' */
  transpose(n, a);
  transpose(n, b);
  multiply(n, b, a, d);
  transpose(n, d);
  int same = 1;
  for (int i = 0; i < n * n; i++) same = same && c[i] == d[i];
  bad += test("transposed product", same);
  return bad != 0;
}
