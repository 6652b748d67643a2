// 3mm: G := (A B) (C D).
#include "polybench.h"

#define NI SIZE(16, 40, 180, 800, 1600)
#define NJ SIZE(18, 50, 190, 900, 1800)
#define NK SIZE(20, 60, 200, 1000, 2000)
#define NL SIZE(22, 70, 210, 1100, 2200)
#define NM SIZE(24, 80, 220, 1200, 2400)

static void init(int ni, int nj, int nk, int nl, int nm, DATA_TYPE A[NI][NK], DATA_TYPE B[NK][NJ], DATA_TYPE C[NJ][NM],
                 DATA_TYPE D[NM][NL]) {
  for (int i = 0; i < ni; i++)
    for (int j = 0; j < nk; j++) A[i][j] = (DATA_TYPE)((i * j + 1) % ni) / (5 * ni);
  for (int i = 0; i < nk; i++)
    for (int j = 0; j < nj; j++) B[i][j] = (DATA_TYPE)((i * (j + 1) + 2) % nj) / (5 * nj);
  for (int i = 0; i < nj; i++)
    for (int j = 0; j < nm; j++) C[i][j] = (DATA_TYPE)(i * (j + 3) % nl) / (5 * nl);
  for (int i = 0; i < nm; i++)
    for (int j = 0; j < nl; j++) D[i][j] = (DATA_TYPE)((i * (j + 2) + 2) % nk) / (5 * nk);
}

static void kernel_3mm(int ni, int nj, int nk, int nl, int nm, DATA_TYPE E[NI][NJ], DATA_TYPE A[NI][NK],
                       DATA_TYPE B[NK][NJ], DATA_TYPE F[NJ][NL], DATA_TYPE C[NJ][NM], DATA_TYPE D[NM][NL],
                       DATA_TYPE G[NI][NL]) {
  for (int i = 0; i < ni; i++)
    for (int j = 0; j < nj; j++) {
      E[i][j] = SCALAR(0.0);
      for (int k = 0; k < nk; k++) E[i][j] += A[i][k] * B[k][j];
    }
  for (int i = 0; i < nj; i++)
    for (int j = 0; j < nl; j++) {
      F[i][j] = SCALAR(0.0);
      for (int k = 0; k < nm; k++) F[i][j] += C[i][k] * D[k][j];
    }
  for (int i = 0; i < ni; i++)
    for (int j = 0; j < nl; j++) {
      G[i][j] = SCALAR(0.0);
      for (int k = 0; k < nj; k++) G[i][j] += E[i][k] * F[k][j];
    }
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_2D(E, NI, NJ);
  ARRAY_2D(A, NI, NK);
  ARRAY_2D(B, NK, NJ);
  ARRAY_2D(F, NJ, NL);
  ARRAY_2D(C, NJ, NM);
  ARRAY_2D(D, NM, NL);
  ARRAY_2D(G, NI, NL);
  init(NI, NJ, NK, NL, NM, A, B, C, D);
  TIMED(kernel_3mm(NI, NJ, NK, NL, NM, E, A, B, F, C, D, G));
  DUMP(outputs, G, NI * NL);
  return pb_finish(&outputs);
}
