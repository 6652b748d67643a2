// lu: getrf on the matrix as it is. By columns it is the transposed one, which is the same, as it is symmetric; so are
// the factors, after the time, turned into rows.
#define USES_LAPACK
#define PB_AFTER blas_turn()
#include "blas.h"

static int blas_n;
static DATA_TYPE* blas_matrix;
static int* blas_pivots;

static void blas_kernel_lu(int n, void* A) {
  int info = 0;
  blas_n = n;
  blas_matrix = (DATA_TYPE*)A;
  blas_pivots = (int*)malloc(sizeof(int) * (size_t)n);
  LAPACK(getrf)(&n, &n, A, &n, blas_pivots, &info);
  blas_check(info, "getrf");
}

static void blas_turn(void) {
  const int n = blas_n;
  blas_check_pivots(n, blas_pivots);
  free(blas_pivots);
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++) {
      const DATA_TYPE upper = blas_matrix[(size_t)i * n + j];
      blas_matrix[(size_t)i * n + j] = blas_matrix[(size_t)j * n + i];
      blas_matrix[(size_t)j * n + i] = upper;
    }
}

#include "../lu.c"
