// Two names for one object: what may be the same memory in C stays the same memory.
// global_under_parameter: served OOS
// scalar_in_memory: served OS
// member_scale: served O
// bound_in_memory: served O
// char_and_int: served OS
// signs: served OS
// enums: served OS
// based_on_restrict: served O
// chosen: served OS
// blind: served OS
// member_array: served OS
// bytes_over_pointer: served SO
// only_read: served S
// via_helper: served OS
// also: vectorize global_under_parameter signs chosen; parallelize global_under_parameter signs
#include "semantics.h"
static double g[60];
double scale = 3, factor[4] = {1, 2, 3, 4};
NOINLINE void global_under_parameter(int n, double *p) {
  for (int i = 0; i < n; i++) p[i] = g[i + 1] + 1;
}
NOINLINE void scalar_in_memory(int n, double *p) {
  for (int i = 0; i < n; i++) p[i] = p[i] * scale + 1;
}
struct scaled { long n; double scale; double *data; };
NOINLINE void member_scale(int n, double *p, struct scaled *s) {
  for (int i = 0; i < n; i++) p[i] = s->scale + 1;
}
NOINLINE void bound_in_memory(int *x, int *n) {
  for (int i = 0; i < *n; i++) x[i] = 5;
}
NOINLINE void char_and_int(int n, unsigned char *c, const int *x) {
  for (int i = 0; i < n; i++) c[i] = (unsigned char)(x[i / 4] + i);
}
NOINLINE void signs(int n, unsigned *u, const int *x) {
  for (int i = 0; i < n; i++) u[i] = (unsigned)x[i] + 7u;
}
enum colour { red, green, blue = 70000 };
NOINLINE void enums(int n, unsigned *u, const enum colour *c) {
  for (int i = 0; i < n; i++) u[i] = c[i] + 1u;
}
NOINLINE void based_on_restrict(int n, double *restrict p) {
  double *q = p + 1;
  for (int i = 0; i < n; i++) q[i] = p[i] + 1;
}
NOINLINE void chosen(int n, double *restrict x, double *z, int which) {
  double *y;
  if (which) y = x + 1; else y = z;
  for (int i = 0; i < n; i++) y[i] = x[i] + 1;
}
typedef int __attribute__((may_alias)) any_int;
NOINLINE void blind(int n, any_int *x, float *y) {
  for (int i = 0; i < n; i++) {
    x[i] += 1 << 20;
    y[i] += 1.5f;
  }
}
struct block { double a[20]; };
NOINLINE void member_array(int n, struct block *b, double *x) {
  for (int i = 0; i < n; i++) b->a[i + 1] = x[i] + 1;
}
struct buffer { unsigned char *at; int n; };
NOINLINE void bytes_over_pointer(struct buffer *b) {
  for (int i = 0; i < b->n; i++) b->at[i] = (unsigned char)(b->n + 1);
}
NOINLINE double only_read(int n, const double *x, const double *y, double *restrict out) {
  for (int i = 0; i < n; i++) out[i] = x[i] * y[i];
  return out[0];
}
static void put(double *to, double v) { *to = v; }
NOINLINE void via_helper(int n, double *x, double *y) {
  for (int i = 0; i < n; i++) put(&x[i], y[i] + 1);
}
int main(void) {
  for (int i = 0; i < 60; i++) g[i] = i;
  static double other[60];
  global_under_parameter(20, g);
  global_under_parameter(20, g + 2);
  global_under_parameter(20, other);
  print_doubles("global", g, 60);
  scalar_in_memory(1, &scale);
  scalar_in_memory(4, factor);
  print_doubles("scale", &scale, 1);
  double *m = calloc(64, sizeof *m);
  struct scaled *s = (struct scaled *)(m + 5);
  s->scale = 2.5;
  member_scale(20, m, s);
  print_doubles("member", m, 20);
  int x[40];
  for (int i = 0; i < 40; i++) x[i] = 9;
  bound_in_memory(x, x + 3);
  print_ints("bound", x, 12);
  for (int i = 0; i < 40; i++) x[i] = 1000 * i + 77;
  char_and_int(40, (unsigned char *)x + 2, x);
  char_and_int(40, (unsigned char *)(x + 10), x);
  print_ints("chars", x, 40);
  signs(20, (unsigned *)x + 1, x);
  signs(20, (unsigned *)x + 20, x);
  print_ints("signs", x, 40);
  static enum colour c[30];
  for (int i = 0; i < 30; i++) c[i] = blue;
  enums(20, (unsigned *)c + 1, c);
  print_ints("enums", (int *)c, 30);
  enums(20, (unsigned *)x, c);
  based_on_restrict(20, other);
  print_doubles("based", other, 30);
  chosen(20, other, g, 1);
  chosen(20, other, g, 0);
  print_doubles("chosen", other, 30);
  float fl[30];
  for (int i = 0; i < 30; i++) fl[i] = i + 1;
  blind(20, (any_int *)fl + 1, fl);
  print_floats("blind", fl, 30);
  blind(15, (any_int *)fl + 15, fl);
  print_floats("blind", fl, 30);
  static struct block b;
  for (int i = 0; i < 20; i++) b.a[i] = i * i;
  member_array(15, &b, b.a);
  member_array(15, &b, other);
  print_doubles("members", b.a, 20);
  struct buffer buf;
  buf.at = (unsigned char *)&buf.n - 1;
  buf.n = 1;
  unsigned char room[8] = {0};
  struct buffer far = {room, 5};
  bytes_over_pointer(&far);
  print_bytes("far", room, 8);
  bytes_over_pointer(&buf);
  printf("%d\n", buf.n);
  printf("%g\n", only_read(9, g, g, other));
  via_helper(10, other + 1, other);
  via_helper(10, other + 30, other);
  print_doubles("helper", other, 45);
  free(m);
}
