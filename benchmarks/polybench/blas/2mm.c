// 2mm: two products.
#include "blas.h"

static void blas_kernel_2mm(int ni, int nj, int nk, int nl, DATA_TYPE alpha, DATA_TYPE beta, void* tmp, void* A, void* B,
                            void* C, void* D) {
  blas_product(ni, nj, nk, alpha, A, B, 0, tmp);
  blas_product(ni, nl, nj, 1, tmp, C, beta, D);
}

#include "../2mm.c"
