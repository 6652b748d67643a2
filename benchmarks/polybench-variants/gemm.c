// gemm, spelled differently: linearized arrays, the scaling by beta in a nest of its own, the row inside and a temporary
// for alpha * A[i][k].
#include "polybench.h"

#define ROWS SIZE(20, 60, 200, 1000, 2000)
#define COLUMNS SIZE(25, 70, 220, 1100, 2300)
#define INNER SIZE(30, 80, 240, 1200, 2600)

static void init(int rows, int columns, int inner, DATA_TYPE* result, DATA_TYPE* left, DATA_TYPE* right) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) result[i * COLUMNS + j] = (DATA_TYPE)((i * j + 1) % rows) / rows;
  for (int i = 0; i < rows; i++)
    for (int k = 0; k < inner; k++) left[i * INNER + k] = (DATA_TYPE)(i * (k + 1) % inner) / inner;
  for (int k = 0; k < inner; k++)
    for (int j = 0; j < columns; j++) right[k * COLUMNS + j] = (DATA_TYPE)(k * (j + 2) % columns) / columns;
}

static void kernel_gemm(int rows, int columns, int inner, DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE* result,
                        DATA_TYPE* left, DATA_TYPE* right) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) result[i * COLUMNS + j] = beta * result[i * COLUMNS + j];
  for (int k = 0; k < inner; k++)
    for (int i = 0; i < rows; i++) {
      const DATA_TYPE factor = alpha * left[i * INNER + k];
      for (int j = 0; j < columns; j++) result[i * COLUMNS + j] += factor * right[k * COLUMNS + j];
    }
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_1D(result, ROWS * COLUMNS);
  ARRAY_1D(left, ROWS * INNER);
  ARRAY_1D(right, INNER * COLUMNS);
  init(ROWS, COLUMNS, INNER, result, left, right);
  TIMED(kernel_gemm(ROWS, COLUMNS, INNER, SCALAR(1.5), SCALAR(1.2), result, left, right));
  DUMP(outputs, result, ROWS * COLUMNS);
  return pb_finish(&outputs);
}
