// Loops that count by what they step: no iteration, one, none of them negative, wrapped, and what is left behind.
// down: served SSS
// down_from: served SOS
// once_at_least: served SS
// left_wrapped: served SSS
// up_to: served SSSO
// strided: served SSOO
// stepping: served SSOO
// by_four: served SS
// between: served SSS
// met: served SS
// overlapping: served SOO
// pixels: served SS
// skips: c.while
// variable_kept: served S
// last_value: served SO
// narrow: served S
// passes_back: served SS
// behind_other: served SS
// from_zero: served S
// down_a_table: served SS
// also: parallelize down from_zero pixels; vectorize down by_four up_to
#include "semantics.h"

NOINLINE int down(int n, int *restrict x, const int *restrict y) {
  while (n--) *x++ = 3 * *y++;
  return n;
}
NOINLINE long down_from(long n, int *x) {
  while (n > 0) {
    x[n - 1] += (int)n;
    n--;
  }
  return n;
}
NOINLINE unsigned once_at_least(unsigned n, int *x) {
  do *x++ += (int)n;
  while (--n);
  return n;
}
NOINLINE unsigned left_wrapped(unsigned n, int *x) {
  while (n--) x[n] = 7 + (int)n;
  return n;
}
NOINLINE int up_to(int i, int n, int *x) {
  while (i < n) {
    x[i] = i;
    i += 3;
  }
  return i;
}
NOINLINE void strided(int n, int incx, const int *restrict x, int incy, int *restrict y) {
  int i = 0, ix = 0, iy = 0;
  while (i < n) {
    y[iy] += 2 * x[ix];
    ix += incx;
    iy += incy;
    i++;
  }
}
NOINLINE int stepping(int n, int step, int *x) {
  int i;
  for (i = 0; i < n; i += step) x[i] = i;
  return i;
}
NOINLINE unsigned by_four(unsigned n, int *x) {
  while (n != 0) {
    x[0] = x[1] = x[2] = x[3] = (int)n;
    x += 4;
    n -= 4;
  }
  return n;
}
NOINLINE long between(int *p, int *end) {
  int *from = p;
  while (p < end) *p++ = 5;
  return p - from;
}
NOINLINE int *met(short *at, const short *end, int *sum) {
  while (at != end) *sum++ = *at++;
  return sum;
}
// The second may begin inside of the first.
NOINLINE void overlapping(int n, int *to, const int *from) {
  while (n-- > 0) *to++ = *from++ + 1;
}
NOINLINE void pixels(int rows, int columns, unsigned char *restrict to, int stride, const unsigned char *restrict from) {
  while (rows-- > 0) {
    unsigned char *q = to;
    int left = columns;
    while (left--) *q++ = (unsigned char)(255 - *from++);
    to += stride;
  }
}
NOINLINE int skips(int n, int *x) {
  while (n > 0) {
    if (x[n & 3] == 2) {
      n -= 2;
      continue;
    }
    x[n & 3]++;
    n--;
  }
  return n;
}
// The variable of an inner loop, before that has begun again.
NOINLINE void variable_kept(int n, int m, int j, int *restrict x) {
  for (int i = 0; i < n; i++) {
    int before = 2 * i;
    for (j = 0; j < m; j++) x[i * m + j] = before + j;
  }
}
NOINLINE int last_value(int n, int *x) {
  int k = 5, i = 0;
  do {
    x[k] = i;
    k += 2;
  } while (++i < n);
  return 100 * k + i;
}
NOINLINE unsigned char narrow(unsigned char n, int *x) {
  int i = 0;
  for (; i < n; i++) x[i] = n;
  while (n) n--;
  return n;
}
NOINLINE void passes_back(int n, int *x) {
  int *p = x + n;
  while (p > x) *--p = n - 1;
}
NOINLINE int behind_other(int n, int *restrict x) {
  int i = 0, k = 0;
  while (i < n) x[i++] = k, k += 2;
  while (i > 0) x[--i] += k;
  return i + k;
}
NOINLINE void from_zero(int n, double *restrict x) {
  int i = 0;
  while (i < n) {
    x[i] = x[i] * 2;
    ++i;
  }
}

// What is passed of a table is where its first row begins; the pointer to the table goes on as one.
NOINLINE int **down_a_table(int n, int m, int **rows) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++) (*rows)[j] += i * j;
    rows++;
  }
  return rows;
}

int main(void) {
  int x[64], y[64];
  for (int i = 0; i < 64; i++) x[i] = i * i % 17, y[i] = i % 11;
  printf("%d %d %d\n", down(0, x, y), down(1, x, y), down(20, x, y));
  print_ints("down", x, 64);
  printf("%ld %ld %ld\n", down_from(0, x), down_from(-4, x), down_from(30, x));
  print_ints("down_from", x, 64);
  printf("%u %u\n", once_at_least(1, x), once_at_least(9, x));
  printf("%u %u %u\n", left_wrapped(0, x), left_wrapped(1, x), left_wrapped(12, x));
  print_ints("left", x, 64);
  printf("%d %d %d %d\n", up_to(0, 10, x), up_to(2, 2, x), up_to(1, 50, x), up_to(9, 4, x));
  print_ints("up", x, 64);
  strided(10, 2, x, 3, y), strided(0, 1, x, 1, y), strided(9, 0, x, 1, y), strided(9, 1, x, -1, y + 20);
  print_ints("strided", y, 64);
  printf("%d %d %d %d\n", stepping(30, 7, x), stepping(0, 2, x), stepping(-5, 3, x), stepping(0, 0, x));
  printf("%u %u\n", by_four(0, x), by_four(16, x));
  print_ints("four", x, 64);
  printf("%ld %ld %ld\n", between(x, x), between(x, x + 9), between(x + 3, x + 40));
  print_ints("between", x, 64);
  short s[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  printf("%ld %ld\n", (long)(met(s, s, y) - y), (long)(met(s, s + 9, y) - y));
  overlapping(9, x, x + 20), overlapping(30, x + 1, x), overlapping(-3, x, y);
  print_ints("overlapping", x, 64);
  unsigned char a[60], b[60];
  for (int i = 0; i < 60; i++) a[i] = (unsigned char)(i * 7), b[i] = 1;
  pixels(4, 9, a, 12, b), pixels(3, 0, a, 5, b);
  print_bytes("pixels", a, 60);
  printf("%d\n", skips(20, x));
  variable_kept(4, 5, 9, y);
  printf("%d %d\n", last_value(8, x), last_value(0, x));
  printf("%d\n", narrow(7, x));
  passes_back(20, y), passes_back(0, y);
  printf("%d %d\n", behind_other(11, x), behind_other(0, x));
  double d[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  from_zero(8, d);
  int *rows[8];
  for (int i = 0; i < 8; i++) rows[i] = x + 8 * i;
  printf("down_a_table %d %d\n", (int)(down_a_table(8, 8, rows) - rows), (int)(down_a_table(3, 5, rows + 2) - rows));
  print_doubles("d", d, 8);
  print_ints("x", x, 64);
  print_ints("y", y, 64);
  return 0;
}
