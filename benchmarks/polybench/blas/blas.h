// PolyBench programs with their kernels replaced by calls of a BLAS: gemm.c here is ../gemm.c with blas_kernel_gemm
// called in place of kernel_gemm. Which library: -DLIBRARY_OPENBLAS or -DLIBRARY_BLIS.
//
// The library may give its work to threads; it starts them, and finds out which processor this is, before anything is
// timed. On stderr: one line "library: NAME VERSION CORE".
#pragma once

#define PB_CALL(call) blas_##call

#include "../polybench.h"

#if defined(LIBRARY_OPENBLAS)
#include <cblas.h>
#elif defined(LIBRARY_BLIS)
#include <blis.h>
#include <cblas.h>
#else
#error "LIBRARY_OPENBLAS or LIBRARY_BLIS"
#endif

// BLAS(gemm) is cblas_dgemm or cblas_sgemm; LAPACK(getrf) is dgetrf_ or sgetrf_.
#if PB_JOIN(PB_TYPE_, DATA_TYPE) == 1
#define BLAS(name) cblas_s##name
#define LAPACK(name) s##name##_
#else
#define BLAS(name) cblas_d##name
#define LAPACK(name) d##name##_
#endif

static DATA_TYPE blas_ones[4] = {1, 1, 1, 1};

__attribute__((constructor)) static void blas_begin(void) {
#if defined(LIBRARY_OPENBLAS)
  fprintf(stderr, "library: %s\n", openblas_get_config());
#else
  fprintf(stderr, "library: BLIS %s %s\n", bli_info_get_version_str(), bli_arch_string(bli_arch_query_id()));
#endif
  DATA_TYPE result[4];
  BLAS(gemm)
  (CblasRowMajor, CblasNoTrans, CblasNoTrans, 2, 2, 2, 1, blas_ones, 2, blas_ones, 2, 0, result, 2);
}

// C := alpha A B + beta C, row by row; the leading dimensions are the rows' lengths.
__attribute__((unused)) static void blas_product(int m, int n, int k, DATA_TYPE alpha, const void* a, const void* b,
                                                 DATA_TYPE beta, void* c) {
  BLAS(gemm)(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, alpha, a, k, b, n, beta, c, n);
}

// The upper triangle of an n x n matrix into its lower one, in blocks that fit a cache.
__attribute__((unused)) static void blas_mirror(int n, DATA_TYPE* a) {
  enum { block = 32 };
  for (int i = 0; i < n; i += block)
    for (int j = i; j < n; j += block)
      for (int r = i; r < n && r < i + block; r++)
        for (int c = j > r ? j : r + 1; c < n && c < j + block; c++) a[(size_t)c * n + r] = a[(size_t)r * n + c];
}

#if defined(USES_LAPACK)
extern void LAPACK(getrf)(const int* m, const int* n, DATA_TYPE* a, const int* lda, int* pivots, int* info);
extern void LAPACK(getrs)(const char* trans, const int* n, const int* nrhs, const DATA_TYPE* a, const int* lda,
                          const int* pivots, DATA_TYPE* b, const int* ldb, int* info, size_t trans_length);
extern void LAPACK(potrf)(const char* uplo, const int* n, DATA_TYPE* a, const int* lda, int* info, size_t uplo_length);

__attribute__((unused)) static void blas_check(int info, const char* what) {
  if (info == 0) return;
  fprintf(stderr, "%s: info is %d\n", what, info);
  exit(3);
}

// getrf looks for pivots; these matrices need none. Had it exchanged rows, it would not be the same factorization.
__attribute__((unused)) static void blas_check_pivots(int n, const int* pivots) {
  for (int i = 0; i < n; i++) blas_check(pivots[i] - (i + 1), "a pivot");
}
#endif
