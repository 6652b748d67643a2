// Structures that functions take and return, compound literals, lists of initial values.
// fold: served SS
// reflect: served SS
// swapped: served SS
// chosen: served SS
// cases: served SS
// found: served SS
// gaps: served SS
// by_address: served SS
// image: served SOO
// changed: served S
// own_copy: served S
// zeroed: served S
// small: served S
// also: vectorize reflect; parallelize fold; unroll swapped
#include "semantics.h"
typedef struct { double x, y, z; } vec;
static vec sub(vec a, vec b) { return (vec){a.x - b.x, a.y - b.y, a.z - b.z}; }
static vec add(vec a, vec b) {
  vec r;
  r.x = a.x + b.x;
  r.y = a.y + b.y;
  r.z = a.z + b.z;
  return r;
}
static vec scaled(vec a, double by) {
  vec r = {a.x * by, a.y * by, a.z * by};
  return r;
}
static double dot(vec a, vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
NOINLINE void fold(int n, const vec *p, double *restrict out) {
  for (int i = 0; i < n; i++) {
    vec sum = {0};
    for (int j = 0; j < n; j++) sum = add(sum, scaled(sub(p[j], p[i]), 1.0 / (1 + j)));
    out[i] = dot(sum, sub(add(sum, p[i]), sum)) + sub(sum, p[i]).y;
  }
}
NOINLINE void reflect(int n, vec *restrict v, vec normal) {
  for (int i = 0; i < n; i++) v[i] = sub(v[i], scaled(normal, 2 * dot(v[i], normal)));
}
// The value is taken before anything is stored.
NOINLINE void swapped(int n, vec *p) {
  for (int i = 0; i < n; i++) {
    p[i] = (vec){p[i].y, p[i].x, -p[i].z};
    vec t = p[i];
    t = (vec){t.z, t.x, t.y};
    p[i] = t;
  }
}
NOINLINE void chosen(int n, const vec *p, const vec *q, vec *restrict out) {
  for (int i = 0; i < n; i++) out[i] = p[i].x > q[i].x ? p[i] : sub(q[i], p[i]);
}
static vec clipped(vec a, double most) {
  double length = dot(a, a);
  if (length <= most) return a;
  if (length > 4 * most) return (vec){.y = most};
  return scaled(a, most / length);
}
NOINLINE void cases(int n, const vec *p, vec *restrict out) {
  for (int i = 0; i < n; i++) out[i] = clipped(clipped(p[i], 50), 20 + i);
}
// A return in a loop of the function.
static vec first_above(const vec *p, int n, double least) {
  for (int i = 0; i < n; i++)
    if (p[i].z > least) return p[i];
  return (vec){-1, -1, -1};
}
NOINLINE void found(int n, const vec *p, vec *restrict out) {
  for (int i = 0; i < n; i++) out[i] = first_above(p, n, i * 1.5);
}
// Padding does not matter where nobody can see it.
struct gap { char tag; double at; short count; };
static struct gap gap(char tag, double at) { return (struct gap){tag, at, (short)(tag * 300)}; }
NOINLINE void gaps(int n, const struct gap *g, double *restrict out) {
  for (int i = 0; i < n; i++) {
    struct gap a = g[i], b = gap((char)(a.tag + 100), a.at);
    out[i] = a.tag + b.tag + b.at + b.count;
  }
}
static void accumulate(vec *sum, const vec *by) {
  sum->x += by->x;
  sum->y += by->y;
  sum->z = sum->x - sum->y;
}
NOINLINE void by_address(int n, const vec *p, double *restrict out) {
  for (int i = 0; i < n; i++) {
    vec sum = {1, 2, 3};
    for (int j = 0; j < n; j++) accumulate(&sum, &p[j]);
    accumulate(&sum, &sum);
    out[i] = sum.x + sum.y * i + sum.z;
  }
}
// With pointers in it.
typedef struct { int rows, columns; float *data; } matrix;
static float at(matrix m, int i, int j) { return m.data[i * m.columns + j]; }
static float twice(matrix m, int i, int j) { return at(m, i, j) * 2; }
struct pair { int tag; matrix first, second; };
NOINLINE void image(struct pair *p, matrix out) {
  for (int i = 0; i < out.rows; i++)
    for (int j = 0; j < out.columns; j++) out.data[i * out.columns + j] = twice(p->first, i, j) + at(p->second, j, i);
}
// What is changed in the nest is no other name of it: the value is that of the call.
NOINLINE void changed(int n, vec *restrict p, double *restrict out) {
  vec s = {1, 1, 1};
  for (int i = 0; i < n; i++) {
    s.x += i;
    out[i] = dot(s, p[i]);
    s = add(s, p[i]);
  }
  p[0] = s;
}
static double moved(vec a, double by) {
  a.x += by;
  a.y = a.x * 2;
  vec b = a;
  b.z = 0;
  return a.x + a.y + a.z + b.z;
}
NOINLINE void own_copy(int n, vec *p, double *restrict out) {
  for (int i = 0; i < n; i++) out[i] = moved(p[i], i) + p[i].x;
}
struct table { int at[3]; unsigned char b[2]; };
NOINLINE void zeroed(int n, int *restrict out) {
  for (int i = 0; i < n; i++) {
    struct table t = {{i, 7}, .b = {[1] = 300 & 255}};
    out[i] = t.at[0] + t.at[1] + t.at[2] + t.b[0] + t.b[1] + t.at[i % 3];
  }
}
typedef struct { unsigned char r, g, b, a; } pixel;
static unsigned char clamp(int v) { return v < 0 ? 0 : v > 255 ? 255 : (unsigned char)v; }
static pixel mix(pixel d, pixel s) {
  pixel o = {clamp(d.r + s.r), clamp(d.g - s.g), (unsigned char)(d.b * s.b), 255};
  return o;
}
NOINLINE void small(int n, pixel *d, const pixel *s) {
  for (int i = 0; i < n; i++) d[i] = mix(d[i], s[n - 1 - i]);
}
int main(void) {
  vec p[12], q[12], r[12];
  for (int i = 0; i < 12; i++) {
    p[i] = (vec){i, 3 - i * 0.5, i * i * 0.25};
    q[i] = (vec){11 - i, i, -i};
  }
  double out[12] = {0};
  fold(12, p, out);
  fold(0, p, out);
  print_doubles("fold", out, 12);
  reflect(12, q, (vec){0.6, 0.8, 0});
  reflect(1, q, p[3]);
  print_doubles("reflect", &q[0].x, 36);
  swapped(11, q);
  swapped(0, q);
  print_doubles("swapped", &q[0].x, 36);
  chosen(12, p, q, r);
  chosen(3, p + 2, p, r);
  print_doubles("chosen", &r[0].x, 36);
  cases(12, p, r);
  cases(5, q, r);
  print_doubles("cases", &r[0].x, 36);
  found(12, p, r);
  found(3, q, r);
  print_doubles("found", &r[0].x, 36);
  struct gap g[12];
  memset(g, 0xa5, sizeof g);
  for (int i = 0; i < 12; i++) g[i] = (struct gap){(char)i, i * 0.5, 0};
  gaps(12, g, out);
  gaps(2, g + 3, out);
  print_doubles("gaps", out, 12);
  by_address(12, p, out);
  by_address(1, q, out);
  print_doubles("by_address", out, 12);
  float f[3 * 36];
  for (int i = 0; i < 108; i++) f[i] = i;
  struct pair pair = {1, {6, 6, f}, {6, 6, f + 36}};
  image(&pair, (matrix){6, 6, f + 72});
  image(&pair, (matrix){0, 6, f});
  image(&pair, (matrix){6, 6, f + 3});
  print_floats("image", f, 108);
  changed(12, p, out);
  print_doubles("changed", out, 12);
  print_doubles("sum", &p[0].x, 3);
  own_copy(12, p, out);
  print_doubles("own_copy", out, 12);
  int z[9];
  zeroed(9, z);
  print_ints("zeroed", z, 9);
  pixel a[10], b[10];
  for (int i = 0; i < 10; i++) a[i] = (pixel){i * 20, i * 9, i, 1}, b[i] = (pixel){i * 13, 30, i * 77, 2};
  small(10, a, b);
  for (int i = 0; i < 10; i++) printf("%d %d %d %d ", a[i].r, a[i].g, a[i].b, a[i].a);
}
