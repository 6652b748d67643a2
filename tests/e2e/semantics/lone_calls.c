// Calls with effects inside of expressions; pointers into places that are read from memory; effects in conditions.
// tournament: served SSO
// draws: served SS
// walk: served SS
// counted: served SS
// sampled: served SSS
// rows_of: served SSS
// moved: served S
// tested: served SS
// before: served SS
// added: served SS
// outputs: served SS
// stepped: served SSO
// placed: c.loop.bound-changes
// computed: c.loop.bound-changes
// steady: served SS
// placed_by_itself: c.side-effect
// chained_by_itself: c.side-effect
// beside: c.call.not-inlinable
// also: parallelize draws tournament
// flags: -O2 | -O2 -fno-strict-aliasing
#include <math.h>
#include <stdint.h>
#include "semantics.h"
// Writes through its pointer and returns a value.
static int play(unsigned seed, int *restrict rolls) {
  int sum = 0, ones = 0, count = 0;
  while (sum <= 100) {
    seed = seed * 1664525u + 1013904223u;
    int die = (int)((seed >> 16) % 6u) + 1;
    count++;
    if (die == 1 && ++ones == 3) break;
    sum += die;
  }
  *rolls = count;
  return sum;
}
NOINLINE void tournament(int n, int *sums, int *rolls) {
  for (int g = 0; g < n; g++) sums[g] = play((unsigned)g, &rolls[g]);
}
typedef struct { uint64_t s; } rng;
static uint64_t next(rng *r) {
  uint64_t z = (r->s += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  return z ^ (z >> 31);
}
static double uniform(rng *r) { return (next(r) >> 11) * 0x1.0p-53; }
NOINLINE void draws(int n, double *restrict out) {
  for (int i = 0; i < n; i++) {
    rng r = {(uint64_t)i * 7919 + 1};
    double sum = 0;
    for (int k = 0; k < 5; k++) {
      double a = uniform(&r), b = uniform(&r);
      sum += sqrt(a) - b;
      if (uniform(&r) < 0.25) sum = -sum;
      sum += uniform(&r);
    }
    out[i] = sum;
  }
}
static unsigned state = 5;
static unsigned draw(void) {
  state = state * 1103515245u + 12345u;
  return (state >> 16) & 0x7fff;
}
static double between(double a, double b) { return a + (b - a) * draw() / 32768.0; }
NOINLINE void walk(int n, double *restrict x) {
  for (int i = 0; i < n; i++) x[i] = between(-1, i);
}
NOINLINE int counted(int n, const int *x, int *restrict k) {
  int last = 0;
  for (int i = 0; i < n; i++)
    if (x[i] > 2 && k[0]++ > 1) last = i;
  return last;
}
struct rgb { unsigned char r, g, b; };
NOINLINE void sampled(int w, int h, const struct rgb *in, struct rgb *out, int size) {
  for (int y = 0; y < size; y++) {
    int iy = (int)(y * (float)(h - 1) / size);
    for (int x = 0; x < size; x++) {
      int ix = (int)(x * (float)(w - 1) / size);
      const struct rgb *p = in + iy * w + ix;
      ix = 0;
      out[y * size + x].r = (unsigned char)((p[0].r + p[1].r) / 2);
      out[y * size + x].g = p[w].g;
      out[y * size + x].b = (unsigned char)(p[w + 1].b + ix);
    }
  }
}
NOINLINE void rows_of(int n, int m, const int *at, const double *x, double *restrict out) {
  for (int i = 0; i < n; i++) {
    const double *row = x + at[i] * m;
    out[i] = 0;
    for (int j = 0; j < m; j++) out[i] += row[j];
  }
}
// Where it points is as it was, whatever becomes of what it was read from.
NOINLINE void moved(int n, int *restrict at, double *restrict x) {
  for (int i = 0; i < n; i++) {
    double *p = x + at[i];
    at[i] = 0;
    *p += i;
    p[1] = at[i];
  }
}
NOINLINE void tested(int n, int *restrict x, int *restrict out) {
  for (int i = 0; i < n; i++) {
    int t, seen = 0;
    if ((t = x[i] * 2) > 6 && (out[i] = t + 1) > 9) seen++;
    if ((x[i] = t - 1) > 5) seen += 2;
    if (seen++ || ++seen > 1) out[i] += seen;
  }
}
// Arguments are read before the call.
static double with_draw(double a) { return a + draw(); }
NOINLINE void before(int n, double *restrict x) {
  for (int i = 0; i < n; i++) x[i] = with_draw(state % 64);
}
NOINLINE void added(int n, double *restrict x) {
  for (int i = 0; i < n; i++) x[i] += 2 * with_draw(i);
}
// Results in variables whose addresses are passed.
static void polar(double x, double y, double *r, double *q) {
  *r = sqrt(x * x + y * y);
  q[0] = *r > 0 ? x / r[0] : 0;
}
static void both(int *a, int *b) {
  ++*a;
  *b += *a;
}
static double area(double x, double y) {
  double r, q = 0;
  polar(x, y, &r, &q);
  polar(r, q, &q, &r);
  return r + 2 * q;
}
NOINLINE void outputs(int n, const double *x, double *restrict out) {
  for (int i = 0; i < n; i++) {
    double r, q = 3;
    int a = i, b = 2;
    both(&a, &b);
    both(&b, &a);
    both(&a, &a);
    polar(x[i], i, &r, &q);
    out[i] = r * q + area(x[i], r) + a * 10 + b;
  }
}
// A pointer that begins where data says, and is stepped from there.
NOINLINE void stepped(int n, int m, const int *at, const double *x, double *out) {
  for (int i = 0; i < n; i++) {
    const double *p = x + at[i];
    double sum = 0;
    for (int j = 0; j < m; j++) sum += *p++ * j;
    out[i] = sum + *p;
  }
}
// A bound is looked at before each iteration.
static int get(const int *p) { return *p; }
NOINLINE void placed(int n, int *restrict at, const int *restrict x, int *restrict out) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < get(x + at[i]); j++) {
      out[i] += j;
      if (j == 1) at[i] = 0;
    }
}
NOINLINE void computed(int n, int *restrict at, const int *restrict x, int *restrict out) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < x[at[i] ^ 1]; j++) {
      out[i] += j;
      if (j == 1) at[i] = 0;
    }
}
NOINLINE void steady(int n, const int *at, const int *x, double *restrict out) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < x[at[i] ^ 1]; j++) out[i] += j;
}
// Which comes first, the call or the variable that it changes?
// The value is what was assigned, wherever the assignment has moved the place to.
NOINLINE void placed_by_itself(int n, int *a, int *restrict out) {
  for (int i = 0; i < n; i++)
    if ((a[a[i]] = 5) > 3) out[i] = 1;
}
NOINLINE void chained_by_itself(int n, int *a, int *restrict out) {
  for (int i = 0; i < n; i++) out[i] = a[a[i]] = 5;
}
NOINLINE void beside(int n, unsigned *x) {
  for (int i = 0; i < n; i++) x[i] = state + draw();
}
int main(void) {
  int sums[40], rolls[40] = {0};
  tournament(40, sums, rolls);
  tournament(0, sums, sums);
  print_ints("sums", sums, 40);
  print_ints("rolls", rolls, 40);
  tournament(20, sums, sums + 1);
  print_ints("sums", sums, 40);
  double x[60], out[60];
  draws(60, out);
  draws(1, out);
  print_doubles("draws", out, 60);
  walk(60, x);
  walk(3, x);
  print_doubles("walk", x, 60);
  int k[1] = {0};
  printf("%d %d %d %u\n", counted(40, sums, k), counted(0, sums, k), k[0], state);
  struct rgb in[90], to[150];
  memset(to, 9, sizeof to);
  for (int i = 0; i < 90; i++) in[i] = (struct rgb){(unsigned char)(i * 3), (unsigned char)(255 - i), (unsigned char)(i * i)};
  sampled(9, 10, in, to, 12);
  sampled(9, 10, in, to, 0);
  sampled(6, 6, to, to + 20, 7);
  for (int i = 0; i < 150; i++) printf("%d %d %d ", to[i].r, to[i].g, to[i].b);
  int at[8] = {3, 1, 0, 2, 3, 3, 5, 4};
  rows_of(8, 10, at, x, out);
  rows_of(0, 10, 0, 0, 0);
  rows_of(5, 5, at, out, x);
  print_doubles("rows", out, 8);
  moved(8, at, x);
  print_doubles("moved", x, 60);
  int y[12], z[12] = {0};
  for (int i = 0; i < 12; i++) y[i] = i * 5 % 9;
  tested(12, y, z);
  tested(0, 0, 0);
  print_ints("y", y, 12);
  print_ints("z", z, 12);
  before(60, x), before(1, out);
  print_doubles("before", x, 60);
  added(60, x), added(1, out);
  print_doubles("added", x, 60);
  outputs(60, x, out), outputs(0, x, out);
  print_doubles("outputs", out, 60);
  int from[8] = {3, 1, 0, 2, 3, 3, 5, 4};
  stepped(8, 10, from, x, out), stepped(0, 10, 0, 0, 0), stepped(8, 3, from, out, out + 2);
  print_doubles("stepped", out, 60);
  int rows[4] = {3, 2, 1, 0}, again[4] = {3, 2, 1, 0}, ends[4] = {3, 5, 7, 9}, got[4] = {0};
  placed(4, rows, ends, got), computed(4, again, ends, got), steady(4, again, ends, out), steady(0, 0, 0, 0);
  print_ints("rows", rows, 4), print_ints("again", again, 4), print_ints("got", got, 4);
  print_doubles("steady", out, 4);
  unsigned u[5];
  int own[9] = {0, 1, 2, 3, 4, 0, 0, 0, 0}, seen[9] = {0};
  placed_by_itself(5, own, seen);
  for (int i = 0; i < 9; i++) printf("%d %d ", own[i], seen[i]), own[i] = i;
  chained_by_itself(5, own, seen);
  for (int i = 0; i < 9; i++) printf("%d %d ", own[i], seen[i]);
  beside(5, u);
  printf("%u %u\n", u[0], u[4]);
}
