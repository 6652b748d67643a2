// bicg, spelled differently: the two products in two nests, the first column by column, over a linearized matrix.
#include "polybench.h"

#define COLUMNS SIZE(38, 116, 390, 1900, 1800)
#define ROWS SIZE(42, 124, 410, 2100, 2200)

static void init(int columns, int rows, DATA_TYPE* matrix, DATA_TYPE residual[ROWS], DATA_TYPE direction[COLUMNS]) {
  for (int j = 0; j < columns; j++) direction[j] = (DATA_TYPE)(j % columns) / columns;
  for (int i = 0; i < rows; i++) {
    residual[i] = (DATA_TYPE)(i % rows) / rows;
    for (int j = 0; j < columns; j++) matrix[i * COLUMNS + j] = (DATA_TYPE)(i * (j + 1) % rows) / rows;
  }
}

static void kernel_bicg(int columns, int rows, DATA_TYPE* matrix, DATA_TYPE shadow[COLUMNS], DATA_TYPE image[ROWS],
                        DATA_TYPE direction[COLUMNS], DATA_TYPE residual[ROWS]) {
  for (int j = 0; j < columns; j++) {
    DATA_TYPE sum = 0;
    for (int i = 0; i < rows; i++) sum = sum + residual[i] * matrix[i * COLUMNS + j];
    shadow[j] = sum;
  }
  for (int i = 0; i < rows; i++) image[i] = SCALAR(0.0);
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) image[i] += matrix[i * COLUMNS + j] * direction[j];
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_1D(matrix, ROWS * COLUMNS);
  ARRAY_1D(shadow, COLUMNS);
  ARRAY_1D(image, ROWS);
  ARRAY_1D(direction, COLUMNS);
  ARRAY_1D(residual, ROWS);
  init(COLUMNS, ROWS, matrix, residual, direction);
  TIMED(kernel_bicg(COLUMNS, ROWS, matrix, shadow, image, direction, residual));
  DUMP(outputs, shadow, COLUMNS);
  DUMP(outputs, image, ROWS);
  return pb_finish(&outputs);
}
