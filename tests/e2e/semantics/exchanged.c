// Pointers that a loop exchanges: what they point to behind it, what is in the arrays, and what the program goes on with,
// behind an even and an odd number of iterations, few and none.
// pair: served SSSSSS
// triple: served SSSSSSSS
// counter_outside: served SSSS
// down: served SSSS
// by_three: served SSSS
// carried: served SSSS
// inner_outside: served SSSS
// in_rows: served SSSS
// by_tables: served OSSS
// in_turns: served SSSS
// with_offsets: served SSSS
// begins_inside: served SSS
// two_pairs: served SSSS
// edit: served SSSS
// left: served OOOO
// also: inner pair triple
#include "semantics.h"

NOINLINE double *pair(int n, int t, double *a, double *b) {
  for (int k = 0; k < t; k++) {
    for (int i = 1; i < n - 1; i++) b[i] = (a[i - 1] + a[i] + a[i + 1]) * 0.25 + k;
    double *other = a;
    a = b;
    b = other;
  }
  return a;
}
NOINLINE int triple(int n, int t, int *p, int *q, int *r) {
  for (int k = 0; k < t; k++) {
    for (int i = 0; i < n; i++) r[i] = 2 * q[i] - p[i] + k;
    int *other = p;
    p = q, q = r, r = other;
  }
  return p[0] * 10000 + q[0] * 100 + r[0];
}
NOINLINE int counter_outside(int n, int t, int *a, int *b) {
  int k, *other;
  for (k = 3; k < t; ++k) {
    for (int i = 0; i < n; i++)
      b[i] = a[i] * 3 + k;  /* The text of the loop is used once more: "; }" //

































      (markers of lines stand in it where comments have been) */
    other = a, a = b, b = other;
  }
  return k * 1000 + a[1];
}
NOINLINE int down(int n, int t, int *a, int *b) {
  for (int k = t; k > 0; k--) {
    for (int i = 0; i < n; i++) b[i] = a[i] + k * i;
    int *const other = a;
    a = b;
    b = other;
  }
  return a[2];
}
NOINLINE int by_three(int n, unsigned t, int *a, int *b) {
  for (unsigned k = 1; k < t; k += 3) {
    for (int i = 0; i < n; i++) b[i] = a[i] ^ (int)k;
    int *other = a;
    a = b;
    b = other;
  }
  return a[2] + b[1];
}
// What an iteration hands to the next one in variables.
NOINLINE double carried(int n, int t, double *a, double *b) {
  double scale = 1, last = 0;
  for (int k = 0; k < t; k++) {
    for (int i = 0; i < n; i++) b[i] = a[i] * scale + last;
    last = b[n - 1];
    scale = scale * 0.5 + last * 0.125;
    double *other = a;
    a = b;
    b = other;
  }
  return scale + a[0];
}
NOINLINE int inner_outside(int n, int t, int *a, int *b) {
  int i, j, k, s = 0, *other;
  for (k = 0; k < t; k++) {
    for (i = 0; i < n; i++)
      for (j = 0; j < 3; j++) b[i] = a[i] + j, s += a[i];
    other = a;
    a = b;
    b = other;
  }
  return s + a[0];
}
NOINLINE int in_rows(int n, int t, int (*a)[n], int (*b)[n]) {
  for (int k = 0; k < t; k++) {
    for (int i = 1; i < n; i++)
      for (int j = 0; j < n - 1; j++) b[i][j] = a[i - 1][j + 1] + k;
    int(*other)[n] = a;
    a = b;
    b = other;
  }
  return a[1][0];
}
NOINLINE int by_tables(int n, int t, int **a, int **b) {
  for (int k = 0; k < t; k++) {
    for (int i = 1; i < n; i++)
      for (int j = 0; j < n - 1; j++) b[i][j] = a[i - 1][j + 1] + k;
    int **other = a;
    a = b;
    b = other;
  }
  return a[1][0] * 100 + b[2][1];
}
NOINLINE int in_turns(int n, int t, int (*rows)[20]) {
  int k;
  for (k = 1; k < t; k++)
    for (int i = 1; i < n; i++) rows[k % 2][i] = rows[(k - 1) & 1][i - 1] + k;
  return k * 100 + rows[t % 2][3];
}
NOINLINE int with_offsets(int n, int t, int *x) {
  int *a = x + 3, *b = x + 3 + n;
  for (int k = 0; k < t; k++) {
    for (int i = 0; i < n; i++) b[i] = a[i] * 2 + 1;
    int *other = a;
    a = b;
    b = other;
  }
  return (int)(a - x) * 100 + (int)(b - x);
}
// The exchange stands first.
NOINLINE int begins_inside(int n, int t, int *a, int *b) {
  for (int k = 0; k < t; k++) {
    int *other = a;
    a = b;
    b = other;
    for (int i = 0; i < n; i++) b[i] += a[i] + k;
  }
  return b[0];
}
NOINLINE int two_pairs(int n, int t, int *a, int *b, int *c, int *d) {
  for (int k = 0; k < t; k++) {
    for (int i = 0; i < n; i++) b[i] = a[i] + c[i], d[i] = c[i] - k;
    int *other = a;
    a = b, b = other;
    other = c;
    c = d, d = other;
  }
  return a[1] * 100 + c[1];
}
NOINLINE int edit(int n, int m, const char *x, const char *y, int *last, int *row) {
  for (int j = 0; j <= m; j++) last[j] = j;
  for (int i = 1; i <= n; i++) {
    row[0] = i;
    for (int j = 1; j <= m; j++) {
      const int changed = last[j - 1] + (x[i - 1] != y[j - 1]);
      const int less = last[j] < row[j - 1] ? last[j] + 1 : row[j - 1] + 1;
      row[j] = changed < less ? changed : less;
    }
    int *other = last;
    last = row;
    row = other;
  }
  return last[m];
}
// With fewer than no iterations, and where the arrays overlap, the original runs.
NOINLINE int left(int n, int t, int *a, int *b) {
  for (int k = 0; k < t; k++) {
    for (int i = 0; i < n; i++) b[i] = a[i] + 1;
    int *other = a;
    a = b;
    b = other;
  }
  return a[0];
}
static int x[40], y[40], z[40], w[40];
static double d[40], e[40];
static void fresh(void) {
  for (int k = 0; k < 40; k++) x[k] = k % 7 + 1, y[k] = k % 5, z[k] = k, w[k] = 3 * k, d[k] = k % 9, e[k] = k;
}
static void shown(const char *of) {
  print_ints(of, x, 40), print_ints(of, y, 40), print_ints(of, z, 40), print_ints(of, w, 40);
  print_doubles(of, d, 40), print_doubles(of, e, 40);
  fresh();
}
int main(void) {
  fresh();
  for (int t = 0; t < 6; t++) printf("pair %d\n", pair(40, t, d, e) == d), shown("pair");
  for (int t = 0; t < 8; t++) printf("triple %d\n", triple(20, t, x, y, z)), shown("triple");
  for (int t = 3; t < 7; t++) printf("counter_outside %d\n", counter_outside(20, t, x, y)), shown("counter_outside");
  for (int t = 1; t < 5; t++) printf("down %d\n", down(20, t, x, y)), shown("down");
  for (unsigned t = 1; t < 12; t += 3) printf("by_three %d\n", by_three(20, t, x, y)), shown("by_three");
  for (int t = 1; t < 5; t++) printf("carried %a\n", carried(20, t, d, e)), shown("carried");
  for (int t = 1; t < 5; t++) printf("inner_outside %d\n", inner_outside(20, t, x, y)), shown("inner_outside");
  for (int t = 1; t < 5; t++) printf("in_rows %d\n", in_rows(6, t, (int(*)[6])x, (int(*)[6])y)), shown("in_rows");
  int *of_x[6], *of_y[6];
  for (int k = 0; k < 6; k++) of_x[k] = x + 6 * k, of_y[k] = y + 6 * k;
  for (int t = 1; t < 5; t++) printf("by_tables %d\n", by_tables(6, t, of_x, of_y)), shown("by_tables");
  for (int t = 2; t < 6; t++) printf("in_turns %d\n", in_turns(20, t, (int(*)[20])x)), shown("in_turns");
  for (int t = 1; t < 5; t++) printf("with_offsets %d\n", with_offsets(15, t, x)), shown("with_offsets");
  for (int t = 1; t < 4; t++) printf("begins_inside %d\n", begins_inside(20, t, x, y)), shown("begins_inside");
  for (int t = 1; t < 5; t++) printf("two_pairs %d\n", two_pairs(20, t, x, y, z, w)), shown("two_pairs");
  for (int n = 2; n < 6; n++) printf("edit %d\n", edit(n, 9, "kitten", "sittingly", x, y)), shown("edit");
  for (int t = -2; t < 0; t++) printf("negative %d\n", left(20, t, x, y)), shown("negative");
  for (int t = 2; t < 4; t++) printf("overlapping %d\n", left(20, t, x + 1, x + 3)), shown("overlapping");
}
