// Complex numbers: infinities and what is no number in products (annex G), signs of zeros, parts that are written while
// they are read, memory that overlaps.
// product: served SSS
// summed: served SS
// in_place: served SS
// real_operands: served SS
// floats: served SS
// functions: served S
// escape: served S
// chosen: served S
// equal: served S
// members: served S
// scaled_by: served SSO
// table: served S
// stepped: served S
// rounded: served S
// quotients: c.type
// pointed: c.pointer
// also: vectorize product scaled_by functions equal floats; parallelize product escape; inner table
#include <complex.h>
#include <math.h>
#include "semantics.h"
typedef double complex number;
NOINLINE void product(int n, const number* a, const number* b, number* restrict out) {
  for (int i = 0; i < n; i++) out[i] = a[i] * b[i];
}
NOINLINE number summed(int n, const number* a, const number* b) {
  number sum = -0.0;
  for (int i = 0; i < n; i++) sum += a[i] * conj(b[n - 1 - i]) - ~a[i];
  return sum;
}
// The imaginary part needs the old real one.
NOINLINE void in_place(int n, number* z, number w) {
  for (int i = 0; i < n; i++) {
    z[i] *= w;
    z[i] = cimag(z[i]) + I * creal(z[i]);
    number t = z[i];
    t = -t * t + 1;
    z[i] -= t;
  }
}
// Real operands have no imaginary part: no zero is added to it, and none multiplied with it.
NOINLINE void real_operands(int n, const number* z, const double* r, number* restrict out) {
  for (int i = 0; i < n; i++) {
    out[5 * i] = z[i] + r[i];
    out[5 * i + 1] = r[i] - z[i];
    out[5 * i + 2] = r[i] * z[i];
    out[5 * i + 3] = z[i] / r[i];
    out[5 * i + 4] = I * r[i] + -z[i] * (2.0f * I);
  }
}
NOINLINE void floats(int n, const float complex* a, float complex c, float complex* restrict out) {
  for (int i = 0; i < n; i++) {
    out[i] = a[i] * c + a[i] * 0.5f;
    out[i] += c * a[i];
  }
}
static number square(number z) { return z * z; }
static number clipped(number z, double most) {
  if (cabs(z) <= most) return z;
  z *= most / cabs(z);
  return z;
}
NOINLINE void functions(int n, const number* z, number* restrict out, double* restrict angles) {
  for (int i = 0; i < n; i++) {
    out[i] = square(clipped(z[i], 2)) + square(z[i] - 1);
    angles[i] = carg(z[i]) + cabs(out[i]) + creal(2.5 * z[i]) + cimag(z[i]);
  }
}
NOINLINE void escape(int n, int most, int* restrict counts) {
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) {
      number c = (3.0 * x / n - 2) + (2.0 * y / n - 1) * I, z = 0;
      int k = 0;
      while (k < most && cabs(z) < 2) {
        z = z * z + c;
        k++;
      }
      counts[y * n + x] = k;
    }
}
// What one arm reads alone is not there for the others.
NOINLINE void chosen(int n, int there, const number* a, const number* b, number* restrict out) {
  for (int i = 0; i < n; i++) out[i] = i < there ? a[i] * 2.0 : i % 2 ? b[i] : 1.0;
}
NOINLINE void equal(int n, const number* a, const number* b, int* restrict out) {
  for (int i = 0; i < n; i++) out[i] = (a[i] == b[i]) + 2 * (a[i] != 1.0) + 4 * (a[i] ? 1 : 0) + 8 * !b[i];
}
struct mode { int k; number amplitude; double loss; };
NOINLINE void members(int n, struct mode* m, number phase) {
  for (int i = 0; i < n; i++) m[i].amplitude = m[i].amplitude * phase * m[i].loss;
}
NOINLINE void scaled_by(int n, const number* x, number* y, number alpha) {
  for (int i = 0; i < n; i++) y[i] += alpha * x[i];
}
NOINLINE void table(int n, int m, number (*restrict out)[7], const number* a) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 7; j++) out[i][j] = a[i * m + j] * a[j * m + i];
}
NOINLINE number stepped(int n, const number* p) {
  number last = 0;
  for (int i = 0; i < n; i++) last = last * 0.5 + *p++;
  return last;
}
// No product of complex arithmetic is contracted with a sum in it; one of real numbers is.
NOINLINE void rounded(int n, const number* z, const double* r, number* restrict out, double* restrict real) {
  for (int i = 0; i < n; i++) {
    out[i] = r[i] * z[i] + z[i];
    real[i] = creal(z[i]) * r[i] + cimag(z[i]);
  }
}
NOINLINE void quotients(int n, const number* a, const number* b, number* restrict out) {
  for (int i = 0; i < n; i++) out[i] = a[i] / b[i];
}
static void turn(number* z) { *z *= I; }
NOINLINE void pointed(int n, number* restrict out) {
  for (int i = 0; i < n; i++) {
    number z = i;
    turn(&z);
    out[i] = z;
  }
}
int main(void) {
  static const double odd[] = {0.0, -0.0, 1, -2.5, INFINITY, -INFINITY, NAN, 1e300, -1e300, 5e-324, 3};
  enum { K = sizeof odd / sizeof *odd, N = K * K * K * K };
  static number a[N], b[N], out[5 * N];
  static double r[N], more[N];
  static float complex fa[N], fout[N];
  static int counts[N];
  for (int i = 0; i < N; i++) {
    __real__ a[i] = odd[i % K], __imag__ a[i] = odd[i / K % K];
    __real__ b[i] = odd[i / K / K % K], __imag__ b[i] = odd[i / K / K / K];
    r[i] = odd[(i + 5) % K];
    fa[i] = a[i];
  }
  const double* parts = (const double*)out;
  product(N, a, b, out);
  for (int i = 0; i < N; i += 11) print_doubles("product", parts + 2 * i, 22);
  product(0, a, b, out), product(3, a + 7, b + 40, out);
  print_doubles("few", parts, 6);
  static const double tame[] = {0.5, -1.25, 3, -0.0, 2, 0.75, -7, 1};
  for (int i = 0; i < N; i++) __real__ b[i] = tame[i % 8], __imag__ b[i] = tame[i / 8 % 8];
  out[0] = summed(300, b, b + 9), out[1] = summed(1, a + 44, b);
  print_doubles("summed", parts, 4);
  for (int k = 0; k < 2; k++) {
    memcpy(out, k ? a : b, sizeof a);
    in_place(K * K, out, 0.5 - 2 * I);
    print_doubles("in_place", parts, 2 * K * K);
  }
  real_operands(K * K, a, r, out), print_doubles("real_operands", parts, 10 * K * K);
  real_operands(K * K, b, r + 3, out), print_doubles("real_operands", parts, 10 * K * K);
  floats(K * K, fa, 0.3f - I, fout), print_floats("floats", (const float*)fout, 2 * K * K);
  floats(1, fa + 7, INFINITY, fout), print_floats("float", (const float*)fout, 2);
  functions(K * K, b, out, more), print_doubles("functions", parts, 2 * K * K), print_doubles("angles", more, K * K);
  escape(20, 100, counts), print_ints("escape", counts, 400);
  number* end = before_fence(3 * sizeof *end);
  for (int i = 0; i < 3; i++) end[i] = a[i + 20];
  chosen(50, 3, end, b, out), print_doubles("chosen", parts, 100);
  equal(K * K, a, b, counts), print_ints("equal", counts, K * K);
  static struct mode modes[9];
  for (int i = 0; i < 9; i++) modes[i] = (struct mode){i, a[i * 7], r[i]};
  members(9, modes, 1 - I);
  for (int i = 0; i < 9; i++) print_doubles("members", (const double*)&modes[i].amplitude, 2);
  memcpy(out, b, sizeof b);
  scaled_by(100, a, out, 2 + I), print_doubles("scaled_by", parts, 200);
  scaled_by(0, a, out, 1), scaled_by(60, out, out + 1, -0.25 * I), print_doubles("overlapping", parts, 130);
  table(5, 9, (number(*)[7])out, b), print_doubles("table", parts, 70);
  out[0] = stepped(40, b), print_doubles("stepped", parts, 2);
  for (int i = 0; i < 60; i++) r[i] = 1.0 / (i + 3), b[i] = r[i] * 3 + I / (i + 0.7);
  rounded(60, b, r, out, more), print_doubles("rounded", parts, 120), print_doubles("real", more, 60);
  quotients(K * K, a, b, out), print_doubles("quotients", parts, 2 * K * K);
  pointed(5, out), print_doubles("pointed", parts, 10);
}
