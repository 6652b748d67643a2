// lu: A = L U without pivoting; L (unit diagonal) and U replace A.
#include "polybench.h"
#include "positive_definite.h"

#define N SIZE(40, 120, 400, 2000, 4000)

static void kernel_lu(int n, DATA_TYPE A[N][N]) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++) A[i][j] -= A[i][k] * A[k][j];
      A[i][j] /= A[j][j];
    }
    for (int j = i; j < n; j++)
      for (int k = 0; k < i; k++) A[i][j] -= A[i][k] * A[k][j];
  }
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_2D(A, N, N);
  pb_positive_definite(N, &A[0][0]);
  TIMED(kernel_lu(N, A));
  DUMP(outputs, A, N * N);
  return pb_finish(&outputs);
}
