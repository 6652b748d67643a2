// 2mm: D := alpha A B C + beta D.
#include "polybench.h"

#define NI SIZE(16, 40, 180, 800, 1600)
#define NJ SIZE(18, 50, 190, 900, 1800)
#define NK SIZE(22, 70, 210, 1100, 2200)
#define NL SIZE(24, 80, 220, 1200, 2400)

static void init(int ni, int nj, int nk, int nl, DATA_TYPE A[NI][NK], DATA_TYPE B[NK][NJ], DATA_TYPE C[NJ][NL],
                 DATA_TYPE D[NI][NL]) {
  for (int i = 0; i < ni; i++)
    for (int k = 0; k < nk; k++) A[i][k] = (DATA_TYPE)((i * k + 1) % ni) / ni;
  for (int k = 0; k < nk; k++)
    for (int j = 0; j < nj; j++) B[k][j] = (DATA_TYPE)(k * (j + 1) % nj) / nj;
  for (int j = 0; j < nj; j++)
    for (int l = 0; l < nl; l++) C[j][l] = (DATA_TYPE)((j * (l + 3) + 1) % nl) / nl;
  for (int i = 0; i < ni; i++)
    for (int l = 0; l < nl; l++) D[i][l] = (DATA_TYPE)(i * (l + 2) % nk) / nk;
}

static void kernel_2mm(int ni, int nj, int nk, int nl, DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE tmp[NI][NJ],
                       DATA_TYPE A[NI][NK], DATA_TYPE B[NK][NJ], DATA_TYPE C[NJ][NL], DATA_TYPE D[NI][NL]) {
  for (int i = 0; i < ni; i++)
    for (int j = 0; j < nj; j++) {
      tmp[i][j] = SCALAR(0.0);
      for (int k = 0; k < nk; k++) tmp[i][j] += alpha * A[i][k] * B[k][j];
    }
  for (int i = 0; i < ni; i++)
    for (int j = 0; j < nl; j++) {
      D[i][j] *= beta;
      for (int k = 0; k < nj; k++) D[i][j] += tmp[i][k] * C[k][j];
    }
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_2D(tmp, NI, NJ);
  ARRAY_2D(A, NI, NK);
  ARRAY_2D(B, NK, NJ);
  ARRAY_2D(C, NJ, NL);
  ARRAY_2D(D, NI, NL);
  init(NI, NJ, NK, NL, A, B, C, D);
  TIMED(kernel_2mm(NI, NJ, NK, NL, SCALAR(1.5), SCALAR(1.2), tmp, A, B, C, D));
  DUMP(outputs, D, NI * NL);
  return pb_finish(&outputs);
}
