// The right side of &&, || and ?: is evaluated where C evaluates it, and nowhere else.
// guard: served SS
// either: served S
// choose: served SS
// ends: served S
// pointer: served SS
// nested: served S
// member: served SS
// late: served OS
// chain: served S
// passed_by: served SS
// pointed: served SS
// also: vectorize either choose ends; parallelize choose ends
// march: x86-64-v3 x86-64-v2 x86-64
#include "semantics.h"
NOINLINE int guard(int n, int m, const double *x, const double *y) {
  int count = 0;
  for (int i = 0; i < n; i++)
    if (i < m && y[i] > x[i]) count++;
  return count;
}
NOINLINE void either(int n, int m, double *restrict x, const double *restrict y) {
  for (int i = 0; i < n; i++) x[i] = i >= m || y[i] > 3 ? 1 : 2;
}
NOINLINE void choose(int n, int m, double *restrict x, const double *restrict y) {
  for (int i = 0; i < n; i++) x[i] = i < m ? y[i] : -1;
}
NOINLINE void ends(int n, double *restrict x, const double *restrict y) {
  for (int i = 0; i < n; i++) x[i] = y[i] + (i > 0 ? y[i - 1] : 0) + (i + 1 < n ? y[i + 1] : 0);
}
NOINLINE void pointer(int n, int has, double *restrict x, const double *restrict bias) {
  for (int i = 0; i < n; i++) x[i] = has ? x[i] + *bias : x[i] + 1;
}
NOINLINE void nested(int n, const int *restrict at, double *restrict x, const double *restrict y) {
  for (int i = 0; i < n; i++)
    if (at[i] >= 0 && at[i] < n && (y[at[i]] > 2 || (at[i] > 0 && y[at[i] - 1] < 5))) x[i] = y[at[i]];
}
struct options { int limit; double scale; };
NOINLINE void member(int n, int has, double *restrict x, const struct options *o) {
  for (int i = 0; i < n; i++)
    if (has) x[i] *= o->scale;
}
NOINLINE void late(int n, int k, double *restrict x, const struct options *o) {
  for (int i = 0; i < n; i++) x[i] += 1;
  for (int i = 0; i < k; i++) x[i] *= o->scale + o->limit;
}
NOINLINE void chain(int n, int *restrict out, const int *restrict a, const int *restrict b) {
  for (int i = 0; i < n; i++) out[i] = (a[i] && b[a[i]]) + 2 * (!a[i] || b[a[i]] > 3) + 4 * (a[i] > 2 ? b[a[i]] : 0);
}
// The break leaves before the condition is looked at.
NOINLINE void passed_by(int n, int *restrict x, const struct options *restrict o) {
  for (int i = 0; i < n; i++) do {
      if (x[i] == 0) break;
      x[i]--;
    } while (x[i] > o->limit);
}
NOINLINE void pointed(int n, int *restrict x, const int *restrict limit) {
  for (int i = 0; i < n; i++) do {
      if (x[i] == 0) break;
      x[i]--;
    } while (x[i] > *limit);
}
int main(void) {
  enum { n = 41, m = 13 };
  double *x = before_fence(n * sizeof *x), *y = before_fence(m * sizeof *y), *z = before_fence(n * sizeof *z);
  for (int i = 0; i < n; i++) x[i] = i % 7, z[i] = i % 9;
  for (int i = 0; i < m; i++) y[i] = i % 5;
  printf("%d %d\n", guard(n, m, x, y), guard(n, 0, x, y + m));
  either(n, m, x, y);
  print_doubles("either", x, n);
  choose(n, m, x, y);
  choose(n, 0, x, 0);
  print_doubles("choose", x, n);
  ends(n, x, z);
  print_doubles("ends", x, n);
  pointer(n, 0, x, 0);
  pointer(n, 1, x, z + n - 1);
  print_doubles("pointer", x, n);
  int at[n];
  for (int i = 0; i < n; i++) at[i] = i % 3 ? i * 7 % 60 - 8 : i % 2 ? -1000000 : 1000000;
  nested(n, at, x, z);
  print_doubles("nested", x, n);
  struct options o = {2, 1.5};
  member(n, 0, x, 0);
  member(n, 1, x, &o);
  late(n, 0, x, 0);
  late(n, 5, x, &o);
  print_doubles("member", x, n);
  int a[n], b[n], out[n];
  for (int i = 0; i < n; i++) a[i] = i % 4 ? i : 0, b[i] = i % 5;
  chain(n, out, a, b);
  print_ints("chain", out, n);
  for (int i = 0; i < n; i++) out[i] = 0;
  passed_by(n, out, 0);
  pointed(n, out, 0);
  passed_by(n, a, &o);
  pointed(n, b, &o.limit);
  print_ints("passed_by", a, n);
  print_ints("pointed", b, n);
}
