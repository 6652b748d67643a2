// trmm: one call.
#include "blas.h"

static void blas_kernel_trmm(int m, int n, DATA_TYPE alpha, void* A, void* B) {
  BLAS(trmm)(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasUnit, m, n, alpha, A, m, B, n);
}

#include "../trmm.c"
