// adi: alternating direction implicit solution of the two-dimensional heat equation; each half step solves one
// tridiagonal system per column, then per row (forward elimination into p and q, back substitution).
#include "polybench.h"

#define TSTEPS SIZE(20, 40, 100, 500, 1000)
#define N SIZE(20, 60, 200, 1000, 2000)

static void init(int n, DATA_TYPE u[N][N]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) u[i][j] = (DATA_TYPE)(i + n - j) / n;
}

static void kernel_adi(int tsteps, int n, DATA_TYPE u[N][N], DATA_TYPE v[N][N], DATA_TYPE p[N][N], DATA_TYPE q[N][N]) {
  const DATA_TYPE dx = SCALAR(1.0) / (DATA_TYPE)n;
  const DATA_TYPE dy = SCALAR(1.0) / (DATA_TYPE)n;
  const DATA_TYPE dt = SCALAR(1.0) / (DATA_TYPE)tsteps;
  const DATA_TYPE b1 = SCALAR(2.0);
  const DATA_TYPE b2 = SCALAR(1.0);
  const DATA_TYPE mul1 = b1 * dt / (dx * dx);
  const DATA_TYPE mul2 = b2 * dt / (dy * dy);
  const DATA_TYPE a = -mul1 / SCALAR(2.0);
  const DATA_TYPE b = SCALAR(1.0) + mul1;
  const DATA_TYPE c = a;
  const DATA_TYPE d = -mul2 / SCALAR(2.0);
  const DATA_TYPE e = SCALAR(1.0) + mul2;
  const DATA_TYPE f = d;

  for (int t = 1; t <= tsteps; t++) {
    for (int i = 1; i < n - 1; i++) {
      v[0][i] = SCALAR(1.0);
      p[i][0] = SCALAR(0.0);
      q[i][0] = v[0][i];
      for (int j = 1; j < n - 1; j++) {
        p[i][j] = -c / (a * p[i][j - 1] + b);
        q[i][j] = (-d * u[j][i - 1] + (SCALAR(1.0) + SCALAR(2.0) * d) * u[j][i] - f * u[j][i + 1] - a * q[i][j - 1]) /
                  (a * p[i][j - 1] + b);
      }
      v[n - 1][i] = SCALAR(1.0);
      for (int j = n - 2; j >= 1; j--) v[j][i] = p[i][j] * v[j + 1][i] + q[i][j];
    }
    for (int i = 1; i < n - 1; i++) {
      u[i][0] = SCALAR(1.0);
      p[i][0] = SCALAR(0.0);
      q[i][0] = u[i][0];
      for (int j = 1; j < n - 1; j++) {
        p[i][j] = -f / (d * p[i][j - 1] + e);
        q[i][j] = (-a * v[i - 1][j] + (SCALAR(1.0) + SCALAR(2.0) * a) * v[i][j] - c * v[i + 1][j] - d * q[i][j - 1]) /
                  (d * p[i][j - 1] + e);
      }
      u[i][n - 1] = SCALAR(1.0);
      for (int j = n - 2; j >= 1; j--) u[i][j] = p[i][j] * u[i][j + 1] + q[i][j];
    }
  }
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_2D(u, N, N);
  ARRAY_2D(v, N, N);
  ARRAY_2D(p, N, N);
  ARRAY_2D(q, N, N);
  init(N, u);
  TIMED(kernel_adi(TSTEPS, N, u, v, p, q));
  DUMP(outputs, u, N * N);
  return pb_finish(&outputs);
}
