// ludcmp: getrf and getrs on the matrix as it is; by columns it is the transposed one, which is the same, as it is
// symmetric.
#define USES_LAPACK
#include "blas.h"

static void blas_kernel_ludcmp(int n, void* A, DATA_TYPE* b, DATA_TYPE* x, DATA_TYPE* y) {
  int info = 0;
  const int one = 1;
  int* pivots = (int*)malloc(sizeof(int) * (size_t)n);
  (void)y;
  LAPACK(getrf)(&n, &n, A, &n, pivots, &info);
  blas_check(info, "getrf");
  blas_check_pivots(n, pivots);
  memcpy(x, b, sizeof(DATA_TYPE) * (size_t)n);
  LAPACK(getrs)("N", &n, &one, A, &n, pivots, x, &n, &info, 1);
  blas_check(info, "getrs");
  free(pivots);
}

#include "../ludcmp.c"
