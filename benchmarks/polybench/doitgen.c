// doitgen: contraction of the last dimension of a three-dimensional array with a matrix, in place (from a
// multiresolution analysis kernel).
#include "polybench.h"

#define NQ SIZE(8, 20, 40, 140, 220)
#define NR SIZE(10, 25, 50, 150, 250)
#define NP SIZE(12, 30, 60, 160, 270)

static void init(int nr, int nq, int np, DATA_TYPE A[NR][NQ][NP], DATA_TYPE C4[NP][NP]) {
  for (int i = 0; i < nr; i++)
    for (int j = 0; j < nq; j++)
      for (int k = 0; k < np; k++) A[i][j][k] = (DATA_TYPE)((i * j + k) % np) / np;
  for (int i = 0; i < np; i++)
    for (int j = 0; j < np; j++) C4[i][j] = (DATA_TYPE)(i * j % np) / np;
}

static void kernel_doitgen(int nr, int nq, int np, DATA_TYPE A[NR][NQ][NP], DATA_TYPE C4[NP][NP], DATA_TYPE sum[NP]) {
  for (int r = 0; r < nr; r++)
    for (int q = 0; q < nq; q++) {
      for (int p = 0; p < np; p++) {
        sum[p] = SCALAR(0.0);
        for (int s = 0; s < np; s++) sum[p] += A[r][q][s] * C4[s][p];
      }
      for (int p = 0; p < np; p++) A[r][q][p] = sum[p];
    }
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_3D(A, NR, NQ, NP);
  ARRAY_1D(sum, NP);
  ARRAY_2D(C4, NP, NP);
  init(NR, NQ, NP, A, C4);
  TIMED(kernel_doitgen(NR, NQ, NP, A, C4, sum));
  DUMP(outputs, A, NR * NQ * NP);
  return pb_finish(&outputs);
}
