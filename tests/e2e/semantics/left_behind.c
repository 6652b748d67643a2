// What variables hold behind a nest: where a jump passes their next assignment by, where it is never evaluated, where
// one's value is computed from another that the nest changes too, and where only that value rests on an assumption.
// broken_off: served SS
// continued: served SSS
// in_case: served S
// past_case: served S
// through_block: served SS
// past_condition: served S
// temporary: served SS
// otherwise: served SS
// unevaluated: served S
// selected: served S
// sizes: served SSSSSS
// declared: served SS
// cleaned: served S
// in_order: served S
// begun_there: served SS
// swapped: served S
// counted: served SO
// clamped: served SOOO
// stepped: served SSO
// hidden: served S
// constants: served S
// also: vectorize broken_off in_order
#include "semantics.h"

static volatile int calls;  // no nest has a call in it
NOINLINE int call(void) { return (calls = calls + 1) < 0; }

NOINLINE int broken_off(int n, int *x, int c) {
  int i = 7;
  for (;;) {
    call();
    for (i = 0; i < n; i++) x[i] += i;
    if (c) break;
    i = 0;
    c++;
  }
  return i;
}
NOINLINE int continued(int n, int *x) {
  int i = 7, s = 0;
  for (int r = 0; r < 3; r++) {
    s = s * 100 + i + call();
    for (i = 0; i < n; i++) x[i] += r;
    if (x[0] < 9) continue;
    i = 0;
  }
  return s;
}
NOINLINE int in_case(int n, int *x, int c) {
  int i = 7;
  switch (c) {
    case 1:
    case 2:
      call();
      for (i = 0; i < n; i++) x[i] += i;
      break;
    default:
      i = 4;
  }
  return i;
}
NOINLINE int past_case(int n, int *x, int c) {
  int i = 9;
  switch (c) {
    case 1: {
      call();
      for (i = 0; i < n; i++) x[i] = i;
    } break;
    case 2:
      i = 0;
      break;
  }
  return i;
}
NOINLINE int through_block(int n, int *x, int c) {
  int i = 7;
  for (;;) {
    call();
    if (c > 1) {
      for (i = 0; i < n; i++) x[i] += i;
      if (c > 3) break;
    }
    i = 2;
    c++;
  }
  return i;
}
NOINLINE int past_condition(int n, int *x, int c) {
  int i;
  for (i = 0; i < n; i++) x[i] = i;
  do {
    if (c) break;
  } while ((i = call()) > 0);
  return i;
}
NOINLINE double temporary(int n, double *x, int c) {
  double t = 7;
  for (;;) {
    call();
    for (int i = 0; i < n; i++) {
      t = x[i] * 2;
      x[i] = t + 1;
    }
    if (c > 3) break;
    t = 2;
    c++;
  }
  return t;
}
NOINLINE int otherwise(int n, int *x, int c) {
  int i;
  for (i = 0; i < n; i++) x[i] = i;
  c ?: (i = 3);
  return i;
}
NOINLINE double unevaluated(int n, double *x) {
  double t = 7;
  for (int i = 0; i < n; i++) {
    t = x[i] * 2;
    x[i] = t + 1;
  }
  int k = sizeof(t = 3);
  return t + k;
}
NOINLINE double selected(int n, double *x) {
  int i;
  double t = 7;
  for (i = 0; i < n; i++) {
    t = x[i] * 2;
    x[i] = t + 1;
  }
  const int k = _Generic((t = 3), double : 3) + __builtin_constant_p(i = 3) + __builtin_choose_expr(1, 5, t = 4);
  return t + k + 100 * i;
}
// An array's size may be all that reads it.
NOINLINE int sizes(int n, double *x, int c) {
  int i, j, k;
  for (i = 0; i < n; i++) x[i] = i;
  if (c == 0) return (int)((char *)((double(*)[i])x + 1) - (char *)x);
  for (j = 0; j < n; j++) x[j] += j;
  if (c == 1) {
    double a[2][j];
    return sizeof a;
  }
  for (k = 0; k < n; k++) x[k] += k;
  typedef double row[k];
  return sizeof(row);
}
static int m = 1;
NOINLINE int declared(int n, double *x) {
  for (int i = 0; i < n; i++) x[i] = i;
  int m = n / 2;
  for (int i = 0; i < m; i++) x[i] += i;
  double (*p)[m] = (void *)x;
  return (int)((char *)(p + 1) - (char *)p);
}
static void shown(double *t) { printf("cleaned %g\n", *t); }
NOINLINE int cleaned(int n, double *x) {
  double t __attribute__((cleanup(shown))) = 5;
  for (int i = 0; i < n; i++) {
    t = x[i];
    x[i] = t + 1;
  }
  return n;
}
// j begins where i began.
NOINLINE int in_order(int i, int n, int m, int *x, int *y) {
  int j;
  for (int k = 0; k < 10; k++) y[k] = k;
  int i0 = i;
  for (; i < n; i++) x[i] = 0;
  for (j = i0; j < m; j++) x[j] += 1;
  return i * 1000 + j;
}
NOINLINE int begun_there(int i, int n, int m, int *x) {
  for (; i < n; i += 3) x[i] = 0;
  for (; i < m; i++) x[i] += 1;
  return i;
}
NOINLINE int swapped(int n, int m, int *x) {
  int i = n, j = m;
  for (int k = 0; k < 9; k++) x[k]++;
  for (n = j - 2; n < 20; n++) x[n]++;
  for (m = i + 2; m > 3; m--) x[m]++;
  return n * 100 + m;
}
NOINLINE int counted(int i, int n, int *x) {
  while (i < n) i += 3;
  for (int k = 0; k < 10; k++) x[k] = k;
  return i;
}
NOINLINE int clamped(int k, int lo, int hi, int *x, int *y) {
  for (int i = 0; i < 4; i++) x[k] += i;
  if (k < lo)
    k = lo;
  else if (k > hi)
    k = hi;
  for (int i = 0; i < 10; i++) y[i] = i;
  return k;
}
// In the graph, only how often the loop runs is left of n and step.
NOINLINE void stepped(unsigned long n, unsigned long step, int *x) {
  for (unsigned long i = 0; i < n; i += step) x[0] += 1;
}
// The k of the called function is another.
static int fill(int *x, int k, int n) {
  for (; k < n; k++) x[k] += k;
  return n;
}
NOINLINE int hidden(int n, int *x) {
  int k = 42, s = 0;
  for (int i = 0; i < n; i++) s += fill(x, i, n);
  if (s < 0) goto out;
  s += k;
out:
  return s + k * 1000;
}
NOINLINE void constants(int *x) {
  int n;
  int *p = &n;
  n = 10;
  *p = 5;
  for (int i = 0; i < n; i++) x[i] = 1;
}
int main(void) {
  int x[40] = {0}, y[40] = {0};
  double d[40] = {3, 4, 5};
  printf("broken_off %d\n", broken_off(5, x, 0));
  x[0] = 8;
  printf("continued %d\n", continued(5, x));
  printf("in_case %d %d %d\n", in_case(5, x, 2), in_case(5, x, 3), past_case(6, x, 1));
  printf("through_block %d\n", through_block(5, x, 3));
  printf("past_condition %d\n", past_condition(5, x, 1));
  printf("temporary %g\n", temporary(3, d, 3));
  printf("otherwise %d %d\n", otherwise(5, x, 1), otherwise(5, x, 0));
  printf("unevaluated %g %g\n", unevaluated(3, d), selected(3, d));
  printf("sizes %d %d %d\n", sizes(5, d, 0), sizes(6, d, 1), sizes(7, d, 2));
  printf("declared %d %d\n", declared(10, d), m);
  cleaned(3, d);
  printf("in_order %d\n", in_order(3, 9, 2, x, y));
  printf("begun_there %d\n", begun_there(1, 6, 11, x));
  printf("swapped %d\n", swapped(5, 8, x));
  printf("counted %d %d\n", counted(4, 10, x), counted(10, 4, x));
  int bounds[4][3] = {{1, 3, 7}, {1, 7, 3}, {5, 7, 3}, {9, 7, 3}};
  for (int k = 0; k < 4; k++) printf("clamped %d\n", clamped(bounds[k][0], bounds[k][1], bounds[k][2], x, y));
  stepped(7, 2, x), stepped(0, 1, x), stepped((1ul << 63) + 5, 1ul << 62, x);
  print_ints("left", x, 40), print_ints("left", y, 10), print_doubles("left", d, 40);
  for (int k = 0; k < 40; k++) x[k] = 0;
  printf("hidden %d\n", hidden(10, x));
  constants(x), print_ints("constants", x, 40);
}
