// symm: one call.
#include "blas.h"

static void blas_kernel_symm(int m, int n, DATA_TYPE alpha, DATA_TYPE beta, void* C, void* A, void* B) {
  BLAS(symm)(CblasRowMajor, CblasLeft, CblasLower, m, n, alpha, A, m, B, n, beta, C, n);
}

#include "../symm.c"
