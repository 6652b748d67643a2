// atax: two products of matrix and vector.
#include "blas.h"

static void blas_kernel_atax(int m, int n, void* A, void* x, void* y, void* tmp) {
  BLAS(gemv)(CblasRowMajor, CblasNoTrans, m, n, 1, A, n, x, 1, 0, tmp, 1);
  BLAS(gemv)(CblasRowMajor, CblasTrans, m, n, 1, A, n, tmp, 1, 0, y, 1);
}

#include "../atax.c"
