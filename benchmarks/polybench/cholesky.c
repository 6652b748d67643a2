// cholesky: A = L L^T for a symmetric positive definite A; L replaces the lower triangle.
#include "polybench.h"
#include "positive_definite.h"

#define N SIZE(40, 120, 400, 2000, 4000)

static void kernel_cholesky(int n, DATA_TYPE A[N][N]) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++) A[i][j] -= A[i][k] * A[j][k];
      A[i][j] /= A[j][j];
    }
    for (int k = 0; k < i; k++) A[i][i] -= A[i][k] * A[i][k];
    A[i][i] = SQRT(A[i][i]);
  }
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_2D(A, N, N);
  pb_positive_definite(N, &A[0][0]);
  TIMED(kernel_cholesky(N, A));
  DUMP(outputs, A, N * N);
  return pb_finish(&outputs);
}
