// ludcmp: solves A x = b by LU decomposition and forward and backward substitution.
#include "polybench.h"
#include "positive_definite.h"

#define N SIZE(40, 120, 400, 2000, 4000)

static void init(int n, DATA_TYPE b[N], DATA_TYPE x[N], DATA_TYPE y[N]) {
  const DATA_TYPE fn = (DATA_TYPE)n;
  for (int i = 0; i < n; i++) {
    x[i] = 0;
    y[i] = 0;
    b[i] = (i + 1) / fn / SCALAR(2.0) + 4;
  }
}

static void kernel_ludcmp(int n, DATA_TYPE A[N][N], DATA_TYPE b[N], DATA_TYPE x[N], DATA_TYPE y[N]) {
  DATA_TYPE w;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      w = A[i][j];
      for (int k = 0; k < j; k++) w -= A[i][k] * A[k][j];
      A[i][j] = w / A[j][j];
    }
    for (int j = i; j < n; j++) {
      w = A[i][j];
      for (int k = 0; k < i; k++) w -= A[i][k] * A[k][j];
      A[i][j] = w;
    }
  }
  for (int i = 0; i < n; i++) {
    w = b[i];
    for (int j = 0; j < i; j++) w -= A[i][j] * y[j];
    y[i] = w;
  }
  for (int i = n - 1; i >= 0; i--) {
    w = y[i];
    for (int j = i + 1; j < n; j++) w -= A[i][j] * x[j];
    x[i] = w / A[i][i];
  }
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_2D(A, N, N);
  ARRAY_1D(b, N);
  ARRAY_1D(x, N);
  ARRAY_1D(y, N);
  pb_positive_definite(N, &A[0][0]);
  init(N, b, x, y);
  TIMED(kernel_ludcmp(N, A, b, x, y));
  DUMP(outputs, x, N);
  return pb_finish(&outputs);
}
