// cholesky: potrf. The lower triangle by rows is the upper one by columns.
#define USES_LAPACK
#include "blas.h"

static void blas_kernel_cholesky(int n, void* A) {
  int info = 0;
  LAPACK(potrf)("U", &n, A, &n, &info, 1);
  blas_check(info, "potrf");
}

#include "../cholesky.c"
