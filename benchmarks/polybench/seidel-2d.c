// seidel-2d: nine-point Gauss-Seidel stencil, in place.
#include "polybench.h"

#define TSTEPS SIZE(20, 40, 100, 500, 1000)
#define N SIZE(40, 120, 400, 2000, 4000)

static void init(int n, DATA_TYPE A[N][N]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) A[i][j] = ((DATA_TYPE)i * (j + 2) + 2) / n;
}

static void kernel_seidel_2d(int tsteps, int n, DATA_TYPE A[N][N]) {
  for (int t = 0; t <= tsteps - 1; t++)
    for (int i = 1; i <= n - 2; i++)
      for (int j = 1; j <= n - 2; j++)
        A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j] + A[i][j + 1] +
                   A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]) /
                  SCALAR(9.0);
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_2D(A, N, N);
  init(N, A);
  TIMED(kernel_seidel_2d(TSTEPS, N, A));
  DUMP(outputs, A, N * N);
  return pb_finish(&outputs);
}
