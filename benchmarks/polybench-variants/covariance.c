// covariance, spelled differently: the means row by row, the sums of products with the observation outside, and the lower
// half copied at the end.
#include "polybench.h"

#define FEATURES SIZE(28, 80, 240, 1200, 2600)
#define POINTS SIZE(32, 100, 260, 1400, 3000)

static void init(int features, int points, DATA_TYPE table[POINTS][FEATURES]) {
  for (int i = 0; i < points; i++)
    for (int j = 0; j < features; j++) table[i][j] = (DATA_TYPE)i * j / features;
}

static void kernel_covariance(int features, int points, DATA_TYPE count, DATA_TYPE table[POINTS][FEATURES],
                              DATA_TYPE matrix[FEATURES][FEATURES], DATA_TYPE average[FEATURES]) {
  for (int f = 0; f < features; f++) average[f] = SCALAR(0.0);
  for (int p = 0; p < points; p++)
    for (int f = 0; f < features; f++) average[f] = average[f] + table[p][f];
  for (int f = 0; f < features; f++) average[f] = average[f] / count;
  for (int f = 0; f < features; f++)
    for (int p = 0; p < points; p++) table[p][f] = table[p][f] - average[f];
  for (int f = 0; f < features; f++)
    for (int g = f; g < features; g++) matrix[f][g] = SCALAR(0.0);
  for (int p = 0; p < points; p++)
    for (int f = 0; f < features; f++)
      for (int g = f; g < features; g++) matrix[f][g] += table[p][f] * table[p][g];
  for (int f = 0; f < features; f++)
    for (int g = f; g < features; g++) {
      const DATA_TYPE scaled = matrix[f][g] / (count - SCALAR(1.0));
      matrix[f][g] = scaled;
      matrix[g][f] = scaled;
    }
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_2D(table, POINTS, FEATURES);
  ARRAY_2D(matrix, FEATURES, FEATURES);
  ARRAY_1D(average, FEATURES);
  init(FEATURES, POINTS, table);
  TIMED(kernel_covariance(FEATURES, POINTS, (DATA_TYPE)POINTS, table, matrix, average));
  DUMP(outputs, matrix, FEATURES * FEATURES);
  return pb_finish(&outputs);
}
