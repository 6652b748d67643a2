// gramschmidt: QR decomposition by the modified Gram-Schmidt process.
#include "polybench.h"

#define M SIZE(20, 60, 200, 1000, 2000)
#define N SIZE(30, 80, 240, 1200, 2600)

static void init(int m, int n, DATA_TYPE A[M][N], DATA_TYPE R[N][N], DATA_TYPE Q[M][N]) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      A[i][j] = (((DATA_TYPE)((i * j) % m) / m) * 100) + 10;
      Q[i][j] = SCALAR(0.0);
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) R[i][j] = SCALAR(0.0);
}

static void kernel_gramschmidt(int m, int n, DATA_TYPE A[M][N], DATA_TYPE R[N][N], DATA_TYPE Q[M][N]) {
  for (int k = 0; k < n; k++) {
    DATA_TYPE nrm = SCALAR(0.0);
    for (int i = 0; i < m; i++) nrm += A[i][k] * A[i][k];
    R[k][k] = SQRT(nrm);
    for (int i = 0; i < m; i++) Q[i][k] = A[i][k] / R[k][k];
    for (int j = k + 1; j < n; j++) {
      R[k][j] = SCALAR(0.0);
      for (int i = 0; i < m; i++) R[k][j] += Q[i][k] * A[i][j];
      for (int i = 0; i < m; i++) A[i][j] = A[i][j] - Q[i][k] * R[k][j];
    }
  }
}

// The columns of this A depend on each other: from the first on that is a combination of those before it, Q and R are
// rounding noise normalized, which no two compilers agree on. This sets all of that to zero.
static void keep_what_is_determined(int m, int n, DATA_TYPE R[N][N], DATA_TYPE Q[M][N]) {
  int rank = 0;
  while (rank < n && R[rank][rank] > SCALAR(1e-2) * R[0][0]) rank++;
  for (int k = rank; k < n; k++)
    for (int j = 0; j < n; j++) R[k][j] = SCALAR(0.0);
  for (int i = 0; i < m; i++)
    for (int k = rank; k < n; k++) Q[i][k] = SCALAR(0.0);
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_2D(A, M, N);
  ARRAY_2D(R, N, N);
  ARRAY_2D(Q, M, N);
  init(M, N, A, R, Q);
  TIMED(kernel_gramschmidt(M, N, A, R, Q));
  if (pb_only_determined()) keep_what_is_determined(M, N, R, Q);
  DUMP(outputs, R, N * N);
  DUMP(outputs, Q, M * N);
  return pb_finish(&outputs);
}
