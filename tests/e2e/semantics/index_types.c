// Counters and subscripts narrower than a pointer: they wrap, promote and convert as C says.
// bytes: served S
// byte_wraps: c.loop.form
// strided_wrap: served O
// shorts: served S
// down: served SS
// down_by_wrap: c.loop.form
// minus_one: c.unsigned-wrap
// sizes: served SSS
// table: served O
// table_unsigned: served
// negative_bound: served S
// signed_against_unsigned: c.unsigned-wrap
// guarded_minus_one: served
// after: served S
// bool_counter: served S
// steps: c.loop.form
// four_extents: served SSSOOO
// wraps: served SOSOOOO
// march: x86-64-v3 x86-64-v2 x86-64
#include "semantics.h"
NOINLINE void bytes(unsigned char n, int *restrict x) {
  for (unsigned char i = 0; i < n; i++) x[i] += i;
}
NOINLINE int byte_wraps(int *restrict x) {
  int trips = 0;
  for (unsigned char i = 250; i != 5; i++) x[trips++] = i;
  return trips;
}
NOINLINE int strided_wrap(int n, int *restrict x) {
  int trips = 0;
  for (unsigned char i = 0; i < n; i += 100) x[i] = ++trips;
  return trips;
}
NOINLINE void shorts(short n, short m, int *restrict x) {
  for (short i = (short)(n - 1); i >= 0; i--)
    for (short j = 0; j <= m; j++) x[i * (m + 1) + j] += i - j;
}
NOINLINE void down(unsigned n, int *restrict x) {
  for (unsigned i = n; i-- > 0;) x[i] = x[i] * 2 + 1;
}
NOINLINE void down_by_wrap(unsigned n, int *restrict x) {
  for (unsigned i = n - 1; i < n; i--) x[i] += 3;
}
NOINLINE void minus_one(unsigned n, int *restrict x, const int *restrict y) {
  for (unsigned i = 0; i < n - 1; i++) {
    if (i == 9) break;
    x[i] = y[i];
  }
  for (unsigned i = 0; i + 1 < n; i++) x[i] += y[i + 1];
}
NOINLINE void sizes(size_t n, double *restrict x, const double *restrict y) {
  for (size_t i = 1; i < n; i++) x[i - 1] = y[i] + y[i - 1];
}
static const int lookup[256] = {1, 2, 3, [250] = 7, 8, 9, 10, 11, 12};
NOINLINE void table(int n, int *restrict x) {
  for (int i = 0; i < n; i++) x[i] = lookup[(unsigned char)(i + 250)];
}
NOINLINE void table_unsigned(unsigned n, int *restrict x, const int *restrict y) {
  for (unsigned i = 0; i < n; i++) x[i] = y[(i - 3u) & 15u] + y[(unsigned char)(i * 16)];
}
NOINLINE int negative_bound(int n, int *restrict x) {
  int s = 0;
  for (int i = -n; i < 0; i++) s += x[i + n] * i;
  return s;
}
NOINLINE int signed_against_unsigned(unsigned n, int *restrict x) {
  int trips = 0;
  for (int i = -1; i < n; i++) {
    x[i + 1] = 4;
    trips++;
  }
  return trips;
}
NOINLINE long after(int n, int *restrict x) {
  unsigned char c;
  short s;
  unsigned u;
  int i, j = 77;
  for (c = 0; c < 200; c += 7) x[c] = c;
  for (s = 30; s > -5; s -= 4) x[s + 5] = s;
  for (u = 3; u < 50; u += 5) x[u] += 2;
  for (i = 0; i < n; i++)
    for (j = i; j < n; j += 3) x[j] ^= i;
  return c * 1000000L + s * 10000 + u * 100 + i * 7 + j;
}
NOINLINE void bool_counter(int *restrict x) {
  for (int k = 0; k < 3; k++)
    for (char i = 'a'; i <= 'z'; i++) x[i - 'a'] += i * k;
}
NOINLINE void guarded_minus_one(unsigned n, int *restrict x, const int *restrict y) {
  for (unsigned i = 0; i + 1 < n; i++) x[i] += y[i + 1];
  if (n > 3)
    for (unsigned i = 0; i < n - 3; i++) x[i] ^= y[i];
}
NOINLINE void steps(long n, long long m, int *restrict x) {
  for (long long i = m; i < n; i += 1 << 30) x[i >> 30] += 1;
}
NOINLINE void four_extents(int a, int b, int c, int d, int *restrict x, const int *restrict y) {
  for (int i = 0; i < a; i++)
    for (int j = 0; j < b; j++)
      for (int k = 0; k < c; k++)
        for (int l = 0; l < d; l++)
          x[(((size_t)i * b + j) * c + k) * d + l] += y[(((size_t)i * b + j) * c + (c - 1 - k)) * d + l] - l;
}
NOINLINE void wraps(size_t n, size_t m, size_t s, size_t t, size_t u, int *restrict x) {
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < m; j++) x[i * s * t * u + j] += (int)(i + j);
}
int main(void) {
  int x[300], y[300];
  for (int i = 0; i < 300; i++) x[i] = 0, y[i] = i * i;
  bytes(255, x);
  printf("%d\n", byte_wraps(x));
  print_ints("bytes", x, 20);
  printf("%d\n", strided_wrap(220, x));
  shorts(11, 12, x);
  down(40, x), down(0, x);
  down_by_wrap(30, x), down_by_wrap(0, x);
  print_ints("down", x, 200);
  minus_one(5, x, y);
  minus_one(1, x, y);
  minus_one(0, x, y);
  print_ints("minus", x, 20);
  double d[20], e[20];
  for (int i = 0; i < 20; i++) d[i] = 0, e[i] = i;
  sizes(20, d, e), sizes(1, d, e), sizes(0, d, e);
  print_doubles("sizes", d, 20);
  table(60, x);
  print_ints("table", x, 60);
  table_unsigned(60, x, y);
  print_ints("table", x, 60);
  printf("%d\n", negative_bound(20, x));
  int trips = signed_against_unsigned(10, x);
  printf("%d\n", trips);
  printf("%ld\n", after(23, x));
  bool_counter(x);
  steps((5L << 30) + 1, 0, x);
  guarded_minus_one(0, x, y), guarded_minus_one(3, x, y), guarded_minus_one(40, x, y);
  print_ints("end", x, 300);
  four_extents(2, 3, 5, 7, x, y), four_extents(1, 1, 1, 30, x, y), four_extents(19, 4, 1, 1, x, y);
  four_extents(0, 3, 1 << 30, 1 << 30, x, y), four_extents(3, 4, 0, 1 << 30, x, y), four_extents(2, -5, 4, 3, x, y);
  print_ints("extents", x, 300);
  wraps(3, 4, 2, 3, 5, x), wraps(0, 4, -1, -1, -1, x), wraps(2, 0, 1, 9, 9, x), wraps(5, 2, 0, 7, 7, x);
  wraps(3, 9, (size_t)1 << 32, (size_t)1 << 20, (size_t)1 << 12, x), wraps(5, 3, -1, -1, 2, x);
  wraps(4, 20, ((size_t)1 << 63) + 1, 2, 3, x);
  print_ints("wraps", x, 300);
}
