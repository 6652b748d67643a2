// Each case of a switch goes its own way, into the next one where no break is, and out of the loop by continue.
// blend: served *
// falls: served S
// skips: served S
// wide: served S
// by_index: served S
// nested: served S
// in_search: served S
// duff: c.switch
// declares: c.switch
// also: parallelize blend falls skips wide by_index nested in_search
#include "semantics.h"
NOINLINE void blend(int n, int mode, double *restrict x, const double *restrict y) {
  for (int i = 0; i < n; i++) {
    switch (mode) {
      case 0: x[i] = y[i]; break;
      case 1: x[i] = x[i] * y[i]; break;
      case 2: x[i] = x[i] < y[i] ? x[i] : y[i]; break;
      default: x[i] += y[i];
    }
  }
}
NOINLINE void falls(int n, int *restrict out, const int *restrict k) {
  for (int i = 0; i < n; i++) {
    int s = 0;
    switch (k[i]) {
      case 1:
      case 2: s += 1;
      default: s += 10;
      case 5: s += 100; break;
      case 7: {
        s += 1000;
        if (i % 2) break;
        s += 2000;
      }
      case 8: s += 5;
    }
    out[i] = s;
  }
}
NOINLINE void skips(int n, int *restrict out, const int *restrict k) {
  for (int i = 0; i < n; i++) {
    switch (k[i] % 4) {
      case 0: continue;
      case 1: out[i] = 1; break;
      case -1: out[i] = -1;
      case 2: if (i > 5) continue;
    }
    out[i] += 10;
  }
}
NOINLINE void wide(int n, int *restrict out, const unsigned long *restrict k, const signed char *restrict c) {
  for (int i = 0; i < n; i++) {
    out[i] = 0;
    switch (k[i]) {
      case 0xffffffffffffffffu: out[i] = 1; break;
      case 0x80000000u: out[i] = 2; break;
    }
    switch (c[i]) {
      case -128: out[i] += 10; break;
      case 255: out[i] += 20; break;
      case 127: out[i] += 30;
    }
  }
}
NOINLINE void by_index(int n, double *restrict x) {
  for (int i = 0; i < n; i++)
    switch (i % 3) {
      case 0: x[i] = 1; break;
      case 1: x[i] = 2 * x[i]; break;
      case 2: x[i] = x[i] - i;
    }
}
NOINLINE void nested(int n, int *restrict out, const int *restrict k) {
  for (int i = 0; i < n; i++)
    switch (k[i]) {
      case 1:
        switch (i % 2) {
          case 0: out[i] = 4; break;
          default: out[i] = 5;
        }
        out[i]++;
        break;
      case 2: out[i] = 6;
    }
}
NOINLINE void in_search(int n, int m, int *restrict out, const int *restrict k) {
  for (int i = 0; i < n; i++) {
    int j, s = 0;
    for (j = 0; j < m; j++) {
      switch (k[j]) {
        case 1: s += i; break;
        case 2: s -= 1; continue;
        default: s += 1000;
      }
      if (s > 3000) break;
    }
    out[i] = s * 100 + j;
  }
}
NOINLINE void duff(int n, int *restrict out) {
  for (int i = 0; i < n; i++)
    switch (i % 2) {
      case 0:
        do {
          out[i]++;
          case 1: out[i] += 2;
        } while (out[i] < 10);
    }
}
NOINLINE void declares(int n, int *restrict out) {
  for (int i = 0; i < n; i++)
    switch (i % 2) {
      case 0:;
        int t;
        t = 3;
        out[i] = t;
        break;
      case 1: t = 4, out[i] = t;
    }
}
int main(void) {
  enum { n = 41 };
  double x[n], y[n];
  int k[n], out[n];
  unsigned long wides[n];
  signed char c[n];
  for (int mode = -1; mode < 4; mode++) {
    for (int i = 0; i < n; i++) x[i] = i % 7 - 3.25, y[i] = i % 5;
    blend(n, mode, x, y), print_doubles("blend", x, n);
  }
  for (int i = 0; i < n; i++) {
    k[i] = i % 11 - 1, out[i] = i;
    wides[i] = i % 3 ? i % 2 ? -1ul : 0x80000000u : 0xffffffffu, c[i] = i % 4 ? i % 2 ? -128 : 127 : -1;
  }
  falls(n, out, k), print_ints("falls", out, n);
  for (int i = 0; i < n; i++) k[i] = i % 13 - 6, out[i] = i;
  skips(n, out, k), print_ints("skips", out, n);
  wide(n, out, wides, c), print_ints("wide", out, n);
  by_index(n, x), print_doubles("by_index", x, n);
  for (int i = 0; i < n; i++) k[i] = i % 4, out[i] = -i;
  nested(n, out, k), print_ints("nested", out, n);
  in_search(n, n, out, k), print_ints("in_search", out, n);
  duff(n, out), declares(n, out), print_ints("duff", out, n);
}
