// bicg: two products of matrix and vector.
#include "blas.h"

static void blas_kernel_bicg(int m, int n, void* A, void* s, void* q, void* p, void* r) {
  BLAS(gemv)(CblasRowMajor, CblasTrans, n, m, 1, A, m, r, 1, 0, s, 1);
  BLAS(gemv)(CblasRowMajor, CblasNoTrans, n, m, 1, A, m, p, 1, 0, q, 1);
}

#include "../bicg.c"
