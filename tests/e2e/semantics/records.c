// Arrays of structures: each member on its own, where it lies.
// move: served SSS
// total: served SS
// pair: served SOO
// inner: served S
// nearest: served S
// grid: served S
// world: served SSS
// objects: served S
// counts: served S
// copies: served S
// beside_threads: served S
// packed: c.struct
// bits: c.bit-field
// noisy: c.volatile
// either: c.union
// also: vectorize move pair; parallelize move pair; tile move; inner_threads beside_threads
#include "semantics.h"
struct body {
  double x, y, z;
  float mass;
  int kind;
  double v[3];
};
NOINLINE void move(int n, struct body *b, double dt) {
  for (int i = 0; i < n; i++) {
    b[i].x += dt * b[i].v[0];
    b[i].y += dt * b[i].v[1];
    b[i].z += dt * b[i].v[2] * b[i].mass;
  }
}
NOINLINE double total(int n, const struct body *b) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += b[i].mass * (b[i].kind == 1 ? b[i].x : (b + i)->v[i % 3]);
  return sum;
}
// The same member of two arrays, which may be one.
NOINLINE void pair(int n, struct body *p, const struct body *q) {
  for (int i = 0; i < n; i++) p[i].x = q[i].x + q[i].y;
}
NOINLINE void inner(int n, struct body *p) {
  for (int i = 0; i < n; i++) {
    struct body *q = &p[i];
    for (int k = 0; k < 3; k++) q->v[k] = q->v[k] * 0.5 + k;
    q->kind++;
  }
}
struct point {
  float at[4];
  int cluster;
};
NOINLINE void nearest(int n, struct point *p, int k, float (*centre)[4]) {
  for (int i = 0; i < n; i++) {
    float best = 1e30f;
    for (int c = 0; c < k; c++) {
      float d = 0;
      for (int j = 0; j < 4; j++) d += (p[i].at[j] - centre[c][j]) * (p[i].at[j] - centre[c][j]);
      if (d < best) best = d, p[i].cluster = c;
    }
  }
}
struct cell {
  struct {
    short alive;
    double heat;
  } now, next;
};
static struct cell field[6][7];
NOINLINE void grid(void) {
  for (int i = 1; i < 5; i++)
    for (int j = 1; j < 6; j++) {
      field[i][j].next.heat = 0.25 * (field[i - 1][j].now.heat + field[i + 1][j].now.heat + field[i][j - 1].now.heat);
      field[i][j].next.alive = field[i][j].now.alive + 1;
    }
}
struct world {
  int n;
  struct body *bodies;
  struct body fixed[2];
};
NOINLINE void world(struct world *w, double dt) {
  for (int i = 0; i < w->n; i++) w->bodies[i].x += dt * w->fixed[i % 2].v[1];
}
NOINLINE void objects(int n, double *restrict out) {
  struct body own[4];
  for (int i = 0; i < 4; i++) own[i].x = i, own[i].y = n;
  for (int i = 0; i < 4; i++) out[i] = own[i].x * own[3 - i].y;
}
struct tally {
  long hits, misses;
  double sum;
};
NOINLINE void counts(int n, const double *x, struct tally *t) {
  for (int i = 0; i < n; i++) {
    if (x[i] > 2)
      t->hits++;
    else
      t->misses++;
    t->sum += x[i];
  }
}
NOINLINE void copies(int n, struct point *p) {
  for (int i = 0; i + 1 < n; i++) p[i] = p[i + 1];
}
struct __attribute__((packed)) tight {
  char tag;
  double value;
};
NOINLINE void packed(int n, struct tight *p) {
  for (int i = 0; i < n; i++) p[i].value += 1;
}
struct flags {
  unsigned a : 3, b : 5;
};
NOINLINE void bits(int n, struct flags *p) {
  for (int i = 0; i < n; i++) p[i].b = p[i].a;
}
struct port {
  volatile int in;
  int out;
};
NOINLINE void noisy(int n, struct port *p) {
  for (int i = 0; i < n; i++) p[i].out = p[i].in;
}
union number {
  int i;
  float f;
};
NOINLINE void either(int n, union number *p) {
  for (int i = 0; i < n; i++) p[i].i += 1;
}
static void show(const char *name, const struct body *b, int n) {
  for (int i = 0; i < n; i++) {
    double values[] = {b[i].x, b[i].y, b[i].z, b[i].mass, b[i].kind, b[i].v[0], b[i].v[1], b[i].v[2]};
    print_doubles(name, values, 8);
  }
}
// What threads write by one member's name, the code beside them reads by the other's.
NOINLINE void beside_threads(int m, int n, struct body *restrict b, double *restrict w) {
  for (int t = 0; t < m; t++) {
    w[t] = b[0].x - b[0].y;
    for (int i = 0; i < n; i++) {
      b[i].x += b[i].y;
      b[i].y = b[i].x * 0.5 + 1;
    }
  }
}
int main(void) {
  struct body *b = before_fence(9 * sizeof *b);
  for (int i = 0; i < 9; i++) b[i] = (struct body){i, 2 * i, 3 - i, 1 + i * 0.5f, i % 3, {i, 1, -i}};
  move(9, b, 0.5), move(1, b, 2), move(0, 0, 1);
  show("move", b, 9);
  printf("%a %a\n", total(9, b), total(0, 0));
  pair(4, b, b + 4), pair(8, b, b), pair(8, b + 1, b);
  show("pair", b, 9);
  inner(9, b);
  show("inner", b, 9);
  struct point p[5];
  float centre[3][4] = {{1, 2, 3, 4}, {0, 1, 0, 1}, {4, 4, 4, 4}};
  for (int i = 0; i < 5; i++) p[i] = (struct point){{i, i, i + 1, 4 - i}, -1};
  nearest(5, p, 3, centre);
  for (int i = 0; i < 5; i++) printf("%d ", p[i].cluster);
  for (int i = 0; i < 42; i++) field[i / 7][i % 7].now.alive = i, field[i / 7][i % 7].now.heat = i * i;
  grid();
  for (int i = 0; i < 42; i++) printf("%d %g ", field[i / 7][i % 7].next.alive, field[i / 7][i % 7].next.heat);
  struct world w = {5, b, {b[0], b[1]}}, empty = {0, 0, {b[0]}};
  world(&w, 0.5);
  w.n = 2, w.bodies = w.fixed;
  world(&w, 3), world(&empty, 1);
  show("world", b, 9), show("fixed", w.fixed, 2);
  double out[4];
  objects(7, out);
  print_doubles("objects", out, 4);
  struct tally t = {1, 2, 0.5};
  counts(9, (double[]){1, 2, 3, 4, 5, 0, 9, 2, 3}, &t);
  printf("%ld %ld %a\n", t.hits, t.misses, t.sum);
  copies(5, p);
  double w3[3];
  beside_threads(3, 9, b, w3);
  print_doubles("beside threads", w3, 3), show("bodies", b, 9);
  struct tight tight[3] = {{1, 1}, {2, 2}, {3, 3}};
  packed(3, tight);
  struct flags flags[3] = {{1, 2}, {3, 4}, {5, 6}};
  bits(3, flags);
  struct port port[2] = {{1, 2}, {3, 4}};
  noisy(2, port);
  union number number[2] = {{1}, {2}};
  either(2, number);
  printf("%d %g %d %d %d\n", p[0].cluster, tight[2].value, flags[1].b, port[1].out, number[1].i);
}
