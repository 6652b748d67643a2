// jacobi-1d: three-point Jacobi stencil, two half steps between A and B.
#include "polybench.h"

#define TSTEPS SIZE(20, 40, 100, 500, 1000)
#define N SIZE(30, 120, 400, 2000, 4000)

static void init(int n, DATA_TYPE A[N], DATA_TYPE B[N]) {
  for (int i = 0; i < n; i++) {
    A[i] = ((DATA_TYPE)i + 2) / n;
    B[i] = ((DATA_TYPE)i + 3) / n;
  }
}

static void kernel_jacobi_1d(int tsteps, int n, DATA_TYPE A[N], DATA_TYPE B[N]) {
  for (int t = 0; t < tsteps; t++) {
    for (int i = 1; i < n - 1; i++) B[i] = SCALAR(0.33333) * (A[i - 1] + A[i] + A[i + 1]);
    for (int i = 1; i < n - 1; i++) A[i] = SCALAR(0.33333) * (B[i - 1] + B[i] + B[i + 1]);
  }
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_1D(A, N);
  ARRAY_1D(B, N);
  init(N, A, B);
  TIMED(kernel_jacobi_1d(TSTEPS, N, A, B));
  DUMP(outputs, A, N);
  return pb_finish(&outputs);
}
