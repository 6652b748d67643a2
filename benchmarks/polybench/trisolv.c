// trisolv: solves L x = b for a lower triangular L.
#include "polybench.h"

#define N SIZE(40, 120, 400, 2000, 4000)

static void init(int n, DATA_TYPE L[N][N], DATA_TYPE x[N], DATA_TYPE b[N]) {
  for (int i = 0; i < n; i++) {
    x[i] = -999;
    b[i] = i;
    for (int j = 0; j <= i; j++) L[i][j] = (DATA_TYPE)(i + n - j + 1) * 2 / n;
  }
}

static void kernel_trisolv(int n, DATA_TYPE L[N][N], DATA_TYPE x[N], DATA_TYPE b[N]) {
  for (int i = 0; i < n; i++) {
    x[i] = b[i];
    for (int j = 0; j < i; j++) x[i] -= L[i][j] * x[j];
    x[i] = x[i] / L[i][i];
  }
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_2D(L, N, N);
  ARRAY_1D(x, N);
  ARRAY_1D(b, N);
  init(N, L, x, b);
  TIMED(kernel_trisolv(N, L, x, b));
  DUMP(outputs, x, N);
  return pb_finish(&outputs);
}
