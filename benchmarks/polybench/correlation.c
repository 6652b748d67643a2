// correlation: the matrix of Pearson correlation coefficients of the columns of data.
#include "polybench.h"

#define M SIZE(28, 80, 240, 1200, 2600)
#define N SIZE(32, 100, 260, 1400, 3000)

static void init(int m, int n, DATA_TYPE data[N][M]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) data[i][j] = (DATA_TYPE)(i * j) / m + i;
}

static void kernel_correlation(int m, int n, DATA_TYPE float_n, DATA_TYPE data[N][M], DATA_TYPE corr[M][M],
                               DATA_TYPE mean[M], DATA_TYPE stddev[M]) {
  const DATA_TYPE eps = SCALAR(0.1);
  for (int j = 0; j < m; j++) {
    mean[j] = SCALAR(0.0);
    for (int i = 0; i < n; i++) mean[j] += data[i][j];
    mean[j] /= float_n;
  }
  for (int j = 0; j < m; j++) {
    stddev[j] = SCALAR(0.0);
    for (int i = 0; i < n; i++) stddev[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
    stddev[j] /= float_n;
    stddev[j] = SQRT(stddev[j]);
    // A column that hardly varies would be divided by almost zero.
    stddev[j] = stddev[j] <= eps ? SCALAR(1.0) : stddev[j];
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      data[i][j] -= mean[j];
      data[i][j] /= SQRT(float_n) * stddev[j];
    }
  for (int i = 0; i < m - 1; i++) {
    corr[i][i] = SCALAR(1.0);
    for (int j = i + 1; j < m; j++) {
      corr[i][j] = SCALAR(0.0);
      for (int k = 0; k < n; k++) corr[i][j] += data[k][i] * data[k][j];
      corr[j][i] = corr[i][j];
    }
  }
  corr[m - 1][m - 1] = SCALAR(1.0);
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_2D(data, N, M);
  ARRAY_2D(corr, M, M);
  ARRAY_1D(mean, M);
  ARRAY_1D(stddev, M);
  init(M, N, data);
  TIMED(kernel_correlation(M, N, (DATA_TYPE)N, data, corr, mean, stddev));
  DUMP(outputs, corr, M * M);
  return pb_finish(&outputs);
}
