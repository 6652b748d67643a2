// gesummv: y := alpha A x + beta B x.
#include "polybench.h"

#define N SIZE(30, 90, 250, 1300, 2800)

static void init(int n, DATA_TYPE A[N][N], DATA_TYPE B[N][N], DATA_TYPE x[N]) {
  for (int i = 0; i < n; i++) {
    x[i] = (DATA_TYPE)(i % n) / n;
    for (int j = 0; j < n; j++) {
      A[i][j] = (DATA_TYPE)((i * j + 1) % n) / n;
      B[i][j] = (DATA_TYPE)((i * j + 2) % n) / n;
    }
  }
}

static void kernel_gesummv(int n, DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE A[N][N], DATA_TYPE B[N][N],
                           DATA_TYPE tmp[N], DATA_TYPE x[N], DATA_TYPE y[N]) {
  for (int i = 0; i < n; i++) {
    tmp[i] = SCALAR(0.0);
    y[i] = SCALAR(0.0);
    for (int j = 0; j < n; j++) {
      tmp[i] = A[i][j] * x[j] + tmp[i];
      y[i] = B[i][j] * x[j] + y[i];
    }
    y[i] = alpha * tmp[i] + beta * y[i];
  }
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_2D(A, N, N);
  ARRAY_2D(B, N, N);
  ARRAY_1D(tmp, N);
  ARRAY_1D(x, N);
  ARRAY_1D(y, N);
  init(N, A, B, x);
  TIMED(kernel_gesummv(N, SCALAR(1.5), SCALAR(1.2), A, B, tmp, x, y));
  DUMP(outputs, y, N);
  return pb_finish(&outputs);
}
