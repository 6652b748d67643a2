// correlation, spelled differently: means and deviations row by row in nests of their own, the deviation's difference a
// temporary, the sums of products with the observation outside.
#include "polybench.h"

#define FEATURES SIZE(28, 80, 240, 1200, 2600)
#define POINTS SIZE(32, 100, 260, 1400, 3000)

static void init(int features, int points, DATA_TYPE table[POINTS][FEATURES]) {
  for (int i = 0; i < points; i++)
    for (int j = 0; j < features; j++) table[i][j] = (DATA_TYPE)(i * j) / features + i;
}

static void kernel_correlation(int features, int points, DATA_TYPE count, DATA_TYPE table[POINTS][FEATURES],
                               DATA_TYPE matrix[FEATURES][FEATURES], DATA_TYPE average[FEATURES],
                               DATA_TYPE deviation[FEATURES]) {
  for (int f = 0; f < features; f++) average[f] = SCALAR(0.0);
  for (int p = 0; p < points; p++)
    for (int f = 0; f < features; f++) average[f] += table[p][f];
  for (int f = 0; f < features; f++) average[f] = average[f] / count;
  for (int f = 0; f < features; f++) deviation[f] = SCALAR(0.0);
  for (int p = 0; p < points; p++)
    for (int f = 0; f < features; f++) {
      const DATA_TYPE off = table[p][f] - average[f];
      deviation[f] += off * off;
    }
  for (int f = 0; f < features; f++) {
    const DATA_TYPE root = SQRT(deviation[f] / count);
    deviation[f] = root <= SCALAR(0.1) ? SCALAR(1.0) : root;
  }
  for (int f = 0; f < features; f++)
    for (int p = 0; p < points; p++) table[p][f] = (table[p][f] - average[f]) / (SQRT(count) * deviation[f]);
  for (int f = 0; f < features; f++) matrix[f][f] = SCALAR(1.0);
  for (int f = 0; f < features - 1; f++)
    for (int g = f + 1; g < features; g++) matrix[f][g] = SCALAR(0.0);
  for (int p = 0; p < points; p++)
    for (int f = 0; f < features - 1; f++)
      for (int g = f + 1; g < features; g++) matrix[f][g] += table[p][f] * table[p][g];
  for (int f = 0; f < features - 1; f++)
    for (int g = f + 1; g < features; g++) matrix[g][f] = matrix[f][g];
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_2D(table, POINTS, FEATURES);
  ARRAY_2D(matrix, FEATURES, FEATURES);
  ARRAY_1D(average, FEATURES);
  ARRAY_1D(deviation, FEATURES);
  init(FEATURES, POINTS, table);
  TIMED(kernel_correlation(FEATURES, POINTS, (DATA_TYPE)POINTS, table, matrix, average, deviation));
  DUMP(outputs, matrix, FEATURES * FEATURES);
  return pb_finish(&outputs);
}
