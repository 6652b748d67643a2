// jacobi-2d: five-point Jacobi stencil, two half steps between A and B.
#include "polybench.h"

#define TSTEPS SIZE(20, 40, 100, 500, 1000)
#define N SIZE(30, 90, 250, 1300, 2800)

static void init(int n, DATA_TYPE A[N][N], DATA_TYPE B[N][N]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      A[i][j] = ((DATA_TYPE)i * (j + 2) + 2) / n;
      B[i][j] = ((DATA_TYPE)i * (j + 3) + 3) / n;
    }
}

static void kernel_jacobi_2d(int tsteps, int n, DATA_TYPE A[N][N], DATA_TYPE B[N][N]) {
  for (int t = 0; t < tsteps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        B[i][j] = SCALAR(0.2) * (A[i][j] + A[i][j - 1] + A[i][1 + j] + A[1 + i][j] + A[i - 1][j]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        A[i][j] = SCALAR(0.2) * (B[i][j] + B[i][j - 1] + B[i][1 + j] + B[1 + i][j] + B[i - 1][j]);
  }
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_2D(A, N, N);
  ARRAY_2D(B, N, N);
  init(N, A, B);
  TIMED(kernel_jacobi_2d(TSTEPS, N, A, B));
  DUMP(outputs, A, N * N);
  return pb_finish(&outputs);
}
