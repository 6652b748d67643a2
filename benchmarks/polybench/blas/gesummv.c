// gesummv: two products of matrix and vector.
#include "blas.h"

static void blas_kernel_gesummv(int n, DATA_TYPE alpha, DATA_TYPE beta, void* A, void* B, void* tmp, void* x, void* y) {
  (void)tmp;
  BLAS(gemv)(CblasRowMajor, CblasNoTrans, n, n, alpha, A, n, x, 1, 0, y, 1);
  BLAS(gemv)(CblasRowMajor, CblasNoTrans, n, n, beta, B, n, x, 1, 1, y, 1);
}

#include "../gesummv.c"
