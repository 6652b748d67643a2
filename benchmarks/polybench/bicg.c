// bicg: the two products of a biconjugate gradient step, s := A^T r and q := A p.
#include "polybench.h"

#define M SIZE(38, 116, 390, 1900, 1800)
#define N SIZE(42, 124, 410, 2100, 2200)

static void init(int m, int n, DATA_TYPE A[N][M], DATA_TYPE r[N], DATA_TYPE p[M]) {
  for (int i = 0; i < m; i++) p[i] = (DATA_TYPE)(i % m) / m;
  for (int i = 0; i < n; i++) {
    r[i] = (DATA_TYPE)(i % n) / n;
    for (int j = 0; j < m; j++) A[i][j] = (DATA_TYPE)(i * (j + 1) % n) / n;
  }
}

static void kernel_bicg(int m, int n, DATA_TYPE A[N][M], DATA_TYPE s[M], DATA_TYPE q[N], DATA_TYPE p[M],
                        DATA_TYPE r[N]) {
  for (int i = 0; i < m; i++) s[i] = 0;
  for (int i = 0; i < n; i++) {
    q[i] = SCALAR(0.0);
    for (int j = 0; j < m; j++) {
      s[j] = s[j] + r[i] * A[i][j];
      q[i] = q[i] + A[i][j] * p[j];
    }
  }
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_2D(A, N, M);
  ARRAY_1D(s, M);
  ARRAY_1D(q, N);
  ARRAY_1D(p, M);
  ARRAY_1D(r, N);
  init(M, N, A, r, p);
  TIMED(kernel_bicg(M, N, A, s, q, p, r));
  DUMP(outputs, s, M);
  DUMP(outputs, q, N);
  return pb_finish(&outputs);
}
