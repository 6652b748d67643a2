// syrk: one call.
#include "blas.h"

static void blas_kernel_syrk(int n, int m, DATA_TYPE alpha, DATA_TYPE beta, void* C, void* A) {
  BLAS(syrk)(CblasRowMajor, CblasLower, CblasNoTrans, n, m, alpha, A, m, beta, C, n);
}

#include "../syrk.c"
