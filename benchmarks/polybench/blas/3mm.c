// 3mm: three products.
#include "blas.h"

static void blas_kernel_3mm(int ni, int nj, int nk, int nl, int nm, void* E, void* A, void* B, void* F, void* C, void* D,
                            void* G) {
  blas_product(ni, nj, nk, 1, A, B, 0, E);
  blas_product(nj, nl, nm, 1, C, D, 0, F);
  blas_product(ni, nl, nj, 1, E, F, 0, G);
}

#include "../3mm.c"
