// How far subscripts reach that integer arithmetic makes, that an iteration leaves to the next, or that a table of
// constants names. Where the arrays are apart by that, the nest may change its order; where they share one element, the
// program's order stays.
// previous: served SSOSO
// largest: served SSO
// fixed: served SSOSO
// nearest: served SSOO
// facing: served SSS
// pushed: served SSO
// behind: served SSOO
// unchecked: facing
// also: parallelize previous largest fixed nearest behind; tile facing pushed
#include "semantics.h"
NOINLINE void previous(int n, int m, int *to, const int *x) {
  for (int i = 0; i < n; i++) {
    int s = i;
    for (int j = 0, k = m - 1; j < m; k = j++) s = s * 3 + (x[j] - x[k]);
    to[i] = s;
  }
}
NOINLINE void largest(int n, int m, int *to, const int *x) {
  for (int i = 0; i < n; i++) {
    int k = 0;
    for (int j = 1; j < m; j++)
      if ((x[j] ^ i) > (x[k] ^ i)) k = j;
    to[i] = x[k] + k;
  }
}
NOINLINE void fixed(int n, int m, int *to, const int *from) {
  for (int i = 0; i < n; i++) {
    int at = (int)(((long long)i * m << 8) / n), k = at >> 8, next = k + 1 < m ? k + 1 : k, w = at & 255;
    to[i] = from[k] * (256 - w) + from[next] * w;
  }
}
NOINLINE void nearest(int n, int m, int *to, const int *from) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) to[i * n + j] = from[(i * m / n) * m + j * m / n] + j;
}
// Rows of one array that face each other, in a type that wraps.
static const int across[5] = {0, 3, 4, 1, 2};
NOINLINE void facing(int n, int *d) {
  for (int i = 0; i < n; i++)
    for (int q = 1; q < 5; q++)
      if (q < across[q]) {
        int t = d[(size_t)q * n + i];
        d[(size_t)q * n + i] = d[(size_t)across[q] * n + i] + 1;
        d[(size_t)across[q] * n + i] = t;
      }
}
NOINLINE void pushed(int n, int m, int *to, const int *from) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int q = 0; q < 5; q++) to[(q * n + (i + across[q]) % n) * m + (j + 2 * q) % m] = from[(q * n + i) * m + j] + q;
}
// Behind a loop that may not run, the value is still the one from before it.
NOINLINE void behind(int n, int m, int c, int *to, const int *from) {
  for (int i = 0; i < n; i++) {
    int k = c;
    for (int j = 0; j < m; j++) k = j;
    to[i] = from[k] + i;
  }
}
static int d[4000];
static void fill(void) {
  for (int i = 0; i < 4000; i++) d[i] = i * 37 % 1001;
}
int main(void) {
  enum { n = 40, m = 30 };
  for (int k = 0; k < 2; k++) {
    void (*f)(int, int, int *, const int *) = k ? fixed : previous;
    fill();
    f(n, m, d, d + n);          // adjacent
    f(n, m, d + m, d);          // the other way round
    f(n, m, d + m - 1, d);      // one element
    f(n, 1, d + 100, d + 140);  // a single one, that is its own predecessor and has no next
    f(n, 1, d + 100, d + 139);
    print_ints(k ? "fixed" : "previous", d, 200);
  }
  fill();
  largest(n, m, d, d + n);
  largest(n, m, d + m, d);
  largest(n, m, d + m - 1, d);
  print_ints("largest", d, 200);
  fill();
  nearest(20, 30, d + 900, d);
  nearest(30, 20, d, d + 900);
  nearest(20, 30, d + 899, d);
  nearest(30, 20, d, d + 899);
  print_ints("nearest", d, 2000);
  fill();
  facing(n, d);
  facing(1, d + 300);
  facing(0, d);
  print_ints("facing", d, 400);
  fill();
  pushed(20, 10, d + 1000, d);
  pushed(5, 40, d, d + 1000);
  pushed(20, 10, d + 999, d);
  print_ints("pushed", d, 2100);
  fill();
  behind(n, m, 3, d, d + n);
  behind(n, 0, m, d, d + n);
  behind(n, 0, -1, d, d + n);   // the last one written
  behind(n, m, 50, d + 50, d);
  print_ints("behind", d, 200);
}
