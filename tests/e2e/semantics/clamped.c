// Subscripts that functions and macros keep in bounds; bounds that cross.
// blur: served *
// macro: served *
// upper_first: served *
// crossed: served SSO
// folded: served *
// absolute: served *
// signs: served *
// assigned: served *
// fetched: served *
// started: served *
// also: parallelize started assigned fetched blur macro upper_first crossed absolute signs
#include <stdlib.h>
#include "semantics.h"
static int clamp(int v, int low, int high) {
  if (v < low) return low;
  if (v > high) return high;
  return v;
}
static inline int at_most(int a, int b) {
  if (a < b) {
    return a;
  } else {
    return b;
  }
}
static int fold(int i, int n) {
  if (i < 0)
    return -i;
  else if (i >= n)
    return 2 * n - 2 - i;
  return i;
}
static int sign(double x) {
  if (x > 0)
    return 1;
  else if (x < 0)
    return -1;
  return 0;
}
#define CLAMP(v, low, high) ((v) < (low) ? (low) : (v) > (high) ? (high) : (v))
NOINLINE void blur(int h, int w, int *restrict to, const int *restrict from) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      int s = 0;
      for (int d = -2; d <= 2; d++) s += from[y * w + clamp(x + d, 0, w - 1)] * (d + 3);
      to[y * w + x] = s;
    }
}
NOINLINE void macro(int h, int w, int *restrict to, const int *restrict from) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      int up = CLAMP(y - 1, 0, h - 1), right = CLAMP(x + 2, 0, w - 1);
      to[y * w + x] = from[up * w + right] - from[y * w + x];
    }
}
NOINLINE void upper_first(int n, int *restrict to, const int *restrict from) {
  for (int i = 0; i < n; i++) {
    int k = n - 1 < i + 3 ? n - 1 : i + 3 < 1 ? 1 : i + 3;
    to[i] = from[k] + from[at_most(i + 1, n - 1)] + from[i - 4 > 0 ? (i - 4 < n ? i - 4 : n) : 0];
  }
}
NOINLINE void crossed(int n, int low, int high, int *restrict to, const int *restrict from) {
  for (int i = 0; i < n; i++) to[i] = from[clamp(i, low, high)] + i;
}
NOINLINE void folded(int n, int *restrict to, const int *restrict from) {
  for (int i = 0; i < n; i++) to[i] = from[fold(i - 2, n)] - from[fold(i + 3, n)];
}
NOINLINE void absolute(int n, int *restrict to, const int *restrict from, const int *restrict weight) {
  for (int i = 0; i < n; i++) to[i] = weight[abs(from[i] - from[n - 1 - i])] + weight[abs(i - 5)];
}
NOINLINE void signs(int n, int *restrict to, const double *restrict x) {
  for (int i = 0; i < n; i++) to[i] = sign(x[i]) * 3 + sign(x[n - 1 - i]);
}
// The same by assignments, here and in what is called.
NOINLINE void assigned(int h, int w, int *to, const int *from) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      int s = 0;
      for (int d = -2; d <= 2; d++) {
        int a = x + d, b = y - d;
        if (a < 0) a = 0;
        if (a >= w) a = w - 1;
        if (b > h - 1)
          b = h - 1;
        else if (b < 0)
          b = 0;
        s += from[b * w + a] * (d + 3);
      }
      to[y * w + x] = s;
    }
}
static int pixel(const int *image, int w, int h, int x, int y) {
  if (x < 0) x = -x - 1;
  if (x >= w) x = w - 1;
  y = y < 0 ? 0 : y >= h ? h - 1 : y;
  return image[y * w + x];
}
NOINLINE void fetched(int h, int w, int *to, const int *from) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) to[y * w + x] = pixel(from, w, h, x - 3, y + 2) - 3 * pixel(from, w, h, x + 1, y - 1);
}
// As many as there are so far.
NOINLINE void started(int n, int *to, const int *from, const int *weight) {
  for (int i = 0; i < n; i++) {
    int sum = 0, most = i < 9 ? i : 9;
    for (int k = 0; k <= most; k++) sum += weight[k] * from[i - k];
    to[i] = sum;
  }
}
int main(void) {
  int from[60], to[60], weight[256];
  double x[60];
  for (int i = 0; i < 256; i++) weight[i] = 1000 / (i + 1);
  for (int i = 0; i < 60; i++) from[i] = i * 37 % 101, x[i] = i % 3 ? i - 31 : 0.0;
  for (int h = 1; h <= 6; h++)
    for (int w = 1; w <= 9; w += h) {
      blur(h, w, to, from), print_ints("blur", to, h * w);
      macro(h, w, to, from), print_ints("macro", to, h * w);
      assigned(h, w, to, from), print_ints("assigned", to, h * w);
      fetched(h, w, to, from), print_ints("fetched", to, h * w);
    }
  for (int n = 6; n <= 60; n += 9) {
    upper_first(n, to, from), print_ints("upper first", to, n);
    folded(n, to, from), print_ints("folded", to, n);
    absolute(n, to, from, weight), print_ints("absolute", to, n);
    signs(n, to, x), print_ints("signs", to, n);
    started(n, to, from, weight), print_ints("started", to, n);
  }
  crossed(50, 1, 4, to, from), print_ints("apart", to, 50);
  crossed(50, 5, 5, to, from), print_ints("equal", to, 50);
  crossed(50, 5, 2, to, from), print_ints("crossed", to, 50);
  upper_first(1, to, from + 3), print_ints("one", to, 1);
  started(1, to, from, weight), print_ints("one started", to, 1);
}
