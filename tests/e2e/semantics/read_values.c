// How far subscripts reach that are read from variables: what clamps, conditions and remainders say of these. Where the
// arrays are apart by that, the nest may change its order; where they share one element, the program's order stays.
// clamped: served SSOSO
// later: served SSOSO
// guarded: served SSO
// wrapped: served SSO
// folded: served SSS
// unchecked: folded
// also: parallelize clamped later guarded wrapped
#include "semantics.h"
static int clamp(int v, int low, int high) { return v < low ? low : v > high ? high : v; }
NOINLINE void clamped(int n, double by, int *to, const int *from) {
  for (int i = 0; i < n; i++) {
    int at = clamp((int)(i * by) - 3, 0, n - 1);
    to[i] = from[at] + i;
  }
}
NOINLINE void later(int n, double by, int *to, const int *from) {
  for (int i = 0; i < n; i++) {
    int at = (int)(i * by) - 3;
    if (at < 0) at = 0;
    if (at >= n) at = n - 1;
    to[i] = from[at] + i;
  }
}
NOINLINE void guarded(int n, int m, double by, int *to, const int *from) {
  for (int i = 0; i < n; i++) {
    int at = (int)(i * by) - 3, sum = i;
    if (at >= 0 && at + 1 < m) sum += from[at] + from[at + 1];
    to[i] = sum;
  }
}
static const int steps[4] = {0, 1, -1, 1};
NOINLINE void wrapped(int n, int *to, const int *from) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 4; k++) {
      int at = (i - steps[k] + n) % n;
      to[i * 4 + k] = from[at] + k;
    }
}
// What is kept from the iteration before is not bounded by what this one makes of it.
NOINLINE void folded(int n, double by, int *to, const int *from) {
  int at = 0;
  for (int i = 0; i < n; i++) {
    to[i] = from[at] + i;
    at = (int)(i * by);
    if (at >= 2 * n) at = n;
  }
}
static int d[400];
static void fill(void) {
  for (int i = 0; i < 400; i++) d[i] = i * 37 % 101;
}
int main(void) {
  enum { n = 40 };
  for (int k = 0; k < 2; k++) {
    void (*f)(int, double, int *, const int *) = k ? later : clamped;
    fill();
    f(n, 1.7, d, d + n);          // adjacent
    f(n, 1.7, d + n, d);          // the other way round
    f(n, 1.7, d + n - 1, d);      // one element
    f(n, -1.0, d + 100, d + 60);  // all below
    f(n, 0.5, d, d);              // one array under two names
    print_ints("clamped", d, 200);
  }
  fill();
  guarded(n, 60, 1.9, d, d + n);
  guarded(n, 60, 1.9, d + 60, d);
  guarded(n, 60, 1.9, d + 59, d);
  print_ints("guarded", d, 200);
  fill();
  wrapped(30, d, d + 120);
  wrapped(30, d + 30, d);
  wrapped(30, d + 29, d);
  print_ints("wrapped", d, 200);
  fill();
  folded(n, 1.0, d, d + 200);
  folded(n, 1.0, d + 20, d);
  folded(0, 1.0, d, d);
  print_ints("folded", d, 300);
}
