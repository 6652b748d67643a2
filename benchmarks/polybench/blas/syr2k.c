// syr2k: one call.
#include "blas.h"

static void blas_kernel_syr2k(int n, int m, DATA_TYPE alpha, DATA_TYPE beta, void* C, void* A, void* B) {
  BLAS(syr2k)(CblasRowMajor, CblasLower, CblasNoTrans, n, m, alpha, A, m, B, m, beta, C, n);
}

#include "../syr2k.c"
