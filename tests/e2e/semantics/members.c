// Members of structs are read where the program reads them: not on entry to a nest that never does.
// in_body: served SOO
// under_condition: served S
// header: served SS
// two_roots: served SOO
// inner_body: served SOO
// array_member: served SS
// after_loop: served SOO
// helper_parameter: served SS
// local_struct: served S
// both: served SO
// narrow: served SOO
// also: vectorize in_body header array_member; parallelize in_body header
#include "semantics.h"
struct grid { int n, m; double scale, *data; double fixed[8]; };
NOINLINE void in_body(int n, double *restrict x, const struct grid *g) {
  for (int i = 0; i < n; i++) x[i] = x[i] * g->scale + g->m;
}
NOINLINE void under_condition(int n, double *restrict x, const struct grid *g) {
  for (int i = 0; i < n; i++)
    if (x[i] < 0) x[i] = g->scale;
}
NOINLINE void header(double *restrict x, const struct grid *g) {
  for (int i = 0; i < g->n; i++) x[i] += g->scale;
}
NOINLINE void two_roots(double *restrict x, const struct grid *g, const struct grid *h) {
  for (int i = 0; i < g->n; i++) x[i] += h->scale;
}
NOINLINE void inner_body(int n, int m, double *restrict x, const struct grid *g) {
  for (int i = 0; i < n; i++)
    for (int j = i; j < m; j++) x[j] += g->scale * i;
}
NOINLINE void array_member(int n, double *restrict x, const struct grid *g) {
  for (int i = 0; i < n; i++) x[i] += g->fixed[i];
}
NOINLINE void after_loop(int n, int k, double *restrict x, const struct grid *g) {
  for (int i = 0; i < n; i++) x[i] += 1;
  for (int i = 0; i < k; i++) x[i] *= g->scale + g->m;
}
// The called function's parameter has the name of another variable of the caller.
static double scaled(const struct grid *g, int i) { return g->scale * i; }
NOINLINE void helper_parameter(int n, double *restrict x, const struct grid *g, const struct grid *other) {
  for (int i = 0; i < n; i++) x[i] = x[i] + scaled(other, i) + g->m;
}
NOINLINE double local_struct(int n, const double *x) {
  struct grid g = {n, 2, 0.5, 0, {0}};
  double s = 0;
  for (int i = 0; i < g.n; i++) s += x[i] * g.scale;
  return s;
}
NOINLINE void both(struct grid *restrict g, int n) {
  for (int i = 0; i < n; i++) g->data[i] += g->fixed[i];
}
// No iteration where m is 256: the bound is that of the conversion.
NOINLINE void narrow(int m, double *restrict x, const struct grid *g) {
  for (int i = 0; i < (unsigned char)m; i++) x[i] *= g->scale;
}
int main(void) {
  double x[20];
  for (int i = 0; i < 20; i++) x[i] = i;
  struct grid g = {10, 3, 1.5, x, {1, 2, 3}}, empty = {0, 0, 0, 0, {0}}, h = {5, 9, -2, x + 3, {4, 5}};
  struct grid *gone = behind_fence(PAGE);
  gone = (struct grid *)((char *)gone - PAGE);  // no access here
  in_body(20, x, &g), in_body(0, x, gone), in_body(-5, x, 0);
  under_condition(20, x, 0);
  header(x, &g), header(x, &empty);
  two_roots(x, &g, &h), two_roots(x, &empty, gone), two_roots(x, &empty, 0);
  inner_body(4, 9, x, &g), inner_body(0, 9, x, 0), inner_body(2, 0, x, gone);
  array_member(8, x, &g), array_member(0, x, gone);
  after_loop(20, 4, x, &g), after_loop(20, 0, x, gone), after_loop(3, -1, x, 0);
  narrow(20, x, &g), narrow(256, x, gone), narrow(512, x, 0);
  print_doubles("x", x, 20);
  helper_parameter(20, x, &g, &h), helper_parameter(20, x, &h, &g);
  print_doubles("helper", x, 20);
  printf("%g\n", local_struct(20, x));
  both(&g, 8), both(gone, 0);
  print_doubles("both", x, 20);
}
