// Unsigned arithmetic and narrow stores wrap; signed arithmetic that the program keeps in range stays as it is.
// unsigned_sum: served S
// hash: served S
// narrow: served S
// products: served S
// shifts: served S
// minimum: served S
// mixed: served SS
// also: vectorize unsigned_sum narrow products shifts minimum; parallelize narrow products shifts minimum
// march: x86-64-v3 x86-64-v2 x86-64
#include <limits.h>
#include "semantics.h"
NOINLINE unsigned unsigned_sum(int n, const unsigned *x) {
  unsigned s = 0;
  for (int i = 0; i < n; i++) s += x[i] * 3000000019u;
  return s;
}
NOINLINE uint64_t hash(int n, const unsigned char *p) {
  uint64_t h = 14695981039346656037u;
  for (int i = 0; i < n; i++) h = (h ^ p[i]) * 1099511628211u;
  return h;
}
NOINLINE void narrow(int n, unsigned char *c, signed char *s, unsigned short *u, const int *x) {
  for (int i = 0; i < n; i++) {
    c[i] += x[i];
    s[i] = (signed char)(s[i] * 3 + x[i]);
    u[i]++;
  }
}
NOINLINE void products(int n, unsigned short *restrict u, uint64_t *restrict l, const unsigned *restrict x) {
  for (int i = 0; i < n; i++) {
    u[i] = (unsigned short)(u[i] * 3u);
    l[i] = x[i] * x[i] + (uint64_t)x[i] * x[i];
  }
}
NOINLINE void shifts(int n, int *restrict s, unsigned *restrict u, const int *restrict x) {
  for (int i = 0; i < n; i++) {
    s[i] = x[i] >> (i % 31);
    u[i] = (unsigned)x[i] >> (i % 32) ^ (unsigned)x[i] << (i % 32);
  }
}
NOINLINE void minimum(int n, long *restrict l, const int *restrict x) {
  for (int i = 0; i < n; i++) l[i] = (x[i] < 0 ? -(long)x[i] : x[i]) - 1u;
}
NOINLINE int mixed(int n, unsigned limit, int *restrict x) {
  int count = 0;
  for (int i = -2; i < n; i++)
    if (i < limit) {
      x[i + 2] = i;
      count++;
    }
  return count;
}
int main(void) {
  enum { n = 67 };
  unsigned u[n];
  int x[n];
  unsigned char c[n];
  signed char s[n];
  unsigned short w[n];
  uint64_t l[n];
  long m[n];
  for (int i = 0; i < n; i++) {
    u[i] = 4294967295u - 77777777u * (unsigned)i;
    x[i] = i % 3 ? INT_MIN + 5 * i : INT_MAX - 3 * i;
    c[i] = (unsigned char)(250 + i), s[i] = (signed char)i, w[i] = (unsigned short)(65530 + i);
  }
  printf("%u %016llx\n", unsigned_sum(n, u), (unsigned long long)hash(n, c));
  int step[n];
  for (int i = 0; i < n; i++) step[i] = 7 * i - 100;
  narrow(n, c, s, w, step);
  print_bytes("c", c, sizeof c), print_bytes("s", s, sizeof s), print_bytes("w", w, sizeof w);
  products(n, w, l, u);
  print_bytes("w", w, sizeof w), print_bytes("l", l, sizeof l);
  shifts(n, step, u, x);
  print_ints("shift", step, n), print_ints("shift", (int *)u, n);
  minimum(n, m, x);
  print_bytes("m", m, sizeof m);
  memset(x, 0, sizeof x);
  int first = mixed(20, 10, x), second = mixed(20, 4294967295u, x + 30);
  printf("%d %d\n", first, second);
  print_ints("mixed", x, n);
}
