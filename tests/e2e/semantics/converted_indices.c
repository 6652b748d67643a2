// Integers that are converted on the way to a subscript, a bound or a condition: what they wrap to is what counts.
// feeds_itself: served S
// hashed: served S
// bytes: served S
// shorts: served S
// far_away: served S
// doubled: served S
// trips: served S
// bound: served S
// narrow_bound: served S
// of_parameter: served S
// small: served S
// quotient: served SO
// remainder: served SS
// multiple: served SO
// product: served SO
// sum: served SO
// also: vectorize small; parallelize small
// march: x86-64-v3
#include <limits.h>
#include "semantics.h"
// Which branch is taken no bound says: what one stores the other reads.
NOINLINE void feeds_itself(int n, int *restrict x) {
  for (int i = 1; i < n; i++) {
    int h = (int)(i * 1103515245L + 12345);
    if (h > 0)
      x[i] = x[i - 1] + 1;
    else
      x[i] = x[i - 1] + 3;
  }
}
NOINLINE void hashed(int n, int *restrict x) {
  for (long i = 1; i < n; i++)
    if ((int)(i * 2654435761L) < 0) x[i] = x[i - 1] + 1;
}
NOINLINE void bytes(int n, int *restrict x) {
  for (int i = 0; i < n; i++) {
    signed char c = (signed char)i;
    x[c + 128] = i;
  }
}
NOINLINE void shorts(int n, int *restrict x) {
  for (int i = 0; i < n; i++) {
    short c = (short)(i * 2000);
    for (int j = 0; j < 3; j++) x[(c + 32768) / 1000 + j] += i;
  }
}
NOINLINE void far_away(int n, int *restrict x) {
  for (long i = 0; i < n; i++) {
    int h = (int)(i + 4294967296L);
    x[h] = (int)i + 1;
  }
}
NOINLINE void doubled(int n, int *restrict x) {
  for (int i = 1; i < n; i++) {
    unsigned a = (unsigned)i;
    a = a + a, a = a + a, a = a + a, a = a + a, a = a + a, a = a + a, a = a + a, a = a + a, a = a + a, a = a + a;
    a = a + a, a = a + a, a = a + a, a = a + a, a = a + a, a = a + a, a = a + a, a = a + a, a = a + a, a = a + a;
    a = a + a, a = a + a, a = a + a, a = a + a, a = a + a, a = a + a, a = a + a, a = a + a, a = a + a, a = a + a;
    if ((int)a < 0) x[i] = x[i - 1] + 1;
  }
}
NOINLINE void trips(int n, int *restrict x) {
  for (int i = 0; i < n; i++) {
    int c = (int)(i * 2654435761L);
    for (int j = 0; j < c; j += 100000000) x[i] += 1;
  }
}
NOINLINE void bound(int n, int *restrict x) {
  for (int i = 0; i < n; i++) {
    int c = (signed char)(i * 5);
    for (int j = 0; j < c; j++) x[j] += 1;
  }
}
NOINLINE void narrow_bound(int n, int *restrict x) {
  for (int i = 0; i < n; i++) {
    short c = (short)(i * 300);
    for (int j = c; j < 100; j += 1000) x[i] += 1;
  }
}
NOINLINE void of_parameter(int n, long s, int *restrict x) {
  for (int i = 0; i < n; i++) {
    int c = (int)s + i;
    x[c] += i;
  }
}
// What keeps its value is as good as not converted.
NOINLINE void small(int n, int *restrict x, const int *restrict y) {
  for (long i = 0; i < n; i++) {
    int c = (int)i;
    if ((int)i < n - 1) x[c] = y[c + 1];
  }
}
NOINLINE void quotient(int n, uint64_t h, const unsigned *restrict x, unsigned *restrict y) {
  for (int i = 0; i < n; i++) {
    unsigned char v = (unsigned char)(h / 64u);
    y[i] = v + x[h % 61];
  }
}
NOINLINE void remainder(int n, int k, const unsigned *restrict x, unsigned *restrict y) {
  for (int i = 0; i < n; i++) {
    int v = (k - i) % 8;
    y[i] = x[(unsigned char)v] + (unsigned)v;
  }
}
NOINLINE void multiple(int n, uint64_t h, const unsigned *restrict x, unsigned *restrict y) {
  for (int i = 0; i < n; i++) y[i] = x[h * 5 % 61] + (unsigned)i;
}
NOINLINE void product(int n, unsigned s, const unsigned *restrict x, unsigned *restrict y) {
  for (int i = 0; i < n; i++) y[i] = x[s * 2654435761u % 61] + (unsigned)i;
}
NOINLINE void sum(int n, uint64_t h, const unsigned *restrict x, unsigned *restrict y) {
  for (unsigned i = 0; i < (unsigned)n; i++) y[i] = x[(h + i) % 61];
}
int main(void) {
  enum { n = 300 };
  static int x[n], y[n];
  static unsigned u[n], v[n];
#define RUN(call)        \
  call;                  \
  print_ints(#call, x, n); \
  memset(x, 0, sizeof x)
  RUN(feeds_itself(60, x));
  RUN(hashed(60, x));
  RUN(bytes(200, x));
  RUN(shorts(n, x));
  RUN(far_away(n, x));
  RUN(doubled(60, x));
  RUN(trips(60, x));
  RUN(bound(100, x));
  RUN(narrow_bound(n, x));
  RUN(of_parameter(n - 5, 4294967296L * 3 + 5, x));
  for (int i = 0; i < n; i++) y[i] = i * i, u[i] = 1000u * (unsigned)i;
  RUN(small(n, x, y));
#define PAIR(name, few, many)           \
  name(7, few, u, v), name(7, many, u, v + 7); \
  print_ints(#name, (int *)v, 14)
  PAIR(quotient, 130, 0x9E3779B97F4A7C15u);
  PAIR(remainder, 13, -5);
  PAIR(multiple, 7, ((uint64_t)1 << 61) + 1);
  PAIR(product, 1, UINT_MAX);
  PAIR(sum, 7, ((uint64_t)1 << 63) - 4);
}
