// Scalars beside arrays: what a write might reach is compared on entry, by address.
// relax: served SO
// inside: served SO
// scale: served SSO
// guarded: served SSSS
// hidden: served S
// shown: served SO
// negate: served SSO
// extents: served S
// bins: served SSO
// shifted: served SO
// backwards: served S
// own: served S
// unchecked: hidden own
// also: vectorize relax scale; parallelize relax
#include "semantics.h"
double omega = 0.5;
NOINLINE void relax(int n, double *x, const double *restrict y) {
  for (int i = 0; i < n; i++) x[i] += omega * (y[i] - x[i]);
}
int count = 6;
NOINLINE void inside(int *x) {
  for (int i = 0; i < count; i++) x[i] -= count - i;
}
struct vector {
  int n;
  double scale, *data;
  unsigned char *bytes;
};
NOINLINE void scale(struct vector *v) {
  for (int i = 0; i < v->n; i++) v->data[i] *= v->scale;
}
// Read where it lies, and only when the program reads it.
NOINLINE void guarded(int n, double *restrict x, const struct vector *v) {
  for (int i = 0; i < n; i++)
    if (x[i] < 0) x[i] = v->scale;
}
static double unknown_outside = 3;
NOINLINE void hidden(int n, double *x) {
  for (int i = 0; i < n; i++) x[i] *= unknown_outside;
}
static double known_outside = 3;
NOINLINE void shown(int n, double *x) {
  for (int i = 0; i < n; i++) x[i] *= known_outside;
}
// Bytes may be anything: the structure itself, too.
NOINLINE void negate(struct vector *v) {
  for (int i = 0; i < v->n; i++) v->bytes[i] = 255 - v->bytes[i];
}
static const int width = 5;
NOINLINE void extents(int n, double x[n][width], double y[width]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < width; j++) x[i][j] += y[j];
}
// 256 bins at most; there need not be so many.
NOINLINE void bins(int n, const unsigned char *px, int *into) {
  for (int i = 0; i < n; i++) into[px[i]]++;
}
NOINLINE void shifted(int n, const double *x, double *y) {
  for (int i = 0; i < n; i++) y[i] = x[i - 2] + x[i + 2];
}
NOINLINE void backwards(int items, int capacity, const int *weight, long *best) {
  for (int i = 0; i < items; i++)
    for (int c = capacity; c >= weight[i]; c--)
      if (best[c - weight[i]] + i > best[c]) best[c] = best[c - weight[i]] + i;
}
struct product {
  double *restrict a, *restrict b;
};
NOINLINE void own(int n, const struct product *p) {
  for (int i = 0; i < n; i++) p->a[i] += p->b[i];
}
int main(void) {
  double x[12], y[12];
  for (int i = 0; i < 12; i++) x[i] = i - 3, y[i] = 20 - i;
  relax(12, x, y), relax(1, &omega, y);
  print_doubles("relax", x, 12);
  int k[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  inside(k);
  count = 1;
  inside(&count);
  print_ints("inside", k, 8);
  struct vector v = {12, 2, x, 0}, empty = {0, 3, 0, 0};
  scale(&v), scale(&empty);
  struct {
    struct vector v;
    double more[3];
  } both = {{3, 0.5, 0, 0}, {1, 2, 3}};
  both.v.data = &both.v.scale;
  both.v.n = 1;
  scale(&both.v);
  printf("%a\n", both.v.scale);
  print_doubles("scale", x, 12);
  for (int i = 0; i < 12; i++) x[i] = i - 3;
  guarded(12, x, &v), guarded(12, x, 0), guarded(0, 0, 0), guarded(3, y, &v);
  print_doubles("guarded", x, 12);
  hidden(12, x), shown(12, x), shown(1, &known_outside);
  print_doubles("shown", x, 12);
  printf("%a %a\n", known_outside, omega);
  unsigned char bytes[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  v.n = 10, v.bytes = bytes;
  negate(&v);
  v.bytes = (unsigned char *)&v.scale;
  v.n = (int)sizeof v.scale;
  negate(&v);
  v.bytes = (unsigned char *)&v.n, v.n = 4;
  struct vector before = v;
  negate(&v);
  print_bytes("negate", bytes, 10);
  print_bytes("vector", &v.n, sizeof v.n), print_bytes("vector", &before.scale, sizeof before.scale);
  double grid[3][5] = {{1}, {2}, {3}};
  extents(3, grid, y);
  print_doubles("extents", grid[0], 15);
  int *into = before_fence(20 * sizeof *into);
  unsigned char *px = before_fence(300);
  for (int i = 0; i < 300; i++) px[i] = i % 20;
  bins(300, px, into), bins(0, 0, 0);
  print_ints("bins", into, 20);
  for (int i = 0; i < 20; i++) into[i] = 0x01010101 * (i % 4);
  bins(16, (unsigned char *)into, into);
  print_ints("bins", into, 20);
  shifted(8, x + 2, y), shifted(8, y + 2, y);
  print_doubles("shifted", y, 12);
  long best[30] = {0};
  backwards(4, 29, (int[]){3, 5, 7, 1}, best);
  for (int i = 0; i < 30; i++) printf("%ld ", best[i]);
  struct product p = {x, y};
  own(12, &p);
  print_doubles("own", x, 12);
}
