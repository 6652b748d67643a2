/* What programs ask of GSL, in three kinds: linear algebra, transforms, statistics. Prints sums of the results. */
#include <gsl/gsl_blas.h>
#include <gsl/gsl_eigen.h>
#include <gsl/gsl_fft_complex.h>
#include <gsl/gsl_fft_real.h>
#include <gsl/gsl_filter.h>
#include <gsl/gsl_histogram.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_movstat.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_spline.h>
#include <gsl/gsl_statistics.h>
#include <gsl/gsl_wavelet2d.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static gsl_rng *rng;

static gsl_matrix *matrix(size_t rows, size_t columns) {
  gsl_matrix *m = gsl_matrix_alloc(rows, columns);
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j) gsl_matrix_set(m, i, j, gsl_rng_uniform(rng) + (i == j ? 4 : 0));
  return m;
}

static void say(const char *what, const double *x, size_t n, size_t stride) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += x[i * stride];
  printf("%s %.17g\n", what, sum);
}

static void lu_and_inverse(void) {
  gsl_matrix *a = matrix(1000, 1000), *inverse = gsl_matrix_alloc(1000, 1000);
  gsl_permutation *p = gsl_permutation_alloc(1000);
  int sign;
  gsl_linalg_LU_decomp(a, p, &sign);
  gsl_linalg_LU_invert(a, p, inverse);
  say("lu", inverse->data, 1000 * 1000, 1);
}

static void least_squares(void) {
  gsl_matrix *a = matrix(2500, 120), *covariance = gsl_matrix_alloc(120, 120);
  gsl_matrix *y = matrix(2500, 1);
  gsl_vector_view right = gsl_matrix_column(y, 0);
  gsl_vector *x = gsl_vector_alloc(120);
  gsl_multifit_linear_workspace *w = gsl_multifit_linear_alloc(2500, 120);
  double square;
  gsl_multifit_linear(a, &right.vector, x, covariance, &square, w);
  say("multifit", x->data, 120, 1);
}

static void qr_and_cholesky(void) {
  gsl_matrix *a = matrix(1200, 600), *gram = gsl_matrix_alloc(600, 600);
  gsl_blas_dgemm(CblasTrans, CblasNoTrans, 1, a, a, 0, gram);
  gsl_linalg_cholesky_decomp1(gram);
  say("cholesky", gram->data, 600 * 600, 1);
  gsl_vector *tau = gsl_vector_alloc(600);
  gsl_linalg_QR_decomp(a, tau);
  say("qr", a->data, 1200 * 600, 1);
}

static void eigenvalues(void) {
  gsl_matrix *a = matrix(400, 400), *vectors = gsl_matrix_alloc(400, 400);
  gsl_matrix *transposed = gsl_matrix_alloc(400, 400);
  gsl_matrix_transpose_memcpy(transposed, a);
  gsl_matrix_add(a, transposed);
  gsl_vector *values = gsl_vector_alloc(400);
  gsl_eigen_symmv(a, values, vectors, gsl_eigen_symmv_alloc(400));
  say("eigenvalues", values->data, 400, 1);
}

static void singular_values(void) {
  gsl_matrix *a = matrix(500, 300), *v = gsl_matrix_alloc(300, 300);
  gsl_vector *s = gsl_vector_alloc(300), *work = gsl_vector_alloc(300);
  gsl_linalg_SV_decomp(a, v, s, work);
  say("singular values", s->data, 300, 1);
}

static void products(void) {
  gsl_matrix *a = matrix(1000, 1000), *b = matrix(1000, 1000), *c = gsl_matrix_calloc(1000, 1000);
  gsl_blas_dgemm(CblasNoTrans, CblasTrans, 1, a, b, 0, c);
  gsl_blas_dsymm(CblasLeft, CblasLower, 0.001, a, b, 1, c);
  gsl_blas_dtrsm(CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, 1, a, c);
  say("products", c->data, 1000 * 1000, 1);
}

static double data[2 << 18];

static void fill(size_t n) {
  for (size_t i = 0; i < n; ++i) data[i] = gsl_rng_uniform(rng);
}

static void transforms(void) {
  for (int k = 0; k < 50; ++k) {
    fill(2 << 18);
    gsl_fft_complex_radix2_forward(data, 1, 1 << 18);
    say("radix 2", data, 2 << 18, 1);
  }
  const size_t n = 3 * 5 * 7 * 11 * 13 * 8;
  gsl_fft_complex_wavetable *table = gsl_fft_complex_wavetable_alloc(n);
  gsl_fft_complex_workspace *work = gsl_fft_complex_workspace_alloc(n);
  for (int k = 0; k < 80; ++k) {
    fill(2 * n);
    gsl_fft_complex_forward(data, 1, n, table, work);
    say("mixed radix", data, 2 * n, 1);
  }
  gsl_wavelet *wavelet = gsl_wavelet_alloc(gsl_wavelet_daubechies, 8);
  gsl_wavelet_workspace *space = gsl_wavelet_workspace_alloc(512);
  for (int k = 0; k < 50; ++k) {
    fill(512 * 512);
    gsl_wavelet2d_nstransform_forward(wavelet, data, 512, 512, 512, space);
    say("wavelet", data, 512 * 512, 1);
  }
}

static void statistics(void) {
  enum { n = 300000 };
  gsl_vector_view x = gsl_vector_view_array(data, n);
  gsl_vector *y = gsl_vector_alloc(n);
  gsl_movstat_workspace *moving = gsl_movstat_alloc(31);
  gsl_filter_gaussian_workspace *gauss = gsl_filter_gaussian_alloc(51);
  for (int k = 0; k < 25; ++k) {
    fill(2 * n < 2 << 18 ? 2 * n : 2 << 18);
    gsl_movstat_mean(GSL_MOVSTAT_END_PADVALUE, &x.vector, y, moving);
    say("moving mean", y->data, n, 1);
    gsl_movstat_variance(GSL_MOVSTAT_END_PADVALUE, &x.vector, y, moving);
    say("moving variance", y->data, n, 1);
    gsl_filter_gaussian(GSL_FILTER_END_PADVALUE, 2.5, 0, &x.vector, y, gauss);
    say("gauss", y->data, n, 1);
    printf("moments %.17g %.17g %.17g %.17g\n", gsl_stats_variance(data, 1, n), gsl_stats_skew(data, 1, n),
           gsl_stats_lag1_autocorrelation(data, 1, n), gsl_stats_correlation(data, 1, y->data, 1, n));
    gsl_histogram *histogram = gsl_histogram_calloc_uniform(200, 0, 1);
    for (size_t i = 0; i < n; ++i) gsl_histogram_increment(histogram, data[i]);
    printf("histogram %.17g\n", gsl_histogram_sigma(histogram));
    gsl_histogram_free(histogram);
  }
  static double at[2000];
  for (int i = 0; i < 2000; ++i) at[i] = i;
  gsl_spline *spline = gsl_spline_alloc(gsl_interp_cspline, 2000);
  gsl_interp_accel *place = gsl_interp_accel_alloc();
  gsl_spline_init(spline, at, data, 2000);
  double sum = 0;
  for (int i = 0; i < 20000000; ++i) sum += gsl_spline_eval(spline, i * (1998.0 / 20000000), place);
  printf("spline %.17g\n", sum);
}

int main(int count, char **words) {
  rng = gsl_rng_alloc(gsl_rng_mt19937);
  if (count > 1 && !strcmp(words[1], "transforms")) {
    transforms();
  } else if (count > 1 && !strcmp(words[1], "statistics")) {
    statistics();
  } else {
    products();
    lu_and_inverse();
    least_squares();
    qr_and_cholesky();
    eigenvalues();
    singular_values();
  }
  return 0;
}
