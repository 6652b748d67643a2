// What a loop combines into is touched only where the program does so: the element of a sum that no iteration adds to
// need not exist, and an array of sums may be shorter than it is declared, or have other things between its elements.
// guarded: served SSSS
// nested: served SSSS
// below: served SSSS
// masked: served SSSS
// least: served SSSS
// lowest: served SSSS
// member: served SSSS
// bits: served SSSS
// ones: served SSSS
// product: served SSSS
// histogram: served SS
// apart: served SS
// also: parallelize guarded nested below least lowest member bits ones product histogram apart; vectorize guarded nested below least member bits ones product; dynamic guarded nested
// march: x86-64-v3 x86-64
// runs: OMP_NUM_THREADS=1 | OMP_NUM_THREADS=3
#include "semantics.h"
struct pair {
  int first, sum;
};
NOINLINE void guarded(int n, int k, const int *restrict x, int *restrict s) {
  for (int i = 0; i < n; i++)
    if (i >= k) s[0] += x[i];
}
NOINLINE void nested(int n, int k, const int *restrict x, int *restrict s) {
  for (int i = 0; i < n; i++)
    for (int j = k; j < 700; j++) s[0] += x[i] * j;
}
NOINLINE void below(int n, int k, const int *restrict x, int *restrict s) {
  for (int i = 0; i < n; i++)
    for (int j = k; j < 700; j++)
      s[0] = x[i] - j < s[0] ? x[i] - j : s[0];
}
NOINLINE void masked(int n, int k, const int *restrict x, int *restrict s) {
  for (int i = 0; i < n; i++)
    if (x[i] > k) s[0] += x[i];
}
NOINLINE void least(int n, int k, const int *restrict x, int *restrict s) {
  for (int i = 0; i < n; i++)
    if (i > k) s[0] = x[i] < s[0] ? x[i] : s[0];
}
NOINLINE void lowest(int n, int k, const double *restrict x, double *restrict s) {
  for (int i = 0; i < n; i++)
    for (int j = k; j < 700; j++)
      s[0] = x[i + j] < s[0] ? x[i + j] : s[0];
}
NOINLINE void member(int n, int k, const int *restrict x, struct pair *restrict s) {
  for (int i = 0; i < n; i++)
    if (i >= k) s->sum += x[i];
}
NOINLINE void bits(int n, int k, const int *restrict x, int *restrict s) {
  for (int i = 0; i < n; i++)
    if (i >= k) s[0] |= x[i];
}
NOINLINE void ones(int n, int k, const int *restrict x, int *restrict s) {
  for (int i = 0; i < n; i++)
    if (i >= k) s[0] &= ~x[i];
}
NOINLINE void product(int n, int k, const int *restrict x, int *restrict s) {
  for (int i = 0; i < n; i++)
    if (i >= k) s[0] *= 2 * x[i] + 1;
}
NOINLINE void histogram(int n, const unsigned char *restrict x, int h[restrict 64]) {
  for (int i = 0; i < n; i++) h[x[i]] += 1;
}
NOINLINE void apart(int n, const unsigned char *restrict x, struct pair h[restrict 64]) {
  for (int i = 0; i < n; i++) h[x[i]].first += i;
}
enum { N = 30000 };
static int x[N];
static double d[N + 700], low;
static unsigned char c[N];
static void all(int k, int *s, double *l, struct pair *p) {
  guarded(N, k, x, s), nested(N, k, x, s), below(N, k, x, s), masked(N, k, x, s), least(N, k, x, s);
  lowest(N, k, d, l), member(N, k, x, p), bits(N, k, x, s), ones(N, k, x, s), product(N, k, x, s);
}
int main(void) {
  for (int i = 0; i < N; i++) x[i] = i * 7 % 900, c[i] = i % 7;
  for (int i = 0; i < N + 700; i++) d[i] = i % 13 ? i % 11 + 1.5 : -0.0;
  all(N + 1, 0, 0, 0);
  int s = 5, none = 5;
  struct pair p = {1, 2};
  low = 0.0;
  all(N, &none, &low, &p);
  printf("%d %a %d %d\n", none, low, p.first, p.sum);
  for (int k = 650; k < 652; k++) {
    low = k;
    all(k, &s, &low, &p);
    printf("%d %a %d %d\n", s, low, p.first, p.sum);
  }
  int *h = before_fence(7 * sizeof *h);
  histogram(N, c, h), histogram(9, c, h);
  print_ints("histogram", h, 7);
  struct pair *q = before_fence(7 * sizeof *q);
  apart(N, c, q), apart(9, c, q);
  print_ints("apart", &q[0].first, 14);
}
