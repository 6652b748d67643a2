// atax: y := A^T (A x).
#include "polybench.h"

#define M SIZE(38, 116, 390, 1900, 1800)
#define N SIZE(42, 124, 410, 2100, 2200)

static void init(int m, int n, DATA_TYPE A[M][N], DATA_TYPE x[N]) {
  const DATA_TYPE fn = (DATA_TYPE)n;
  for (int i = 0; i < n; i++) x[i] = 1 + (i / fn);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) A[i][j] = (DATA_TYPE)((i + j) % n) / (5 * m);
}

static void kernel_atax(int m, int n, DATA_TYPE A[M][N], DATA_TYPE x[N], DATA_TYPE y[N], DATA_TYPE tmp[M]) {
  for (int i = 0; i < n; i++) y[i] = 0;
  for (int i = 0; i < m; i++) {
    tmp[i] = SCALAR(0.0);
    for (int j = 0; j < n; j++) tmp[i] = tmp[i] + A[i][j] * x[j];
    for (int j = 0; j < n; j++) y[j] = y[j] + A[i][j] * tmp[i];
  }
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_2D(A, M, N);
  ARRAY_1D(x, N);
  ARRAY_1D(y, N);
  ARRAY_1D(tmp, M);
  init(M, N, A, x);
  TIMED(kernel_atax(M, N, A, x, y, tmp));
  DUMP(outputs, y, N);
  return pb_finish(&outputs);
}
