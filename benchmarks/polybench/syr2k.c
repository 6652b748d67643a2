// syr2k: C := alpha A B^T + alpha B A^T + beta C, the lower triangle.
#include "polybench.h"

#define M SIZE(20, 60, 200, 1000, 2000)
#define N SIZE(30, 80, 240, 1200, 2600)

static void init(int n, int m, DATA_TYPE C[N][N], DATA_TYPE A[N][M], DATA_TYPE B[N][M]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      A[i][j] = (DATA_TYPE)((i * j + 1) % n) / n;
      B[i][j] = (DATA_TYPE)((i * j + 2) % m) / m;
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) C[i][j] = (DATA_TYPE)((i * j + 3) % n) / m;
}

static void kernel_syr2k(int n, int m, DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE C[N][N], DATA_TYPE A[N][M],
                         DATA_TYPE B[N][M]) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) C[i][j] *= beta;
    for (int k = 0; k < m; k++)
      for (int j = 0; j <= i; j++) C[i][j] += A[j][k] * alpha * B[i][k] + B[j][k] * alpha * A[i][k];
  }
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_2D(C, N, N);
  ARRAY_2D(A, N, M);
  ARRAY_2D(B, N, M);
  init(N, M, C, A, B);
  TIMED(kernel_syr2k(N, M, SCALAR(1.5), SCALAR(1.2), C, A, B));
  DUMP(outputs, C, N * N);
  return pb_finish(&outputs);
}
