// Loops whose bound the loop itself changes: each test compares with what it is by then, not with its first value.
// reversed: served SSSS
// folded: served SSS
// as_text: served SS
// taken_off: served SS
// in_body: served SS
// two_ends: served SS
// each_row: served S
// rarely: c.loop.bound-changes
// limits: c.loop.bound-changes
// shifting: c.loop.form
// inside: served S
// members: served S
// also: parallelize each_row
#include "semantics.h"

NOINLINE int reversed(int n, int *x) {
  int i, j;
  for (i = 0, j = n - 1; i < j; i++, j--) {
    int t = x[i];
    x[i] = x[j];
    x[j] = t;
  }
  return i * 100 + j;
}
NOINLINE void folded(int j, int *x) {
  for (int i = 0; i < j; i++, j--) x[i] += x[j];
}
NOINLINE void as_text(int n, char *s) {
  int c, i, j;
  for (i = 0, j = n - 1; i < j; i++, j--) {
    c = s[i];
    s[i] = s[j];
    s[j] = (char)c;
  }
}
NOINLINE int taken_off(int n, int *restrict x) {
  int i, t = 0;
  for (i = 0; i < n - t; i++) {
    x[i + t]++;
    t++;
  }
  return i * 100 + t;
}
NOINLINE int in_body(int n, int *restrict x) {
  int i;
  for (i = 0; i < n; i += 1) x[--n] += 1;
  return i * 100 + n;
}
NOINLINE int two_ends(int n, int *restrict x) {
  int i, j = 0;
  for (i = n; i > j; i--) x[j++] += i;
  return i * 100 + j;
}
NOINLINE int each_row(int rows, int n, int *restrict x) {
  for (int r = 0; r < rows; r++) {
    int j = n - 1;
    for (int i = 0; i < j; i++, j--) x[r * n + i] += x[r * n + j];
  }
  return rows;
}
NOINLINE int rarely(int n, int *restrict x) {
  int i;
  for (i = 0; i < n; i++) {
    x[i] += 1;
    if (x[i] > 5) n--;
  }
  return i * 100 + n;
}
NOINLINE int limits(const int *restrict limit, int *restrict x) {
  int i, k = 0;
  for (i = 0; i < limit[k]; i++) {
    x[i] += 1;
    k++;
  }
  return i * 100 + k;
}
NOINLINE int shifting(const int *restrict limit, int *restrict x) {
  int i;
  for (i = 0; i < *limit; i++) {
    x[i] += 1;
    limit++;
  }
  return i;
}
// In a loop around it, it is one that counts by what memory holds.
NOINLINE void inside(int rows, int n, int *restrict x, int *restrict to) {
  for (int r = 0; r < rows; r++) {
    int m = n, i;
    for (i = 0; i < m; i++) {
      to[r] += x[i];
      if (x[i] > r) m--;
    }
    to[r] = to[r] * 100 + i;
  }
}
// What only has its address taken is as it was.
struct size { int rows, columns; };
static int scaled(const struct size *s, int v) { return v * s->columns; }
NOINLINE void members(struct size s, int *restrict x) {
  for (int i = 0; i < s.rows; i++) x[i] = scaled(&s, x[i]);
}
int main(void) {
  enum { n = 40 };
  int x[n], to[5];
  for (int k = 0; k < n; k++) x[k] = k;
  for (int k = 0; k < 4; k++) printf("reversed %d\n", reversed((int[]){21, 0, 1, 8}[k], x));
  print_ints("reversed", x, n);
  for (int k = 0; k < 3; k++) folded((int[]){21, 0, 6}[k], x);
  print_ints("folded", x, n);
  char text[] = "hello, world", even[] = "abcdef";
  as_text(12, text), as_text(6, even), printf("%s %s\n", text, even);
  printf("taken_off %d %d\n", taken_off(30, x), taken_off(1, x)), print_ints("taken_off", x, n);
  printf("in_body %d %d\n", in_body(30, x), in_body(7, x)), print_ints("in_body", x, n);
  printf("two_ends %d %d\n", two_ends(30, x), two_ends(7, x)), print_ints("two_ends", x, n);
  printf("each_row %d\n", each_row(4, 10, x)), print_ints("each_row", x, n);
  for (int k = 0; k < n; k++) x[k] = k % 9;
  printf("rarely %d\n", rarely(n, x)), print_ints("rarely", x, n);
  const int limit[] = {5, 5, 4, 6, 3, 2, 9, 9, 9, 9};
  printf("limits %d %d\n", limits(limit, x), shifting(limit, x)), print_ints("limits", x, n);
  for (int k = 0; k < 5; k++) to[k] = k;
  inside(5, 30, x, to), print_ints("inside", to, 5);
  members((struct size){7, 3}, x), print_ints("members", x, n);
}
