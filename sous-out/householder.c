/* /tmp/k/fr4/householder.c with nests served by generated code (sous). */
extern int sous_qr_5(long long, long long, long long, double *, double *);
#line 1 "/tmp/k/fr4/householder.c"
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
static void qr(int m, int n, double **a, double *d) {
  {  /* sous: nest 3 of 4 by parallel_vectors (strategy, distance 0, predicted: at least 1.50 times as fast) */
  if (!((long long)(n) + -1LL >= 0 && (((long long)(n) + -1LL >= 0 && (long long)(m) + -1LL >= 0 && (long long)(m) + -1LL * (((long long)(m) + -1LL) > ((long long)(n) + -1LL) ? ((long long)(m) + -1LL) : ((long long)(n) + -1LL)) + -1LL >= 0) || ((long long)(n) + -1LL >= 0 && (long long)(m) + -1LL * (long long)(n) >= 0 && (long long)(m) + -1LL * (((long long)(m) + -1LL) > ((long long)(n) + -1LL) ? ((long long)(m) + -1LL) : ((long long)(n) + -1LL)) + -1LL >= 0) || ((long long)(n) + -1LL >= 0 && (long long)(n) + -1LL * (((long long)(m) + -1LL) > ((long long)(n) + -1LL) ? ((long long)(m) + -1LL) : ((long long)(n) + -1LL)) + -1LL >= 0) || ((long long)(n) + -1LL >= 0 && (long long)(n) + -1LL * (((long long)(m) + -1LL) > ((long long)(n) + -1LL) ? ((long long)(m) + -1LL) : ((long long)(n) + -1LL)) + -1LL >= 0) || ((long long)(n) + -1LL >= 0 && (long long)(m) + -1LL >= 0 && (long long)(m) + -1LL * (((long long)(m) + -1LL) > ((long long)(n) + -1LL) ? ((long long)(m) + -1LL) : ((long long)(n) + -1LL)) + -1LL >= 0) || ((long long)(n) + -1LL >= 0 && (long long)(m) + -1LL * (long long)(n) >= 0 && (long long)(m) + -1LL * (((long long)(m) + -1LL) > ((long long)(n) + -1LL) ? ((long long)(m) + -1LL) : ((long long)(n) + -1LL)) + -1LL >= 0) || ((long long)(n) + -1LL >= 0 && (long long)(m) + -1LL >= 0 && (long long)(m) + -1LL * (((long long)(m) + -1LL) > ((long long)(n) + -1LL) ? ((long long)(m) + -1LL) : ((long long)(n) + -1LL)) + -1LL >= 0) || ((long long)(n) + -1LL >= 0 && (long long)(m) + -1LL * (long long)(n) >= 0 && (long long)(m) + -1LL * (((long long)(m) + -1LL) > ((long long)(n) + -1LL) ? ((long long)(m) + -1LL) : ((long long)(n) + -1LL)) + -1LL >= 0) || ((long long)(n) + -1LL >= 0 && (long long)(n) + -1LL * (((long long)(m) + -1LL) > ((long long)(n) + -1LL) ? ((long long)(m) + -1LL) : ((long long)(n) + -1LL)) + -1LL >= 0) || ((long long)(n) + -1LL >= 0 && (long long)(n) + -1LL * (((long long)(m) + -1LL) > ((long long)(n) + -1LL) ? ((long long)(m) + -1LL) : ((long long)(n) + -1LL)) + -1LL >= 0) || ((long long)(n) + -1LL >= 0 && (long long)(n) + -1LL * (((long long)(m) + -1LL) > ((long long)(n) + -1LL) ? ((long long)(m) + -1LL) : ((long long)(n) + -1LL)) + -1LL >= 0) || ((long long)(n) + -1LL >= 0 && (long long)(n) + -1LL * (((long long)(m) + -1LL) > ((long long)(n) + -1LL) ? ((long long)(m) + -1LL) : ((long long)(n) + -1LL)) + -1LL >= 0) || ((long long)(n) + -1LL >= 0 && (long long)(n) + -2LL >= 0 && (long long)(m) + -1LL >= 0 && (long long)(m) + -1LL * (((long long)(m) + -1LL) > ((long long)(n) + -1LL) ? ((long long)(m) + -1LL) : ((long long)(n) + -1LL)) + -1LL >= 0) || ((long long)(n) + -2LL >= 0 && (long long)(m) + -1LL * (long long)(n) + 1LL >= 0 && (long long)(m) + -1LL * (((long long)(m) + -1LL) > ((long long)(n) + -1LL) ? ((long long)(m) + -1LL) : ((long long)(n) + -1LL)) + -1LL >= 0) || ((long long)(n) + -1LL >= 0 && (long long)(n) + -2LL >= 0 && (long long)(m) + -1LL >= 0 && (long long)(m) + -1LL * (((long long)(m) + -1LL) > ((long long)(n) + -1LL) ? ((long long)(m) + -1LL) : ((long long)(n) + -1LL)) + -1LL >= 0) || ((long long)(n) + -2LL >= 0 && (long long)(m) + -1LL * (long long)(n) + 1LL >= 0 && (long long)(m) + -1LL * (((long long)(m) + -1LL) > ((long long)(n) + -1LL) ? ((long long)(m) + -1LL) : ((long long)(n) + -1LL)) + -1LL >= 0) || ((long long)(n) + -2LL >= 0 && (long long)(n) + -1LL * (((long long)(m) + -1LL) > ((long long)(n) + -1LL) ? ((long long)(m) + -1LL) : ((long long)(n) + -1LL)) + -2LL >= 0) || ((long long)(n) + -2LL >= 0 && (long long)(n) + -1LL * (((long long)(m) + -1LL) > ((long long)(n) + -1LL) ? ((long long)(m) + -1LL) : ((long long)(n) + -1LL)) + -2LL >= 0) || ((long long)(n) + -1LL >= 0 && (long long)(n) + -2LL >= 0 && (long long)(m) + -1LL >= 0 && (long long)(m) + -1LL * (((long long)(m) + -1LL) > ((long long)(n) + -1LL) ? ((long long)(m) + -1LL) : ((long long)(n) + -1LL)) + -1LL >= 0) || ((long long)(n) + -2LL >= 0 && (long long)(m) + -1LL * (long long)(n) + 1LL >= 0 && (long long)(m) + -1LL * (((long long)(m) + -1LL) > ((long long)(n) + -1LL) ? ((long long)(m) + -1LL) : ((long long)(n) + -1LL)) + -1LL >= 0) || ((long long)(n) + -1LL >= 0 && (long long)(n) + -2LL >= 0 && (long long)(m) + -1LL >= 0 && (long long)(m) + -1LL * (((long long)(m) + -1LL) > ((long long)(n) + -1LL) ? ((long long)(m) + -1LL) : ((long long)(n) + -1LL)) + -1LL >= 0) || ((long long)(n) + -2LL >= 0 && (long long)(m) + -1LL * (long long)(n) + 1LL >= 0 && (long long)(m) + -1LL * (((long long)(m) + -1LL) > ((long long)(n) + -1LL) ? ((long long)(m) + -1LL) : ((long long)(n) + -1LL)) + -1LL >= 0) || ((long long)(n) + -1LL >= 0 && (long long)(n) + -2LL >= 0 && (long long)(m) + -1LL >= 0 && (long long)(m) + -1LL * (((long long)(m) + -1LL) > ((long long)(n) + -1LL) ? ((long long)(m) + -1LL) : ((long long)(n) + -1LL)) + -1LL >= 0) || ((long long)(n) + -2LL >= 0 && (long long)(m) + -1LL * (long long)(n) + 1LL >= 0 && (long long)(m) + -1LL * (((long long)(m) + -1LL) > ((long long)(n) + -1LL) ? ((long long)(m) + -1LL) : ((long long)(n) + -1LL)) + -1LL >= 0)) && ((0LL) >= ((((long long)(m) + -1LL) > ((long long)(n) + -1LL) ? ((long long)(m) + -1LL) : ((long long)(n) + -1LL))) || __extension__({ long long sous_k = (0LL); const unsigned long sous_d = ((unsigned long)(a)[(0LL) + 1] - (unsigned long)(a)[(0LL)]); while (sous_k < ((((long long)(m) + -1LL) > ((long long)(n) + -1LL) ? ((long long)(m) + -1LL) : ((long long)(n) + -1LL))) && (unsigned long)(a)[sous_k + 1] - (unsigned long)(a)[sous_k] == sous_d) ++sous_k; sous_k == ((((long long)(m) + -1LL) > ((long long)(n) + -1LL) ? ((long long)(m) + -1LL) : ((long long)(n) + -1LL))) && (long long)sous_d % 8 == 0; })) && sous_qr_5((long long)(n), (long long)(m), (long long)(((0LL) < ((((long long)(m) + -1LL) > ((long long)(n) + -1LL) ? ((long long)(m) + -1LL) : ((long long)(n) + -1LL))) ? (long long)((unsigned long)(a)[(0LL) + 1] - (unsigned long)(a)[(0LL)]) / 8 : (long long)((long long)(n)))), (double *)((a)[(0LL)]), (double *)(d)))) {
#line 5 "/tmp/k/fr4/householder.c"
  for (int k = 0; k < n; k++) {
    double norm = 0;
    for (int i = k; i < m; i++) norm += a[i][k] * a[i][k];
    norm = sqrt(norm);
    if (a[k][k] < 0) norm = -norm;
    for (int i = k; i < m; i++) a[i][k] /= norm;
    a[k][k] += 1;
    for (int j = k + 1; j < n; j++) {
      double s = 0;
      for (int i = k; i < m; i++) s += a[i][k] * a[i][j];
      s = -s / a[k][k];
      for (int i = k; i < m; i++) a[i][j] += s * a[i][k];
    }
    d[k] = -norm;
  }
  }
  }
#line 19 "/tmp/k/fr4/householder.c"

}
int main(void) {
  int m = 900, n = 800;
  double **a = malloc(m * sizeof *a), *d = malloc(n * sizeof *d);
  for (int i = 0; i < m; i++) {
    a[i] = malloc(n * sizeof **a);
    for (int j = 0; j < n; j++) a[i][j] = sin(i * 0.7 + j * j * 0.3);
  }
  qr(m, n, a, d);
  double s = 0;
  for (int k = 0; k < n; k++) s += d[k];
  printf("%.8f\n", s);
}
