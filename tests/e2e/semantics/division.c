// Division rounds toward zero and a remainder has the sign of the dividend, in values and in subscripts; a division
// that the program guards is never made otherwise.
// values: served S
// by_constants: served S
// in_subscripts: served S
// remainders: served S
// guarded: served SS
// guarded_value: served SS
// invariant: served SS
// guarded_loop: served SS
// bounds: served S
// bound_under_condition: served SSS
// added: served SSS
// also: vectorize values by_constants guarded guarded_value invariant added; parallelize values guarded guarded_value invariant bound_under_condition added
// march: x86-64-v3 x86-64-v2 x86-64
#include <limits.h>
#include "semantics.h"
NOINLINE void values(int n, int *restrict q, int *restrict r, const int *restrict a, const int *restrict b) {
  for (int i = 0; i < n; i++) {
    q[i] = a[i] / b[i];
    r[i] = a[i] % b[i];
  }
}
NOINLINE void by_constants(int n, int *restrict q, const int *restrict a) {
  for (int i = 0; i < n; i++) q[i] = a[i] / 4 + a[i] % 4 * 100 + a[i] / -3 + a[i] % -3 * 7 + (a[i] >> 2) + a[i] % 7;
}
NOINLINE void in_subscripts(int n, int *restrict x, const int *restrict y) {
  for (int i = 0; i < n; i++) x[i] = y[(i - 10) / 4 + 3] + y[(i - 10) % 4 + 3];
}
NOINLINE void remainders(int n, int k, int *restrict x) {
  for (int i = -n; i < n; i++) x[i + n] = i % 3 * 10 + i / 3 + (i - k) % 5 + (k - i) / 2;
}
NOINLINE void guarded(int n, int *restrict x, const int *restrict d) {
  for (int i = 0; i < n; i++)
    if (d[i] != 0) x[i] = 1000 / d[i] + x[i] % d[i];
}
NOINLINE void guarded_value(int n, int *restrict x, const int *restrict d) {
  for (int i = 0; i < n; i++) x[i] = d[i] ? 1000 / d[i] : -1;
}
NOINLINE void invariant(int n, int a, int d, int *restrict x) {
  for (int i = 0; i < n; i++)
    if (d != 0) x[i] = a / d + i;
}
NOINLINE void guarded_loop(int n, int a, int d, int *restrict x) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) x[j] += a / d;
}
NOINLINE int bounds(int n, int *restrict x) {
  int s = 0;
  for (int i = 0; i < n / 3; i++)
    for (int j = i % 4; j < (n + i) % 7 + i / 2; j++) x[j] += 1, s++;
  return s;
}
// What is asked ahead of these (how much work there is, what lies apart) divides by nothing, either.
NOINLINE void bound_under_condition(int n, int k, int s, int *x, const int *y) {
  for (int i = 0; i < n; i++)
    if (s > 0)
      for (int j = 0; j < k / s; j++) x[i] += y[j + k % s] * i;
}
NOINLINE void added(int n, int k, int s, int *restrict x) {
  for (int i = 0; i < n; i++)
    if (s > 0) x[i] += k / s + k % s * i;
}
int main(void) {
  enum { n = 43 };
  int a[n], b[n], q[n], r[2 * n];
  for (int i = 0; i < n; i++) {
    a[i] = (i % 2 ? -1 : 1) * (i * 37 % 101), b[i] = i % 5 - 7 + 2 * (i % 3);
    if (b[i] == 0) b[i] = -9;
  }
  a[0] = INT_MIN, b[0] = 3, a[1] = INT_MIN, b[1] = INT_MIN, a[2] = 5, b[2] = INT_MIN;
  values(n, q, r, a, b);
  print_ints("q", q, n), print_ints("r", r, n);
  by_constants(n, q, a);
  print_ints("constants", q, n);
  in_subscripts(20, q, a + 3);
  print_ints("subscripts", q, n);
  remainders(n, 5, r);
  print_ints("remainders", r, 2 * n);
  int d[n];
  for (int i = 0; i < n; i++) d[i] = i % 3 ? i - 20 : 0, q[i] = i;
  guarded(n, q, d);
  print_ints("guarded", q, n);
  memset(d, 0, sizeof d);
  guarded(n, q, d);
  guarded_value(n, q, d);
  d[7] = -3;
  guarded_value(n, q, d);
  print_ints("guarded", q, n);
  invariant(n, 100, 0, q);
  invariant(n, 100, -7, q);
  guarded_loop(1, 100, 0, q);  // no inner iteration: no division
  guarded_loop(9, 100, -9, q);
  print_ints("invariant", q, n);
  for (int s = -1; s < 2; s++) {
    bound_under_condition(n, 9, 3 * s, q, r);
    added(n, 9, 3 * s, q);
    print_ints("conditions", q, n);
  }
  printf("%d\n", bounds(n, q));
  print_ints("bounds", q, n);
}
