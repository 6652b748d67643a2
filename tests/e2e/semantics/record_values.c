// Structures as values, and functions that take pointers to them.
// scale: served SS
// rotate: served SS
// last: served SS
// first: served SS
// copy: served SSO
// padded: c.struct
// rows: served S
// through: served SSO
// inner: served S
// set_count: c.call.not-inlinable
// followed: served S
// linked: served S
// also: unroll copy
#include "semantics.h"
struct complex { double re, im; };
NOINLINE void scale(int n, struct complex *x, struct complex by) {
  for (int i = 0; i < n; i++) {
    struct complex z = x[i];
    x[i].re = z.re * by.re - z.im * by.im;
    x[i].im = z.re * by.im + z.im * by.re;
  }
}
NOINLINE void rotate(int n, struct complex *x) {
  struct complex t;
  for (int i = 0; i + 1 < n; i++) {
    t = x[i];
    x[i] = x[i + 1];
    x[i + 1] = t;
  }
}
// Which structure is read, or written, is read from one that is written.
struct node { int next, value; };
NOINLINE void followed(int n, struct node *a) {
  for (int i = 0; i < n; i++) a[i] = a[a[i].next];
}
NOINLINE void linked(int n, struct node *a, const struct node *restrict b) {
  for (int i = 0; i < n; i++) a[a[i].next] = b[i];
}
// Read after the nest.
NOINLINE double last(int n, const struct complex *x) {
  struct complex t = {7, 9};
  double s = 0;
  for (int i = 0; i < n; i++) {
    t = x[i];
    s += t.re;
  }
  return s + t.im;
}
// Read before it is set.
NOINLINE void first(int n, const struct complex *x, double *restrict y) {
  struct complex t = {7, 9};
  for (int i = 0; i < n; i++) {
    y[i] = t.re - t.im;
    t = x[i];
  }
}
struct point { float at[3]; int tag; };
NOINLINE void copy(int n, struct point *to, const struct point *from) {
  for (int i = 0; i < n; i++) to[i] = from[n - 1 - i];
}
struct gap { char tag; double x; };
NOINLINE void padded(int n, struct gap *to, const struct gap *from) {
  for (int i = 0; i < n; i++) to[i] = from[i];
}
struct matrix { long rows, columns; double *data; };
static inline double get(const struct matrix *m, long i, long j) { return m->data[i * m->columns + j]; }
static inline void set(struct matrix *m, long i, long j, double x) { m->data[i * m->columns + j] = x; }
static inline double twice(const struct matrix *m, long i, long j) { return get(m, i, j) * 2; }
NOINLINE void rows(struct matrix *a, const struct matrix *b) {
  for (long i = 0; i < a->rows; i++)
    for (long j = 0; j < a->columns; j++) set(a, i, j, get(b, j, i) + twice(a, i, j));
}
NOINLINE void through(int n, struct matrix *a, double *x) {
  for (int i = 0; i < n; i++) x[i] += get(a, i, i);
}
struct view { int tag; struct matrix m; };
NOINLINE double inner(struct view *v) {
  struct view own = *v;
  double s = 0;
  for (long i = 0; i < v->m.rows; i++) s += get(&v->m, i, 0) * get(&own.m, i, i);
  return s;
}
static inline void count(struct matrix *m) { m->rows = m->rows + 1; }
NOINLINE void set_count(int n, struct matrix *a, double *x) {
  for (int i = 0; i < n; i++) {
    count(a);
    x[i] = a->rows;
  }
}
int main(void) {
  struct complex x[10];
  for (int i = 0; i < 10; i++) x[i] = (struct complex){i, 10 - i};
  scale(9, x, (struct complex){1.5, -2});
  scale(0, x, x[0]);
  rotate(10, x);
  rotate(1, x);
  print_doubles("x", &x[0].re, 20);
  printf("%.17g %.17g\n", last(10, x), last(0, x));
  double y[10];
  first(10, x, y);
  first(1, x, y);
  print_doubles("first", y, 10);
  struct point p[30];
  for (int i = 0; i < 30; i++) p[i] = (struct point){{i, i + 0.5f, -i}, 100 + i};
  copy(10, p + 10, p);
  copy(10, p + 10, p + 20);
  copy(10, p + 5, p);
  for (int i = 0; i < 30; i++) printf("%g %g %g %d ", p[i].at[0], p[i].at[1], p[i].at[2], p[i].tag);
  struct gap g[8], h[8];
  memset(g, 0, sizeof g);
  memset(h, 0xff, sizeof h);
  for (int i = 0; i < 8; i++) h[i].x = i;
  padded(8, g, h);
  printf("%d\n", memcmp(g, h, sizeof g));
  double d[64], e[64];
  for (int i = 0; i < 64; i++) d[i] = i, e[i] = 64 - i;
  struct matrix a = {8, 8, d}, b = {8, 8, e};
  rows(&a, &b);
  through(8, &a, e);
  through(8, &a, e + 3);
  through(8, &a, d + 3);
  print_doubles("d", d, 64);
  print_doubles("e", e, 64);
  struct node chain[12], others[12];
  for (int i = 0; i < 12; i++) chain[i] = (struct node){i * 5 % 12, i}, others[i] = (struct node){i * 7 % 12, 100 + i};
  followed(12, chain);
  for (int i = 0; i < 12; i++) printf("%d %d ", chain[i].next, chain[i].value);
  for (int i = 0; i < 12; i++) chain[i].next = i * 5 % 12;
  linked(12, chain, others);
  for (int i = 0; i < 12; i++) printf("%d %d ", chain[i].next, chain[i].value);
  struct view v = {1, a};
  printf("%.17g\n", inner(&v));
  set_count(5, &a, e);
  print_doubles("e", e, 64);
}
