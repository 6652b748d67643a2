// gemver: A := A + u1 v1^T + u2 v2^T; x := beta A^T y + z; w := alpha A x.
#include "polybench.h"

#define N SIZE(40, 120, 400, 2000, 4000)

static void init(int n, DATA_TYPE A[N][N], DATA_TYPE u1[N], DATA_TYPE v1[N], DATA_TYPE u2[N], DATA_TYPE v2[N],
                 DATA_TYPE w[N], DATA_TYPE x[N], DATA_TYPE y[N], DATA_TYPE z[N]) {
  const DATA_TYPE fn = (DATA_TYPE)n;
  for (int i = 0; i < n; i++) {
    u1[i] = i;
    u2[i] = ((i + 1) / fn) / SCALAR(2.0);
    v1[i] = ((i + 1) / fn) / SCALAR(4.0);
    v2[i] = ((i + 1) / fn) / SCALAR(6.0);
    y[i] = ((i + 1) / fn) / SCALAR(8.0);
    z[i] = ((i + 1) / fn) / SCALAR(9.0);
    x[i] = SCALAR(0.0);
    w[i] = SCALAR(0.0);
    for (int j = 0; j < n; j++) A[i][j] = (DATA_TYPE)(i * j % n) / n;
  }
}

static void kernel_gemver(int n, DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE A[N][N], DATA_TYPE u1[N], DATA_TYPE v1[N],
                          DATA_TYPE u2[N], DATA_TYPE v2[N], DATA_TYPE w[N], DATA_TYPE x[N], DATA_TYPE y[N],
                          DATA_TYPE z[N]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) A[i][j] = A[i][j] + u1[i] * v1[j] + u2[i] * v2[j];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) x[i] = x[i] + beta * A[j][i] * y[j];
  for (int i = 0; i < n; i++) x[i] = x[i] + z[i];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) w[i] = w[i] + alpha * A[i][j] * x[j];
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_2D(A, N, N);
  ARRAY_1D(u1, N);
  ARRAY_1D(v1, N);
  ARRAY_1D(u2, N);
  ARRAY_1D(v2, N);
  ARRAY_1D(w, N);
  ARRAY_1D(x, N);
  ARRAY_1D(y, N);
  ARRAY_1D(z, N);
  init(N, A, u1, v1, u2, v2, w, x, y, z);
  TIMED(kernel_gemver(N, SCALAR(1.5), SCALAR(1.2), A, u1, v1, u2, v2, w, x, y, z));
  DUMP(outputs, w, N);
  return pb_finish(&outputs);
}
