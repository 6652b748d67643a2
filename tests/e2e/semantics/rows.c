// Tables of row pointers: rows that lie evenly spaced run as one array, all others as the program says.
// add: served SSSOOSOOOO
// lower: served SSO
// one_based: served SSO
// selected: c.pointer.to-pointer
// invert: served SSOO
// local_table: served S
// row_pointer: served SO
// member: served SOO
// narrow: served SO
// also: vectorize add invert; parallelize add one_based; tile add
#include "semantics.h"
NOINLINE void add(int n, int m, double **a, const double *const *b) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) a[i][j] += b[i][j];
}
NOINLINE void lower(int n, double **l) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) l[i][j] = l[i][j] * 2 + l[j][0];
}
NOINLINE void one_based(int n, int m, float **a) {
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= m; j++) a[i][j] += i * j;
}
NOINLINE void selected(int n, const int *which, double **a) {
  for (int i = 0; i < n; i++)
    if (which[i]) a[i][0] += 1;
}
// The rows may be the table itself.
NOINLINE void invert(int n, int m, unsigned char **p) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) p[i][j] = 255 - p[i][j];
}
NOINLINE void local_table(int n, float *block) {
  float *row[6];
  for (int i = 0; i < 6; i++) row[i] = block + i * n;
  for (int i = 1; i < 5; i++)
    for (int j = 0; j < n; j++) row[i][j] = row[i - 1][j] + row[i + 1][j];
}
NOINLINE void row_pointer(int n, int m, double **a, double *restrict sum) {
  for (int i = 0; i < n; i++) {
    const double *r = a[i];
    sum[i] = 0;
    for (int j = 0; j < m; j++) sum[i] += r[j];
  }
}
struct image {
  int height, width;
  float **rows;
};
NOINLINE void member(const struct image *im, float by) {
  for (int y = 0; y < im->height; y++)
    for (int x = 0; x < im->width; x++) im->rows[y][x] *= by;
}
// No iteration where n is 256: the bound is that of the conversion.
NOINLINE void narrow(int n, double **a) {
  for (int i = 0; i < (unsigned char)n; i++) a[i][0] += 1;
}
int main(void) {
  double x[40], y[40];
  for (int i = 0; i < 40; i++) x[i] = i, y[i] = 100 * i;
  double **a = before_fence(5 * sizeof *a);
  const double **b = before_fence(5 * sizeof *b);
#define ROWS(t, base, by) \
  for (int i = 0; i < 5; i++) (t)[i] = (base) + i * (by)
  ROWS(a, x, 8);
  ROWS(b, y, 7);
  add(5, 6, a, b);
  add(5, 7, a, b);
  add(1, 8, a, b);
  add(5, 8, a, b);  // a row of b is shorter than that: both read the next one's first
  a[2] += 1;
  add(5, 4, a, b);
  for (int i = 0; i < 5; i++) a[i] = x + 32 - 8 * i;
  add(5, 4, a, b);
  ROWS(a, x, 0);
  add(5, 4, a, b);
  ROWS(a, x, 8);
  ROWS(b, x + 8, 8);
  add(4, 8, a, b);
  add(0, 9, 0, 0);
  add(3, 0, 0, b);
  print_doubles("add", x, 40);
  ROWS(a, x, 8);
  lower(5, a);
  lower(4, a + 1);
  for (int i = 0; i < 5; i++) a[i] = x + i * (i + 1) / 2;
  lower(5, a);
  print_doubles("lower", x, 40);
  float z[30] = {0};
  float **t = (float **)behind_fence(5 * sizeof *t);
  for (int i = 0; i < 5; i++) t[i] = z + 6 * i - 1;
  one_based(4, 5, t - 1);
  one_based(5, 6, t - 1);
  one_based(5, 0, 0);
  print_floats("one_based", z, 30);
  int which[5] = {0, 1, 0, 1, 1};
  a[0] = a[2] = 0;
  selected(5, which, a);
  static struct {
    unsigned char *p[8];
    _Alignas(256) unsigned char bytes[256];
  } own;
  unsigned char *bytes = own.bytes, **p = own.p;
  for (int i = 0; i < 64; i++) bytes[i] = i;
  for (int i = 0; i < 8; i++) p[i] = bytes + 8 * i;
  invert(8, 8, p), invert(3, 5, p);
  print_bytes("invert", bytes, 64);
  p[0] = (unsigned char *)&p[1];  // the first row turns the pointer to the second one
  p[1] = bytes + 3;
  invert(2, 1, p), invert(1, 0, p);
  print_bytes("rest", bytes, 256);
  local_table(5, z);
  print_floats("local_table", z, 30);
  double sum[5];
  ROWS(a, x, 8);
  row_pointer(5, 8, a, sum);
  print_doubles("row_pointer", sum, 5);
  a[3] = y;
  row_pointer(5, 8, a, sum);
  print_doubles("row_pointer", sum, 5);
  float *rows[3] = {z, z + 10, z + 20};
  struct image im = {3, 10, rows}, flat = {3, 0, 0}, none = {0, 3, 0};
  member(&im, 1.5f), member(&flat, 2), member(&none, 2);
  print_floats("member", z, 30);
  ROWS(a, x, 8);
  narrow(5, a), narrow(256, 0);
  print_doubles("narrow", x, 40);
}
