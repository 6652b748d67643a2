// break, continue and return of called functions: nothing behind them is evaluated, everything before is.
// first: served SSS
// guarded: served S
// twice: served S
// passes: served S
// counts: served S
// inner_only: served S
// after: served S
// step_kept: served S
// reach: served SSO
// outermost: c.break
// also: parallelize first guarded twice passes counts inner_only
#include "semantics.h"
NOINLINE void first(int n, int m, int *restrict at, const double *restrict a, const double *restrict x) {
  for (int i = 0; i < n; i++) {
    int found = -1;
    for (int j = 0; j < m; j++)
      if (a[i * m + j] > x[i]) {
        found = j;
        break;
      }
    at[i] = found;
  }
}
// The element behind the one that ends the search lies where no memory is.
NOINLINE void guarded(int n, int *restrict lengths, const char *restrict text, const int *restrict start) {
  for (int i = 0; i < n; i++) {
    int k = start[i];
    while (1 == 1) {
      if (text[k] == 0) break;
      k++;
    }
    lengths[i] = k - start[i];
  }
}
NOINLINE void twice(int n, int m, int *restrict out, const int *restrict a) {
  for (int i = 0; i < n; i++) {
    int s = 0;
    for (int j = 0; j < m; j++) {
      if (a[i * m + j] == 3) continue;
      if (a[i * m + j] == 5) break;
      int k = 0;
      for (; k < 10; k++) {
        s += k;
        if (k >= a[i * m + j]) break;
        if (k == 2) continue;
        s += 100;
      }
      s += 1000 * k;
    }
    out[i] = s;
  }
}
// The step is not made, nor the condition looked at, once more.
NOINLINE void passes(int n, int *restrict out, int *restrict calls) {
  for (int i = 0; i < n; i++) {
    int looks = 0, k;
    for (k = 0; (looks = looks + 1) < 9; k += 2) {
      if (k == i) break;
      if (k == 6) continue;
      looks = looks + 0;
    }
    out[i] = k;
    calls[i] = looks;
  }
}
NOINLINE void counts(int n, int *restrict out) {
  for (int i = 0; i < n; i++) {
    int k = i, c = 0;
    do {
      c++;
      if (c > 40) break;
      if (k % 2) {
        k = 3 * k + 1;
        continue;
      }
      k /= 2;
    } while (k > 1);
    out[i] = c * 1000 + k;
  }
}
NOINLINE void inner_only(int n, int m, double *restrict a) {
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int j = 0; j < m; j++) {
      s += a[i * m + j];
      if (s > 10) break;
    }
    for (int j = 0; j < m; j++) a[i * m + j] /= s + 1;
  }
}
NOINLINE int after(int n, int m, const int *restrict a, int *restrict out) {
  int j = 77, hits = 0;
  for (int i = 0; i < n; i++) {
    for (j = 0; j < m; j++)
      if (a[j] == i) break;
    hits += j < m;
    out[i] = j;
  }
  return hits * 100 + j;
}
// i + step would overflow behind the break.
NOINLINE void step_kept(int n, int *restrict out) {
  for (int i = 0; i < n; i++) {
    int k;
    for (k = 2147483000; k > 0; k += 300) {
      if (k > 2147483400) break;
    }
    out[i] = k;
  }
}
// How far the search may go is compared on entry: the last element of a may be the first of at.
NOINLINE void reach(int n, int m, int *at, const int *a) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= m - 1; j++)
      if (a[i * m + j] > 50) {
        at[i] = j;
        break;
      }
}
NOINLINE int outermost(int n, double *restrict x) {
  for (int i = 0; i < n; i++) {
    if (x[i] < 0) break;
    x[i] = 0;
  }
  return n;
}
int main(void) {
  enum { n = 23, m = 17 };
  double a[n * m], x[n];
  int b[n * m], out[n], calls[n];
  for (int i = 0; i < n * m; i++) a[i] = (i * 37) % 101 * .01, b[i] = (i * 13) % 11;
  for (int i = 0; i < n; i++) x[i] = i % 3 ? .95 : i % 2 ? 2 : -1;
  first(n, m, out, a, x), print_ints("first", out, n);
  first(n, 0, out, a, x), print_ints("none", out, n);
  first(0, m, out, a, x), print_ints("zero", out, n);
  char *text = before_fence(40);
  for (int i = 0; i < 40; i++) text[i] = i % 7 == 4 ? 0 : 'a';
  text[39] = 0;
  for (int i = 0; i < n; i++) calls[i] = i * 39 / 22;
  guarded(n, out, text, calls), print_ints("guarded", out, n);
  twice(n, m, out, b), print_ints("twice", out, n);
  passes(n, out, calls), print_ints("passes", out, n), print_ints("looks", calls, n);
  counts(n, out), print_ints("counts", out, n);
  inner_only(n, m, a), print_bytes("inner_only", a, sizeof a);
  printf("after %d\n", after(n, m, b, out)), print_ints("after", out, n);
  step_kept(n, out), print_ints("step_kept", out, n);
  int both[n * m + n];
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < n * m + n; i++) both[i] = (i * 31) % 53;
    both[n * m - 1] = 60;
    reach(n, m, both + n * m - k / 2, both), print_ints("reach", both + n * m - 3, n + 3);
  }
  x[5] = -1;
  printf("outermost %d\n", outermost(n, x)), print_doubles("outermost", x, n);
}
