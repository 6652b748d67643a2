// heat-3d: heat equation on a three-dimensional grid, two half steps between A and B.
#include "polybench.h"

#define TSTEPS SIZE(20, 40, 100, 500, 1000)
#define N SIZE(10, 20, 40, 120, 200)

static void init(int n, DATA_TYPE A[N][N][N], DATA_TYPE B[N][N][N]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) A[i][j][k] = B[i][j][k] = (DATA_TYPE)(i + j + (n - k)) * 10 / n;
}

static void kernel_heat_3d(int tsteps, int n, DATA_TYPE A[N][N][N], DATA_TYPE B[N][N][N]) {
  for (int t = 1; t <= tsteps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++)
          B[i][j][k] = SCALAR(0.125) * (A[i + 1][j][k] - SCALAR(2.0) * A[i][j][k] + A[i - 1][j][k]) +
                       SCALAR(0.125) * (A[i][j + 1][k] - SCALAR(2.0) * A[i][j][k] + A[i][j - 1][k]) +
                       SCALAR(0.125) * (A[i][j][k + 1] - SCALAR(2.0) * A[i][j][k] + A[i][j][k - 1]) + A[i][j][k];
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++)
          A[i][j][k] = SCALAR(0.125) * (B[i + 1][j][k] - SCALAR(2.0) * B[i][j][k] + B[i - 1][j][k]) +
                       SCALAR(0.125) * (B[i][j + 1][k] - SCALAR(2.0) * B[i][j][k] + B[i][j - 1][k]) +
                       SCALAR(0.125) * (B[i][j][k + 1] - SCALAR(2.0) * B[i][j][k] + B[i][j][k - 1]) + B[i][j][k];
  }
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_3D(A, N, N, N);
  ARRAY_3D(B, N, N, N);
  init(N, A, B);
  TIMED(kernel_heat_3d(TSTEPS, N, A, B));
  DUMP(outputs, A, N * N * N);
  return pb_finish(&outputs);
}
