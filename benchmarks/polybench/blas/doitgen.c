// doitgen: the first two dimensions are the rows of one matrix. A product cannot be made in place: blocks of rows go
// through a buffer that stays in the second-level cache.
#include "blas.h"

static void blas_kernel_doitgen(int nr, int nq, int np, void* A, void* C4, void* sum) {
  enum { most = 256 };
  static DATA_TYPE buffer[most * 512];
  (void)sum;
  if (np > 512) exit(3);
  for (int row = 0; row < nr * nq; row += most) {
    const int rows = nr * nq - row < most ? nr * nq - row : most;
    DATA_TYPE* block = (DATA_TYPE*)A + (size_t)row * np;
    blas_product(rows, np, np, 1, block, C4, 0, buffer);
    memcpy(block, buffer, sizeof(DATA_TYPE) * (size_t)rows * np);
  }
}

#include "../doitgen.c"
