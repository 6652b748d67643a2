// 3mm, spelled differently: the second product first, each with its own order of loops, sums in scalars, and the last
// product over linearized arrays.
#include "polybench.h"

#define P SIZE(16, 40, 180, 800, 1600)
#define Q SIZE(18, 50, 190, 900, 1800)
#define R SIZE(20, 60, 200, 1000, 2000)
#define S SIZE(22, 70, 210, 1100, 2200)
#define T SIZE(24, 80, 220, 1200, 2400)

static void init(int p, int q, int r, int s, int t, DATA_TYPE a[P][R], DATA_TYPE b[R][Q], DATA_TYPE c[Q][T],
                 DATA_TYPE d[T][S]) {
  for (int i = 0; i < p; i++)
    for (int j = 0; j < r; j++) a[i][j] = (DATA_TYPE)((i * j + 1) % p) / (5 * p);
  for (int i = 0; i < r; i++)
    for (int j = 0; j < q; j++) b[i][j] = (DATA_TYPE)((i * (j + 1) + 2) % q) / (5 * q);
  for (int i = 0; i < q; i++)
    for (int j = 0; j < t; j++) c[i][j] = (DATA_TYPE)(i * (j + 3) % s) / (5 * s);
  for (int i = 0; i < t; i++)
    for (int j = 0; j < s; j++) d[i][j] = (DATA_TYPE)((i * (j + 2) + 2) % r) / (5 * r);
}

static void kernel_3mm(int p, int q, int r, int s, int t, DATA_TYPE ab[P][Q], DATA_TYPE a[P][R], DATA_TYPE b[R][Q],
                       DATA_TYPE cd[Q][S], DATA_TYPE c[Q][T], DATA_TYPE d[T][S], DATA_TYPE* abcd) {
  for (int y = 0; y < q; y++)
    for (int x = 0; x < s; x++) cd[y][x] = SCALAR(0.0);
  for (int y = 0; y < q; y++)
    for (int z = 0; z < t; z++)
      for (int x = 0; x < s; x++) cd[y][x] += c[y][z] * d[z][x];
  for (int x = 0; x < q; x++)
    for (int y = 0; y < p; y++) {
      DATA_TYPE sum = SCALAR(0.0);
      for (int z = 0; z < r; z++) sum += a[y][z] * b[z][x];
      ab[y][x] = sum;
    }
  for (int y = 0; y < p; y++)
    for (int x = 0; x < s; x++) {
      abcd[y * S + x] = SCALAR(0.0);
      for (int z = 0; z < q; z++) abcd[y * S + x] += ab[y][z] * cd[z][x];
    }
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_2D(ab, P, Q);
  ARRAY_2D(a, P, R);
  ARRAY_2D(b, R, Q);
  ARRAY_2D(cd, Q, S);
  ARRAY_2D(c, Q, T);
  ARRAY_2D(d, T, S);
  ARRAY_1D(abcd, P * S);
  init(P, Q, R, S, T, a, b, c, d);
  TIMED(kernel_3mm(P, Q, R, S, T, ab, a, b, cd, c, d, abcd));
  DUMP(outputs, abcd, P * S);
  return pb_finish(&outputs);
}
