/* BLAS of the three levels, by the C interface. Prints sums of the results. */
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { n = 1400 };

static void *filled(size_t count, size_t size) {
  void *all = malloc(count * size);
  unsigned state = 7;
  for (size_t i = 0; i < count; ++i) {
    const double value = (double)((state = state * 1103515245U + 12345U) >> 8) / (1 << 24) - 0.5;
    if (size == sizeof(float))
      ((float *)all)[i] = (float)value;
    else
      ((double *)all)[i] = value;
  }
  return all;
}

static void say(const char *what, const double *x, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += x[i] * (double)(i % 5);
  printf("%s %.17g\n", what, sum);
}

static void level3(void) {
  double *a = filled(n * n, sizeof(double)), *b = filled(n * n, sizeof(double)), *c = filled(n * n, sizeof(double));
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, b, n, 1, c, n);
  cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, n, n, 1, a, n, 1, c, n);
  cblas_dsymm(CblasRowMajor, CblasLeft, CblasUpper, n, n, 0.01, a, n, b, n, 1, c, n);
  cblas_dtrmm(CblasRowMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasUnit, n, n, 0.01, a, n, c, n);
  say("level 3", c, n * n);
  float *x = filled(n * n, sizeof(float)), *y = filled(n * n, sizeof(float)), *z = filled(n * n, sizeof(float));
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, n, n, 1, x, n, y, n, 1, z, n);
  printf("level 3, single %.9g\n", (double)cblas_sasum(n * n, z, 1));
}

static void level2(void) {
  enum { m = 3000 };
  double *a = filled(m * m, sizeof(double)), *x = filled(m, sizeof(double)), *y = filled(m, sizeof(double));
  for (int k = 0; k < 40; ++k) {
    cblas_dgemv(CblasRowMajor, CblasNoTrans, m, m, 0.01, a, m, x, 1, 0.5, y, 1);
    cblas_dgemv(CblasRowMajor, CblasTrans, m, m, 0.01, a, m, y, 1, 0.5, x, 1);
    cblas_dsymv(CblasRowMajor, CblasUpper, m, 0.01, a, m, x, 1, 0.5, y, 1);
    cblas_dger(CblasRowMajor, m, m, 0.001, x, 1, y, 1, a, m);
    cblas_dtrmv(CblasRowMajor, CblasUpper, CblasNoTrans, CblasUnit, m, a, m, x, 1);
    cblas_dscal(m, 1e-3, x, 1);
  }
  say("level 2", y, m);
}

static void level1(void) {
  enum { m = 20000 };
  double *x = filled(m, sizeof(double)), *y = filled(m, sizeof(double));
  double sum = 0;
  for (int k = 0; k < 24000; ++k) {
    cblas_daxpy(m, 1e-4, x, 1, y, 1);
    sum += cblas_ddot(m, x, 1, y, 1) + cblas_dnrm2(m, y, 1) + (double)cblas_idamax(m, y, 1);
    cblas_drot(m, x, 1, y, 1, 0.8, 0.6);
  }
  printf("level 1 %.17g\n", sum);
}

int main(int count, char **words) {
  const char *what = count > 1 ? words[1] : "3";
  if (!strcmp(what, "1"))
    level1();
  else if (!strcmp(what, "2"))
    level2();
  else
    level3();
  return 0;
}
