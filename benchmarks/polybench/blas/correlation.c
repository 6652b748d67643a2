// correlation: means, deviations and centring as loops over rows, the products as one call.
#include "blas.h"

static void blas_kernel_correlation(int m, int n, DATA_TYPE float_n, void* data, void* corr, DATA_TYPE* mean,
                                    DATA_TYPE* stddev) {
  DATA_TYPE* d = (DATA_TYPE*)data;
  DATA_TYPE* c = (DATA_TYPE*)corr;
  for (int j = 0; j < m; j++) mean[j] = stddev[j] = 0;
  for (int i = 0; i < n; i++) BLAS(axpy)(m, 1, d + (size_t)i * m, 1, mean, 1);
  BLAS(scal)(m, 1 / float_n, mean, 1);
  for (int i = 0; i < n; i++) {
    DATA_TYPE* row = d + (size_t)i * m;
    for (int j = 0; j < m; j++) {
      row[j] -= mean[j];
      stddev[j] += row[j] * row[j];
    }
  }
  for (int j = 0; j < m; j++) {
    const DATA_TYPE deviation = SQRT(stddev[j] / float_n);
    stddev[j] = 1 / (SQRT(float_n) * (deviation <= SCALAR(0.1) ? 1 : deviation));
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) d[(size_t)i * m + j] *= stddev[j];
  BLAS(syrk)(CblasRowMajor, CblasUpper, CblasTrans, m, n, 1, d, m, 0, c, m);
  for (int i = 0; i < m; i++) c[(size_t)i * m + i] = 1;
  blas_mirror(m, c);
}

#include "../correlation.c"
