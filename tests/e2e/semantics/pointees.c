// Sizes that are passed by their address, arrays that are counted from 1, and what a function has read before a nest.
// product: served SSOOO
// symmetric: served SSO
// counted: served SSO
// guarded_by_return: served S
// guarded_by_if: served SSS
// members_before: served S
// in_place: served SS
// by_array: served OS
// by_restrict: served OS
// also: parallelize product counted; vectorize counted guarded_by_return
#include "semantics.h"
// As Fortran is translated: all is passed by address, and each pointer is moved to the element with index 0.
NOINLINE int product(int *m, int *n, int *k, double *a, int *lda, double *b, int *ldb, double *c, int *ldc) {
  int a_dim1, a_offset, b_dim1, b_offset, c_dim1, c_offset, i__1, i__2, i__3, i__, j, l;
  double temp;
  a_dim1 = *lda;
  a_offset = 1 + a_dim1;
  a -= a_offset;
  b_dim1 = *ldb;
  b_offset = 1 + b_dim1;
  b -= b_offset;
  c_dim1 = *ldc;
  c_offset = 1 + c_dim1;
  c -= c_offset;
  i__1 = *n;
  for (j = 1; j <= i__1; ++j) {
    i__2 = *k;
    for (l = 1; l <= i__2; ++l) {
      temp = b[l + j * b_dim1] * 3;
      i__3 = *m;
      for (i__ = 1; i__ <= i__3; ++i__) c[i__ + j * c_dim1] += temp * a[i__ + l * a_dim1];
    }
  }
  return 0;
}
// The upper triangle, from the diagonal on.
NOINLINE void symmetric(const int *n, double *a, int lda) {
  a -= 1 + lda;
  for (int j = 1; j <= *n; j++)
    for (int i = 1; i <= j; i++) a[i + j * lda] = a[i + j * lda] * 2 + i;
}
// The bound lies in what the loop writes: C looks at it each time.
NOINLINE void counted(const int *n, int *x) {
  for (int i = 0; i < *n; i++) x[i] = 3 + i / 2;
}
NOINLINE int guarded_by_return(const int *n, const int *m, double *restrict x) {
  if (*n == 0 || *m == 0) return 1;
  for (int i = 0; i < *n; i++)
    if (x[i] > 0) x[i] -= *m;
  return 0;
}
NOINLINE void guarded_by_if(int n, const int *m, double *restrict x) {
  if (n > 3 && *m > 0)
    for (int i = 0; i < n; i++)
      if (x[i] < 0) x[i] += *m;
}
struct grid { int n, m; };
NOINLINE void members_before(const struct grid *g, const int *on, double *restrict x) {
  if (!on || g->n < 2) return;
  for (int i = 0; i < 8; i++)
    if (on[i]) x[i] += g->m;
}
// Nothing has read it before: it is read where it lies.
NOINLINE void in_place(int n, const int *m, double *restrict x) {
  for (int i = 0; i < n; i++)
    if (x[i] > 100) x[i] += *m;
}
// What a pointer leads to is written by the name of an object, or through what it is based on.
int total, list[64], out[64];
struct all { int n, of[8], k; } all;
NOINLINE void by_name(const int *n) {
  for (int i = 0; i < *n; i++) total--, out[i] += 1;
}
NOINLINE void by_array(const int *n) {
  for (int i = 0; i < 50; i++) list[i] += n[0];
}
NOINLINE int by_local(int w) {
  int own[64], m = 5, *n = &m;
  if (w) n = own + 3;
  for (int i = 0; i < 64; i++) own[i] = i;
  for (int i = 0; i < 64; i++) out[i] += *n, own[i] = 2;
  return own[9];
}
NOINLINE void by_restrict(int *restrict x, int w) {
  int *n = x + w;
  for (int i = 0; i < 50; i++) x[i] += *n;
}
NOINLINE void by_member(const int *n, double *x) {
  for (int i = 0; i < 10; i++) all.k += i, x[i] += *n;
}
NOINLINE void member_by_name(struct all *p) {
  for (int i = 0; i < 50; i++) out[i] += p->n, all.n = i;
}
NOINLINE void member_bound(struct all *p) {
  for (int i = 0; i < p->n; i++) out[i] += 1, all.n--;
}
NOINLINE void member_by_elements(struct all *p) {
  for (int i = 0; i < 8; i++) out[i] += p->k, all.of[i] = p->k, all.k = i;
}
NOINLINE void member_by_restrict(struct all *restrict q, int w) {
  struct all *p = q;
  if (w) p = q + 0;
  for (int i = 0; i < 50; i++) out[i] += p->n, q->n = i;
}
int main(void) {
  static double a[400], b[400], c[400], x[20];
  for (int i = 0; i < 400; i++) a[i] = i % 17 - 4, b[i] = i % 13 - 5, c[i] = i % 7;
  const int *gone = (int *)((char *)behind_fence(PAGE) - PAGE);  // no access here
  int m = 7, n = 5, k = 6, seven = 7, six = 6, nine = 9, five = 5, none = 0;
  product(&m, &n, &k, a, &seven, b, &six, c, &seven);  // columns lie side by side
  print_doubles("tight", c, 60);
  product(&m, &n, &k, a, &nine, b, &nine, c, &nine);  // room is left
  print_doubles("room", c, 70);
  product(&m, &n, &k, a, &seven, b, &six, c, &five);  // columns share elements
  print_doubles("shared", c, 60);
  product((int *)gone, &none, (int *)gone, a, &seven, b, &six, c, &seven);
  product((int *)gone, &n, &none, a, &seven, b, &six, c, &seven);
  symmetric(&five, a, 5), symmetric(&five, a, 6), symmetric(&five, a, 3);
  print_doubles("symmetric", a, 60);
  static int counts[40];
  counts[0] = 40, counts[1] = 30, counts[2] = 20;
  int twelve = 12;
  counted(&twelve, counts), counted(&twelve, counts + 20);
  counts[7] = 30;
  counted(counts + 7, counts);
  print_ints("counted", counts, 40);
  for (int i = 0; i < 20; i++) x[i] = i % 5 - 2;
  printf("%d", guarded_by_return(&nine, &five, x));
  printf("%d", guarded_by_return(&none, gone, x));
  printf("%d\n", guarded_by_return(&seven, &none, x));
  guarded_by_if(20, &five, x), guarded_by_if(2, gone, x), guarded_by_if(20, &none, x);
  print_doubles("guarded", x, 20);
  struct grid g = {3, 4}, small = {1, 9};
  int on[8] = {1, 0, 0, 1, 1, 0, 1, 1};
  members_before(&g, on, x), members_before(&small, on, x), members_before((struct grid *)gone, 0, x);
  in_place(20, gone, x), in_place(0, 0, x);
  print_doubles("x", x, 20);
  int other = 6;
  total = 40, by_name(&total), by_name(&other);
  by_array(list + 7), by_array(&other), list[50] = 9, by_restrict(list, 4), by_restrict(list, 50);
  printf("%d %d", by_local(0), by_local(1));
  by_member(&all.k, x), by_member(&other, x);
  struct all some = {5, {1}, 2};
  all.n = 30;
  member_by_name(&all), member_by_name(&some), all.n = 30, member_bound(&all), member_bound(&some);
  member_by_elements(&all), member_by_elements(&some), member_by_restrict(&all, 0), member_by_restrict(&all, 1);
  printf(" %d %d %d\n", total, all.n, all.k);
  print_ints("list", list, 51), print_ints("out", out, 64), print_ints("of", all.of, 8), print_doubles("x", x, 20);
}
