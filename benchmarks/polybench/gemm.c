// gemm: C := alpha A B + beta C.
#include "polybench.h"

#define NI SIZE(20, 60, 200, 1000, 2000)
#define NJ SIZE(25, 70, 220, 1100, 2300)
#define NK SIZE(30, 80, 240, 1200, 2600)

static void init(int ni, int nj, int nk, DATA_TYPE C[NI][NJ], DATA_TYPE A[NI][NK], DATA_TYPE B[NK][NJ]) {
  for (int i = 0; i < ni; i++)
    for (int j = 0; j < nj; j++) C[i][j] = (DATA_TYPE)((i * j + 1) % ni) / ni;
  for (int i = 0; i < ni; i++)
    for (int k = 0; k < nk; k++) A[i][k] = (DATA_TYPE)(i * (k + 1) % nk) / nk;
  for (int k = 0; k < nk; k++)
    for (int j = 0; j < nj; j++) B[k][j] = (DATA_TYPE)(k * (j + 2) % nj) / nj;
}

static void kernel_gemm(int ni, int nj, int nk, DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE C[NI][NJ],
                        DATA_TYPE A[NI][NK], DATA_TYPE B[NK][NJ]) {
  for (int i = 0; i < ni; i++) {
    for (int j = 0; j < nj; j++) C[i][j] *= beta;
    for (int k = 0; k < nk; k++)
      for (int j = 0; j < nj; j++) C[i][j] += alpha * A[i][k] * B[k][j];
  }
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_2D(C, NI, NJ);
  ARRAY_2D(A, NI, NK);
  ARRAY_2D(B, NK, NJ);
  init(NI, NJ, NK, C, A, B);
  TIMED(kernel_gemm(NI, NJ, NK, SCALAR(1.5), SCALAR(1.2), C, A, B));
  DUMP(outputs, C, NI * NJ);
  return pb_finish(&outputs);
}
