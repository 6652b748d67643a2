// gemver: two updates of rank one, two products of matrix and vector.
#include "blas.h"

static void blas_kernel_gemver(int n, DATA_TYPE alpha, DATA_TYPE beta, void* A, void* u1, void* v1, void* u2, void* v2,
                               void* w, void* x, void* y, void* z) {
  BLAS(ger)(CblasRowMajor, n, n, 1, u1, 1, v1, 1, A, n);
  BLAS(ger)(CblasRowMajor, n, n, 1, u2, 1, v2, 1, A, n);
  BLAS(gemv)(CblasRowMajor, CblasTrans, n, n, beta, A, n, y, 1, 1, x, 1);
  BLAS(axpy)(n, 1, z, 1, x, 1);
  BLAS(gemv)(CblasRowMajor, CblasNoTrans, n, n, alpha, A, n, x, 1, 1, w, 1);
}

#include "../gemver.c"
