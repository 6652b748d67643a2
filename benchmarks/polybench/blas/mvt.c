// mvt: two products of matrix and vector.
#include "blas.h"

static void blas_kernel_mvt(int n, void* x1, void* x2, void* y_1, void* y_2, void* A) {
  BLAS(gemv)(CblasRowMajor, CblasNoTrans, n, n, 1, A, n, y_1, 1, 1, x1, 1);
  BLAS(gemv)(CblasRowMajor, CblasTrans, n, n, 1, A, n, y_2, 1, 1, x2, 1);
}

#include "../mvt.c"
