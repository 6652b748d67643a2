// mvt: x1 := x1 + A y1; x2 := x2 + A^T y2.
#include "polybench.h"

#define N SIZE(40, 120, 400, 2000, 4000)

static void init(int n, DATA_TYPE x1[N], DATA_TYPE x2[N], DATA_TYPE y_1[N], DATA_TYPE y_2[N], DATA_TYPE A[N][N]) {
  for (int i = 0; i < n; i++) {
    x1[i] = (DATA_TYPE)(i % n) / n;
    x2[i] = (DATA_TYPE)((i + 1) % n) / n;
    y_1[i] = (DATA_TYPE)((i + 3) % n) / n;
    y_2[i] = (DATA_TYPE)((i + 4) % n) / n;
    for (int j = 0; j < n; j++) A[i][j] = (DATA_TYPE)(i * j % n) / n;
  }
}

static void kernel_mvt(int n, DATA_TYPE x1[N], DATA_TYPE x2[N], DATA_TYPE y_1[N], DATA_TYPE y_2[N], DATA_TYPE A[N][N]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) x1[i] = x1[i] + A[i][j] * y_1[j];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) x2[i] = x2[i] + A[j][i] * y_2[j];
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_2D(A, N, N);
  ARRAY_1D(x1, N);
  ARRAY_1D(x2, N);
  ARRAY_1D(y_1, N);
  ARRAY_1D(y_2, N);
  init(N, x1, x2, y_1, y_2, A);
  TIMED(kernel_mvt(N, x1, x2, y_1, y_2, A));
  DUMP(outputs, x1, N);
  DUMP(outputs, x2, N);
  return pb_finish(&outputs);
}
