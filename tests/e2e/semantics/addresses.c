// The address of a part of a local object, in every form: what it leads to is that object.
// of_element: served O
// of_row: served O
// of_rows: served O
// of_structures: served O
// of_member: served O
// of_inner: served O
// of_arrow: served O
// also: vectorize of_element of_row of_member
#include "semantics.h"
struct line { double n, a[40]; };
struct pair { double x, y; };
struct lines { struct line s[2]; };
// Filled by a macro: in place, so that each function has one nest that is served.
#define FILL(x, n) \
  for (int k = 0; k < (n); k++) (x)[k] = k; \
  fflush(stdout)
#define FILL_PAIRS(v) \
  for (int k = 0; k < 40; k++) (v)[k] = (struct pair){k, k}; \
  fflush(stdout)
NOINLINE double of_element(int n) {
  struct line s;
  FILL(s.a, 40);
  double *p = &s.a[1];
  fflush(stdout);
  for (int i = 0; i < n; i++) p[i] = s.a[i] + 1.5;
  return s.a[39];
}
NOINLINE double of_row(int n) {
  double m[4][10];
  FILL(m[0], 10);
  double *p = *m + 1;
  fflush(stdout);
  for (int i = 0; i < n; i++) p[i] = m[0][i] + 1.5;
  return m[0][9];
}
NOINLINE double of_rows(int n) {
  double m[4][10];
  FILL(m[0], 10);
  double *p = &(*m)[1];
  fflush(stdout);
  for (int i = 0; i < n; i++) p[i] = m[0][i] + 1.5;
  return m[0][9];
}
NOINLINE double of_structures(int n) {
  struct pair v[40];
  FILL_PAIRS(v);
  struct pair *p = &*v;
  fflush(stdout);
  for (int i = 0; i < n; i++) p[i + 1].x = v[i].x + 1.5;
  return v[39].x;
}
NOINLINE double of_member(int n) {
  struct pair v[40];
  FILL_PAIRS(v);
  double *p = &v[1].x;
  fflush(stdout);
  for (int i = 0; i < n; i++) p[2 * i] = v[i].x + 1.5;
  return v[39].x;
}
NOINLINE double of_inner(int n) {
  struct lines t;
  FILL(t.s[1].a, 40);
  double *p = &t.s[1].a[1];
  fflush(stdout);
  for (int i = 0; i < n; i++) p[i] = t.s[1].a[i] + 1.5;
  return t.s[1].a[39];
}
NOINLINE double of_arrow(int n) {
  struct line v[2];
  FILL(v->a, 40);
  double *p = &v->a[1];
  fflush(stdout);
  for (int i = 0; i < n; i++) p[i] = v[0].a[i] + 1.5;
  return v->a[39];
}
int main(void) {
  double r[] = {of_element(39), of_row(9), of_rows(9), of_structures(39), of_member(39), of_inner(39), of_arrow(39)};
  print_doubles("r", r, 7);
}
