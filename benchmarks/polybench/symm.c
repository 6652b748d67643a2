// symm: C := alpha A B + beta C for a symmetric A of which only the lower triangle is stored.
#include "polybench.h"

#define M SIZE(20, 60, 200, 1000, 2000)
#define N SIZE(30, 80, 240, 1200, 2600)

static void init(int m, int n, DATA_TYPE C[M][N], DATA_TYPE A[M][M], DATA_TYPE B[M][N]) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      C[i][j] = (DATA_TYPE)((i + j) % 100) / m;
      B[i][j] = (DATA_TYPE)((n + i - j) % 100) / m;
    }
  for (int i = 0; i < m; i++) {
    for (int j = 0; j <= i; j++) A[i][j] = (DATA_TYPE)((i + j) % 100) / m;
    for (int j = i + 1; j < m; j++) A[i][j] = -999;  // never to be read
  }
}

static void kernel_symm(int m, int n, DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE C[M][N], DATA_TYPE A[M][M],
                        DATA_TYPE B[M][N]) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      DATA_TYPE temp2 = 0;
      for (int k = 0; k < i; k++) {
        C[k][j] += alpha * B[i][j] * A[i][k];
        temp2 += B[k][j] * A[i][k];
      }
      C[i][j] = beta * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * temp2;
    }
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_2D(C, M, N);
  ARRAY_2D(A, M, M);
  ARRAY_2D(B, M, N);
  init(M, N, C, A, B);
  TIMED(kernel_symm(M, N, SCALAR(1.5), SCALAR(1.2), C, A, B));
  DUMP(outputs, C, M * N);
  return pb_finish(&outputs);
}
