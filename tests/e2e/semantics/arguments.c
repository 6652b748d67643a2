// A parameter has the value that was passed, in its own type, whatever the called function writes and however its
// definition is written.
// member: served S
// through_pointer: served S
// of_integer: served S
// known_first: served S
// deeper_first: served S
// global_array: served O
// whole_and_part: served O
// same_structure: served O
// row_of_structure: served O
// own_element: served S
// own_row: served S
// passed_on: served O
// number_beside: served O
// only_read: served S
// rounded: served S
// truncated: served S
// as_subscript: served S
// narrowed: served S
// cut: served S
// also: vectorize only_read rounded truncated; parallelize only_read as_subscript
#include "semantics.h"
typedef struct { double x, y; } pair;
static void put(pair *v, double a) { v->x = 0; v->y = a; }
NOINLINE void member(int n, double *restrict out, const double *restrict q) {
  for (int i = 0; i < n; i++) {
    pair v = {q[i], 1};
    put(&v, v.x);
    out[i] = v.x + v.y;
  }
}
static void twice(double *v, double a) {
  *v = 0;
  v[0] += 2 * a;
}
NOINLINE void through_pointer(int n, double *restrict out, const double *restrict q) {
  for (int i = 0; i < n; i++) {
    double v = q[i];
    twice(&v, v);
    out[i] = v;
  }
}
typedef struct { int a, b; } numbers;
static void put_number(numbers *v, int a) { v->a = 0; v->b = a; }
NOINLINE void of_integer(int n, double *restrict out, const int *restrict q) {
  for (int i = 0; i < n; i++) {
    numbers v = {q[i], 1};
    put_number(&v, v.a);
    out[i] = v.a + v.b;
  }
}
static void twice_number(int *v, int a) {
  *v = 0;
  v[0] += 2 * a;
}
NOINLINE void known_first(int n, double *restrict out) {
  for (int i = 0; i < n; i++) {
    int v = i;
    twice_number(&v, v);
    out[i] = v;
  }
}
// What is met first at the end of a chain of calls, and then at its start.
static double doubled(double a) { a = a * 2; return a; }
static double plus_itself(double q) { double b = q; return doubled(b) + b; }
static double d6(double a) { return plus_itself(a) + 1; }
static double d5(double a) { return d6(a) + 1; }
static double d4(double a) { return d5(a) + 1; }
static double d3(double a) { return d4(a) + 1; }
static double d2(double a) { return d3(a) + 1; }
static double d1(double a) { return d2(a) + 1; }
static double d0(double a) { return d1(a) + 1; }
NOINLINE void deeper_first(int n, double *restrict out, const double *restrict x) {
  for (int i = 0; i < n; i++) {
    if (0) out[i] = d0(x[i]);
    out[i] = plus_itself(x[i]);
  }
}

struct row { double a[4], b; };
static struct row G;
static double by_name(struct row p, int i) { G.a[0] = i; return p.a[0]; }
NOINLINE void global_array(int n, double *restrict out) {
  for (int i = 0; i < n; i++) out[i] = by_name(G, i);
}
// A copy of the whole, and an array in it by its name.
NOINLINE void whole_and_part(int n, double *restrict out) {
  for (int i = 0; i < n; i++) {
    struct row t = G;
    G.a[0] = i;
    out[i] = t.a[0];
  }
}
static double by_structure(struct row p, struct row *s, int i) { s->a[0] = i; return p.a[0]; }
NOINLINE void same_structure(int n, double *restrict out, struct row *s) {
  for (int i = 0; i < n; i++) out[i] = by_structure(*s, s, i);
}
static double by_row(struct row p, double *a, int i) { a[0] = i; return p.a[0]; }
NOINLINE void row_of_structure(int n, double *restrict out, struct row *s) {
  for (int i = 0; i < n; i++) out[i] = by_row(*s, s->a, i);
}
static double steps_element(struct row p, int i) { p.a[1] += i; return p.a[1]; }
NOINLINE void own_element(int n, double *restrict out, struct row *s) {
  for (int i = 0; i < n; i++) out[i] = steps_element(*s, i);
}
static double steps_row(struct row p, int i) { double *q = p.a; q[1] += i; return p.a[1]; }
NOINLINE void own_row(int n, double *restrict out, struct row s) {
  for (int i = 0; i < n; i++) out[i] = steps_row(s, i);
}
static double further(struct row p, double *a, int i) { return by_row(p, a, i) + 1; }
NOINLINE void passed_on(int n, double *restrict out, struct row *s) {
  for (int i = 0; i < n; i++) out[i] = further(*s, s->a, i);
}
static double by_number(struct row p, double *b, int i) { *b = i; return p.b; }
NOINLINE void number_beside(int n, double *restrict out, struct row *s, double *b) {
  for (int i = 0; i < n; i++) out[i] = by_number(*s, b, i);
}
static void scale(struct row p, double *to, int i) { to[i] = p.a[i & 3] * p.b; }
NOINLINE void only_read(int n, double *restrict out, struct row s) {
  for (int i = 0; i < n; i++) scale(s, out, i);
}

static double triple(a) float a; { return a * 3.0; }
NOINLINE void rounded(int n, double *restrict out, const double *restrict x) {
  for (int i = 0; i < n; i++) out[i] = triple(x[i]) + x[i];
}
static int one_more(c) short c; { return c + 1; }
NOINLINE void truncated(int n, double *restrict out, const int *restrict x) {
  for (int i = 0; i < n; i++) out[i] = one_more(x[i]) + x[i];
}
static int byte(c) unsigned char c; { return c; }
NOINLINE void as_subscript(int n, double *restrict out, const double *restrict x) {
  for (int i = 0; i < n; i++) out[i] = x[byte(i * 100)];
}
static NOINLINE int counted(c, x) unsigned char c; int *x; {
  for (int i = 0; i < c; i++) x[i] = c;
  return c;
}

// With a prototype the caller converts.
static int ones(signed char c) {
  int s = 0;
  for (int i = 0; i < c; i++) s++;
  return s;
}
NOINLINE void narrowed(int n, double *restrict out) {
  for (int i = 0; i < n; i++) out[i] = ones(i + 250);
}
static int ones_of(int c) {
  int s = 0;
  for (int i = 0; i < c; i++) s++;
  return s;
}
NOINLINE void cut(int n, double *restrict out) {
  for (int i = 0; i < n; i++) out[i] = ones_of(i * 4294967297L);
}

#define SHOW(name, call)    \
  do {                      \
    call;                   \
    print_doubles(name, out, 9); \
  } while (0)
int main(void) {
  static double x[256], out[9];
  static int k[400];
  for (int i = 0; i < 256; i++) x[i] = i * 0.1, k[i] = i * 20011;
  struct row s = {{7, 2, 3}, 5};
  G = s;
  SHOW("member", member(9, out, x));
  SHOW("through_pointer", through_pointer(9, out, x));
  SHOW("of_integer", of_integer(9, out, k));
  SHOW("known_first", known_first(9, out));
  SHOW("deeper_first", deeper_first(9, out, x));
  SHOW("global_array", global_array(9, out));
  SHOW("whole_and_part", whole_and_part(9, out));
  SHOW("same_structure", same_structure(9, out, &s));
  SHOW("row_of_structure", row_of_structure(9, out, &s));
  SHOW("own_element", own_element(9, out, &s));
  SHOW("own_row", own_row(9, out, s));
  SHOW("passed_on", passed_on(9, out, &s));
  SHOW("number_beside", number_beside(9, out, &s, &s.b));
  SHOW("only_read", only_read(9, out, s));
  SHOW("rounded", rounded(9, out, x));
  SHOW("truncated", truncated(9, out, k));
  SHOW("as_subscript", as_subscript(9, out, x));
  SHOW("narrowed", narrowed(9, out));
  SHOW("cut", cut(9, out));
  print_doubles("s", s.a, 5);
  printf("%d %d %d\n", counted(300, k), k[43], k[44]);
}
