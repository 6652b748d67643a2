// syrk: C := alpha A A^T + beta C, the lower triangle.
#include "polybench.h"

#define M SIZE(20, 60, 200, 1000, 2000)
#define N SIZE(30, 80, 240, 1200, 2600)

static void init(int n, int m, DATA_TYPE C[N][N], DATA_TYPE A[N][M]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) A[i][j] = (DATA_TYPE)((i * j + 1) % n) / n;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) C[i][j] = (DATA_TYPE)((i * j + 2) % m) / m;
}

static void kernel_syrk(int n, int m, DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE C[N][N], DATA_TYPE A[N][M]) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) C[i][j] *= beta;
    for (int k = 0; k < m; k++)
      for (int j = 0; j <= i; j++) C[i][j] += alpha * A[i][k] * A[j][k];
  }
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_2D(C, N, N);
  ARRAY_2D(A, N, M);
  init(N, M, C, A);
  TIMED(kernel_syrk(N, M, SCALAR(1.5), SCALAR(1.2), C, A));
  DUMP(outputs, C, N * N);
  return pb_finish(&outputs);
}
