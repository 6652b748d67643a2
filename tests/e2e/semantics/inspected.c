// How far pointers go that may overlap only data say: these are looked at ahead of the nest, where it reads them in any case.
// product: served SSSSOOO
// ends: served SSO
// padded: served SSSO
// backwards: served SSOO
// sifted: served SO
// counts: served SSO
// under_condition: served SS
// leaping: served OO
// fetched: served SO
// fetched_wide: served SOO
// apart: served SSSSSOO
// huge: served OS
// bound: served SO
// whole: served SOOO
// picked: served SOO
// marked: served SOO
// none: served OOO
// large: served SSO
// unsigned_rows: served SSO
// also: vectorize product ends padded backwards sifted fetched fetched_wide apart whole picked marked none large unsigned_rows; parallelize product ends padded backwards sifted fetched fetched_wide apart
#include "semantics.h"
NOINLINE void product(int n, const int *start, const int *column, const double *value, const double *x, double *y) {
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int k = start[i]; k < start[i + 1]; k++) s += value[k] * x[column[k]];
    y[i] = s;
  }
}
// Of empty rows neither bound is an index.
NOINLINE void ends(int n, const int *first, const int *last, const int *column, const double *x, double *y) {
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int k = first[i]; k < last[i]; k++) s += x[column[k]];
    y[i] = s;
  }
}
// Indices and what is written have one type; some of the first may lie in the second.
NOINLINE void padded(int n, int m, const int *column, const int *x, int *y) {
  for (int i = 0; i < n; i++) {
    int s = 0;
    for (int k = 0; k < m; k++) s += x[column[i * m + k]] * (k + 1);
    y[i] = s;
  }
}
NOINLINE void backwards(int n, int m, const unsigned *column, const float *x, float *y) {
  for (int i = n - 1; i >= 0; i -= 2) {
    float s = 0;
    for (int k = 0; k < m; k += 3) s += x[-(long)column[k * 2 + 1] - 1] * (i + k);
    y[i] = s;
  }
}
// Read in the condition, and so in any case.
NOINLINE void sifted(int n, int m, const int *column, const double *x, double *y) {
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int k = 0; k < m; k++)
      if (column[i * m + k] >= 0) s += x[column[i * m + k] * 2];
    y[i] = s;
  }
}
NOINLINE void counts(int n, const int *at, int *bins) {
  for (int i = 0; i < n; i++) bins[at[i]]++;
}
// Nobody may read `column` where `use` is 0: the order stays.
NOINLINE void under_condition(int n, const char *use, const int *column, const double *x, double *y) {
  for (int i = 0; i < n; i++)
    if (use[i]) y[i] += x[column[i]];
}
// Few of the elements between the first and the last one are read: no use to look at all of them.
NOINLINE void leaping(int n, const int *at, const double *x, double *y) {
  for (int i = 0; i < n; i++) y[i] = x[at[i * 100]];
}
NOINLINE void fetched(int n, int m, const int *row, const float *table, float *out) {
  for (int i = 0; i < n; i++)
    for (int d = 0; d < m; d++) out[i * m + d] = table[(long)row[i] * m + d];
}
// In 64 bits without a sign: the difference wraps back.
NOINLINE void fetched_wide(int n, int m, const int *row, const float *table, float *out) {
  for (int i = 0; i < n; i++) {
    const float *from = table + ((size_t)(row[i] - 4) * m + (size_t)4 * m);
    for (int d = 0; d < m; d++) out[(size_t)i * m + d] = from[d];
  }
}
// Pointers to rows.
NOINLINE void apart(int n, const int *start, const int *column, const double *value, const double *x, double *y) {
  for (int i = 0; i < n; i++) {
    const int *columns = column + start[i];
    const double *values = value + start[i];
    int length = start[i + 1] - start[i];
    double s = 0;
    for (int k = 0; k < length; k++) s += values[k] * x[columns[k]];
    y[i] = s;
  }
}
// Beyond what an index can be.
NOINLINE void huge(int n, long back, const long *at, const double *x, double *y) {
  for (int i = 0; i < n; i++) y[i] = x[at[i] - back];
}
NOINLINE void bound(int n, const int *at, int *x, const int *last) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < last[i]; k++) x[at[k]] = 3;
}
// All of one type: what is written may be the values, the vector, the columns or where rows start.
NOINLINE void whole(int n, const int *start, const int *column, const int *value, const int *x, int *y) {
  for (int i = 0; i < n; i++) {
    int s = 0;
    for (int k = start[i]; k < start[i + 1]; k++) s += value[k] * x[column[k]];
    y[i] = s;
  }
}
NOINLINE void picked(int n, const int *pick, const int *start, const int *x, int *y) {
  for (int i = 0; i < n; i++) {
    int s = 0;
    for (int k = start[pick[i]]; k < start[pick[i] + 1]; k++) s += x[k];
    y[i] = s;
  }
}
// Where there is none, the index is no index.
NOINLINE void marked(int n, const size_t *at, const double *x, double *y) {
  for (int i = 0; i < n; i++)
    if (at[i] != SIZE_MAX) y[i] = x[at[i]];
}
NOINLINE void none(int n, const long *at, const double *x, double *y) {
  for (int i = 0; i < n; i++)
    if (at[i] >= 0) y[i] = x[at[i]];
}
// Rows without elements begin in the upper half.
NOINLINE void large(size_t n, const size_t *start, const size_t *column, const double *x, double *y) {
  for (size_t i = 0; i < n; i++) {
    double s = 0;
    for (size_t k = start[i]; k < start[i + 1]; k++) s += x[column[k]];
    y[i] = s;
  }
}
NOINLINE void unsigned_rows(unsigned n, const unsigned *start, const unsigned *column, const float *x, float *y) {
  for (unsigned i = 0; i < n; i++) {
    float s = 0;
    for (unsigned k = start[i]; k < start[i + 1]; k++) s += x[column[k]];
    y[i] = s;
  }
}

static void fill(double *d, int n) {
  for (int i = 0; i < n; i++) d[i] = i * 3 % 11;
}

int main(void) {
  enum { rows = 9, all = 20 };
  // Nothing may be read around them.
  int *start = before_fence((rows + 1) * sizeof *start), *column = before_fence(all * sizeof *column);
  for (int i = 0; i <= rows; i++) start[i] = i * i / 4;
  for (int k = 0; k < all; k++) column[k] = k * 7 % 12;
  double value[all], d[64];
  for (int k = 0; k < all; k++) value[k] = k;
  // Apart from 12 elements on, and from rows on in front; overlapping between.
  const int shifts[] = {12, 13, -9, 20, 11, -8, 3};
  for (int k = 0; k < 7; k++) {
    fill(d, 64);
    product(rows, start, column, value, d + 16, d + 16 + shifts[k]);
    print_doubles("product", d, 64);
  }
  int first[rows], last[rows];
  for (int way = 0; way < 3; way++) {
    for (int i = 0; i < rows; i++) {
      first[i] = start[i], last[i] = start[i + 1];
      if (i % 3 == 0) first[i] = way ? -1000000000 : 1000000000, last[i] = first[i] - way;
    }
    fill(d, 64);
    ends(rows, first, last, column, d, d + (way == 2 ? 5 : 12));
    print_doubles("ends", d, 64);
  }
  int p[80];
  for (int way = 0; way < 4; way++) {
    for (int i = 0; i < 80; i++) p[i] = i < 40 ? i % 7 : i % 3;
    if (way == 2) padded(0, 5, 0, 0, p);
    else padded(8, 5, p, p + 40, p + (way == 0 ? 47 : way == 1 ? 60 : 30));
    print_ints("padded", p, 80);
  }
  unsigned *odd = before_fence(20 * sizeof *odd);
  for (int k = 0; k < 20; k++) odd[k] = k % 2 ? k % 5 : 2;
  float f[64];
  for (int way = 0; way < 4; way++) {
    for (int i = 0; i < 64; i++) f[i] = i % 5;
    if (way == 3) odd[8] = 4000000000u;  // between those that are read, and taken for one
    backwards(7, 10, odd, f + 20, f + (way == 2 ? 14 : way ? 8 : 20));
    print_floats("backwards", f, 64);
  }
  int *s = before_fence(24 * sizeof *s);
  for (int k = 0; k < 24; k++) s[k] = k % 4 ? k % 6 : -1;
  for (int way = 0; way < 2; way++) {
    fill(d, 64);
    sifted(6, 4, s, d + 10, d + (way ? 18 : 21));
    print_doubles("sifted", d, 64);
  }
  for (int way = 0; way < 3; way++) {
    for (int i = 0; i < 80; i++) p[i] = i % 9;
    counts(20, p + 20, p + (way == 0 ? 0 : way == 1 ? 40 : 12));
    print_ints("counts", p, 80);
  }
  char use[9] = {0};
  fill(d, 64);
  under_condition(9, use, 0, d, d + 20);
  use[1] = use[5] = 1;
  under_condition(9, use, column, d, d + 3);
  print_doubles("under_condition", d, 64);
  static int far[801];
  for (int i = 0; i < 801; i++) far[i] = i % 100 ? 1000000000 : i / 100;
  fill(d, 64);
  leaping(9, far, d, d + 20);
  leaping(9, far, d, d + 3);
  print_doubles("leaping", d, 64);
  int row[6] = {3, 0, 2, 1, 3, 0};
  for (int way = 0; way < 2; way++) {
    for (int i = 0; i < 64; i++) f[i] = i;
    fetched(6, 5, row, f, f + (way ? 19 : 20));
    print_floats("fetched", f, 64);
  }
  int wide[6] = {3, 0, 2, 1, 3, 0};
  for (int way = 0; way < 3; way++) {
    for (int i = 0; i < 64; i++) f[i] = i;
    fetched_wide(6, 5, wide, f + 5, f + (way == 0 ? 25 : way == 1 ? 24 : 2));
    print_floats("fetched_wide", f, 64);
  }
  for (int k = 0; k < 6; k++) {
    fill(d, 64);
    apart(rows, start, column, value, d + 16, d + 16 + (k == 4 ? 21 : shifts[k]));
    print_doubles("apart", d, 64);
  }
  apart(rows, start, column, d, value, d + 19);
  print_doubles("apart", d, 64);
  long at[5];
  fill(d, 64);
  for (int way = 52; way >= 2; way -= 50) {
    for (int i = 0; i < 5; i++) at[i] = (1L << way) + i;
    huge(5, 1L << way, at, d, d + (way == 2 ? 30 : 2));
    print_doubles("huge", d, 64);
  }
  int ends_of[12] = {9, 9, 9, 9, 1, 2, 3, 4, 5, 6, 7, 8}, to[12], places[12] = {3, 1, 2, 2, 0, 7, 5, 6, 4, 8, 8, 0};
  memset(to, 0, sizeof to);
  bound(12, places, to, ends_of);
  print_ints("bound", to, 12);
  bound(12, places, ends_of, ends_of);
  print_ints("bound", ends_of, 12);
  for (int way = 0; way < 4; way++) {
    // start: 0, columns: 10, values: 30, x: 50, y: 70
    int w[90];
    for (int i = 0; i < 90; i++) w[i] = i < 10 ? start[i] : i < 30 ? i % 7 : i % 5;
    const int to_y[] = {70, 11, 25, 2};
    whole(way == 3 ? 5 : rows, w, w + 10, w + 30, w + 50, w + to_y[way]);
    print_ints("whole", w, 90);
  }
  for (int way = 0; way < 3; way++) {
    // pick: 0, start: 10, x: 20, y: 50
    int w[70];
    for (int i = 0; i < 70; i++) w[i] = i < 10 ? i * 5 % 7 : i < 20 ? i - 10 : 0;
    picked(8, w, w + 10, w + 20, w + (way == 0 ? 50 : way == 1 ? 1 : 12));
    print_ints("picked", w, 70);
  }
  size_t *columns = before_fence(20 * sizeof *columns);
  for (int k = 0; k < 20; k++) columns[k] = k % 6;
  for (int way = 0; way < 3; way++) {
    size_t from[8] = {0, 3, 3, 8, 12, 12, 14, 20};
    if (way) from[0] = SIZE_MAX - 2;
    fill(d, 64);
    large(7, from, columns, d + 10, d + (way == 2 ? 13 : 16));
    print_doubles("large", d, 64);
  }
  unsigned *places_of = before_fence(20 * sizeof *places_of);
  for (int k = 0; k < 20; k++) places_of[k] = k % 6;
  for (int way = 0; way < 3; way++) {
    unsigned from[8] = {way ? UINT32_MAX : 0, 3, 3, 8, 12, 12, 14, 20};
    for (int i = 0; i < 64; i++) f[i] = i;
    unsigned_rows(7, from, places_of, f + 10, f + (way == 2 ? 13 : 16));
    print_floats("unsigned_rows", f, 64);
  }
  size_t marks[9];
  long minus[9];
  for (int way = 0; way < 3; way++) {
    for (int i = 0; i < 9; i++) marks[i] = i % 3 || !way ? (size_t)(i * 4 % 9) : SIZE_MAX;
    for (int i = 0; i < 9; i++) minus[i] = i % 3 ? i * 4 % 9 : -(1L << (way ? 47 : 45));
    fill(d, 64);
    marked(9, marks, d + 10, d + (way == 1 ? 13 : 19));
    print_doubles("marked", d, 64);
    none(9, minus, d + 30, d + 33);
    print_doubles("none", d, 64);
  }
}
