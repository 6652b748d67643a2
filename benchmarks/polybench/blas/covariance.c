// covariance: means and centring as loops over rows, the products as one call.
#include "blas.h"

static void blas_kernel_covariance(int m, int n, DATA_TYPE float_n, void* data, void* cov, DATA_TYPE* mean) {
  DATA_TYPE* d = (DATA_TYPE*)data;
  for (int j = 0; j < m; j++) mean[j] = 0;
  for (int i = 0; i < n; i++) BLAS(axpy)(m, 1, d + (size_t)i * m, 1, mean, 1);
  BLAS(scal)(m, 1 / float_n, mean, 1);
  for (int i = 0; i < n; i++) BLAS(axpy)(m, -1, mean, 1, d + (size_t)i * m, 1);
  BLAS(syrk)(CblasRowMajor, CblasUpper, CblasTrans, m, n, 1 / (float_n - 1), d, m, 0, cov, m);
  blas_mirror(m, cov);
}

#include "../covariance.c"
