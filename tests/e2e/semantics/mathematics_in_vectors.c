// Mathematical functions in vectors, where they may be approximate: near the result, whatever the argument.
// flags: -ffast-math | -fno-math-errno -fapprox-func
// d_exp: served S
// f_exp: served S
// d_expm1: served S
// f_expm1: served S
// d_log: served S
// f_log: served S
// d_log2: served S
// f_log2: served S
// d_log10: served S
// f_log10: served S
// d_log1p: served S
// f_log1p: served S
// d_sin: served S
// f_sin: served S
// d_cos: served S
// f_cos: served S
// d_sinh: served S
// f_sinh: served S
// d_tanh: served S
// f_tanh: served S
// d_asin: served S
// f_asin: served S
// d_acos: served S
// f_acos: served S
// d_atan: served S
// f_atan: served S
// also: vectorize d_exp f_exp d_expm1 f_expm1 d_log f_log d_log2 f_log2 d_log10 f_log10 d_log1p f_log1p d_sin f_sin d_cos f_cos d_sinh f_sinh d_tanh f_tanh d_asin f_asin d_acos f_acos d_atan f_atan
// march: x86-64-v3 x86-64-v2
#include <math.h>
#include "semantics.h"
NOINLINE void d_exp(int n, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++) y[i] = exp(x[i]);
}
NOINLINE void f_exp(int n, const float *restrict x, float *restrict y) {
  for (int i = 0; i < n; i++) y[i] = expf(x[i]);
}
NOINLINE void d_expm1(int n, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++) y[i] = expm1(x[i]);
}
NOINLINE void f_expm1(int n, const float *restrict x, float *restrict y) {
  for (int i = 0; i < n; i++) y[i] = expm1f(x[i]);
}
NOINLINE void d_log(int n, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++) y[i] = log(x[i]);
}
NOINLINE void f_log(int n, const float *restrict x, float *restrict y) {
  for (int i = 0; i < n; i++) y[i] = logf(x[i]);
}
NOINLINE void d_log2(int n, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++) y[i] = log2(x[i]);
}
NOINLINE void f_log2(int n, const float *restrict x, float *restrict y) {
  for (int i = 0; i < n; i++) y[i] = log2f(x[i]);
}
NOINLINE void d_log10(int n, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++) y[i] = log10(x[i]);
}
NOINLINE void f_log10(int n, const float *restrict x, float *restrict y) {
  for (int i = 0; i < n; i++) y[i] = log10f(x[i]);
}
NOINLINE void d_log1p(int n, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++) y[i] = log1p(x[i]);
}
NOINLINE void f_log1p(int n, const float *restrict x, float *restrict y) {
  for (int i = 0; i < n; i++) y[i] = log1pf(x[i]);
}
NOINLINE void d_sin(int n, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++) y[i] = sin(x[i]);
}
NOINLINE void f_sin(int n, const float *restrict x, float *restrict y) {
  for (int i = 0; i < n; i++) y[i] = sinf(x[i]);
}
NOINLINE void d_cos(int n, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++) y[i] = cos(x[i]);
}
NOINLINE void f_cos(int n, const float *restrict x, float *restrict y) {
  for (int i = 0; i < n; i++) y[i] = cosf(x[i]);
}
NOINLINE void d_sinh(int n, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++) y[i] = sinh(x[i]);
}
NOINLINE void f_sinh(int n, const float *restrict x, float *restrict y) {
  for (int i = 0; i < n; i++) y[i] = sinhf(x[i]);
}
NOINLINE void d_tanh(int n, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++) y[i] = tanh(x[i]);
}
NOINLINE void f_tanh(int n, const float *restrict x, float *restrict y) {
  for (int i = 0; i < n; i++) y[i] = tanhf(x[i]);
}
NOINLINE void d_asin(int n, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++) y[i] = asin(x[i]);
}
NOINLINE void f_asin(int n, const float *restrict x, float *restrict y) {
  for (int i = 0; i < n; i++) y[i] = asinf(x[i]);
}
NOINLINE void d_acos(int n, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++) y[i] = acos(x[i]);
}
NOINLINE void f_acos(int n, const float *restrict x, float *restrict y) {
  for (int i = 0; i < n; i++) y[i] = acosf(x[i]);
}
NOINLINE void d_atan(int n, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++) y[i] = atan(x[i]);
}
NOINLINE void f_atan(int n, const float *restrict x, float *restrict y) {
  for (int i = 0; i < n; i++) y[i] = atanf(x[i]);
}
#define CHECK(name)                                                                                      \
  static double (*volatile d_one_##name)(double) = name;                                                 \
  static float (*volatile f_one_##name)(float) = name##f;                                                \
  static void check_##name(int count, const double *values) {                                            \
    enum { n = 45 };                                                                                     \
    double x[n], y[n];                                                                                   \
    float u[n], v[n];                                                                                    \
    int far = 0;                                                                                         \
    for (int i = 0; i < n; i++) x[i] = values[i % count], u[i] = (float)x[i];                            \
    d_##name(n, x, y), f_##name(n, u, v);                                                                \
    for (int i = 0; i < n; i++) {                                                                        \
      const double exact = d_one_##name(x[i]), rough = f_one_##name(u[i]);                               \
      far += fabs(y[i] - exact) > 1e-12 * fabs(exact) + 1e-300;                                          \
      far += fabs(v[i] - rough) > 2e-6 * fabs(rough) + 1e-35;                                            \
    }                                                                                                    \
    print_ints(#name, &far, 1);                                                                          \
  }
CHECK(exp)
CHECK(expm1)
CHECK(log)
CHECK(log2)
CHECK(log10)
CHECK(log1p)
CHECK(sin)
CHECK(cos)
CHECK(sinh)
CHECK(tanh)
CHECK(asin)
CHECK(acos)
CHECK(atan)
int main(void) {
  check_exp(9, (const double[]){-746, -5, -0.5, 0, 0.3, 3, 87, -104, -30000});
  check_expm1(6, (const double[]){-700, -5, 1e-8, 0.3, 3, 87});
  check_log(7, (const double[]){1e-30, 0.3, 1, 1.5, 10, 700, 1e30});
  check_log2(6, (const double[]){1e-30, 0.3, 1.5, 10, 700, 1e30});
  check_log10(6, (const double[]){1e-30, 0.3, 1.5, 10, 700, 1e30});
  check_log1p(6, (const double[]){1.7e-7, 5e-5, 0.3, -0.9, 10, 1e30});
  check_sin(7, (const double[]){0.3, 3, 88, 710, 30000, 1e6, 1e9});
  check_cos(7, (const double[]){0.3, 3, 88, 710, 30000, 1e6, 1e9});
  check_sinh(5, (const double[]){-5, 1e-3, 0.3, 40, 87});
  check_tanh(5, (const double[]){-5, 1e-3, 0.3, 3, 30});
  check_asin(3, (const double[]){-0.9, 0.3, 1});
  check_acos(3, (const double[]){-0.9, 0.3, 0.99});
  check_atan(3, (const double[]){-5, 0.3, 1e9});
}
