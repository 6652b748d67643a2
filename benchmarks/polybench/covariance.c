// covariance: the covariance matrix of the columns of data.
#include "polybench.h"

#define M SIZE(28, 80, 240, 1200, 2600)
#define N SIZE(32, 100, 260, 1400, 3000)

static void init(int m, int n, DATA_TYPE data[N][M]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) data[i][j] = (DATA_TYPE)i * j / m;
}

static void kernel_covariance(int m, int n, DATA_TYPE float_n, DATA_TYPE data[N][M], DATA_TYPE cov[M][M],
                              DATA_TYPE mean[M]) {
  for (int j = 0; j < m; j++) {
    mean[j] = SCALAR(0.0);
    for (int i = 0; i < n; i++) mean[j] += data[i][j];
    mean[j] /= float_n;
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) data[i][j] -= mean[j];
  for (int i = 0; i < m; i++)
    for (int j = i; j < m; j++) {
      cov[i][j] = SCALAR(0.0);
      for (int k = 0; k < n; k++) cov[i][j] += data[k][i] * data[k][j];
      cov[i][j] /= (float_n - SCALAR(1.0));
      cov[j][i] = cov[i][j];
    }
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_2D(data, N, M);
  ARRAY_2D(cov, M, M);
  ARRAY_1D(mean, M);
  init(M, N, data);
  TIMED(kernel_covariance(M, N, (DATA_TYPE)N, data, cov, mean));
  DUMP(outputs, cov, M * M);
  return pb_finish(&outputs);
}
