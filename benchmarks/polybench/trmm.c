// trmm: B := alpha A^T B for a unit lower triangular A.
#include "polybench.h"

#define M SIZE(20, 60, 200, 1000, 2000)
#define N SIZE(30, 80, 240, 1200, 2600)

static void init(int m, int n, DATA_TYPE A[M][M], DATA_TYPE B[M][N]) {
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < i; j++) A[i][j] = (DATA_TYPE)((i + j) % m) / m;
    A[i][i] = SCALAR(1.0);
    for (int j = 0; j < n; j++) B[i][j] = (DATA_TYPE)((n + (i - j)) % n) / n;
  }
}

static void kernel_trmm(int m, int n, DATA_TYPE alpha, DATA_TYPE A[M][M], DATA_TYPE B[M][N]) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      for (int k = i + 1; k < m; k++) B[i][j] += A[k][i] * B[k][j];
      B[i][j] = alpha * B[i][j];
    }
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_2D(A, M, M);
  ARRAY_2D(B, M, N);
  init(M, N, A, B);
  TIMED(kernel_trmm(M, N, SCALAR(1.5), A, B));
  DUMP(outputs, B, M * N);
  return pb_finish(&outputs);
}
