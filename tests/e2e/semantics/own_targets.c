// Functions with a target of their own round as that does; so do those that stand in them.
// flags: | -mfma
// fused: c.function.options
// apart: c.function.options
// pushed: c.function.options
// body: c.function.options
// user: c.call.not-inlinable
// plain: served S
#include "semantics.h"
__attribute__((noinline, target("fma"))) void fused(int n, double *x) {
  for (int i = 0; i < n; i++) x[i] = x[i] * 1.1 + 0.3;
}
__attribute__((noinline, target("no-fma"))) void apart(int n, double *x) {
  for (int i = 0; i < n; i++) x[i] = x[i] * 1.1 + 0.3;
}
#pragma clang attribute push(__attribute__((target("fma"))), apply_to = function)
NOINLINE void pushed(int n, double *x) {
  for (int i = 0; i < n; i++) x[i] = x[i] * 1.1 + 0.3;
}
#pragma clang attribute pop
static inline __attribute__((always_inline)) void body(int n, double *x) {
  for (int i = 0; i < n; i++) x[i] = x[i] * 1.1 + 0.3;
}
__attribute__((noinline, target("fma"))) void caller(int n, double *x) { body(n, x); }
static __attribute__((noinline, target("fma"))) double one(double x) { return x * 1.1 + 0.3; }
NOINLINE void user(int n, double *x) {
  for (int i = 0; i < n; i++) x[i] = one(x[i]);
}
NOINLINE void plain(int n, double *x) {
  for (int i = 0; i < n; i++) x[i] = x[i] * 1.1 + 0.3;
}
int main(void) {
  enum { n = 60 };
  static double x[n];
  void (*const all[])(int, double *) = {fused, apart, pushed, caller, user, plain};
  for (int k = 0; k < 6; k++) {
    for (int i = 0; i < n; i++) x[i] = i * 0.7 + 1. / 3;
    all[k](n, x);
    print_doubles("x", x, n);
  }
}
