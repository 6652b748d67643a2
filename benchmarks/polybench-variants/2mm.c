// 2mm, spelled differently: both products accumulate with the column inside, the second into rows that were scaled in a
// nest of their own; the factor alpha * A[i][k] is a temporary.
#include "polybench.h"

#define ROWS SIZE(16, 40, 180, 800, 1600)
#define MIDDLE SIZE(18, 50, 190, 900, 1800)
#define INNER SIZE(22, 70, 210, 1100, 2200)
#define COLUMNS SIZE(24, 80, 220, 1200, 2400)

static void init(int rows, int middle, int inner, int columns, DATA_TYPE left[ROWS][INNER],
                 DATA_TYPE right[INNER][MIDDLE], DATA_TYPE last[MIDDLE][COLUMNS], DATA_TYPE result[ROWS][COLUMNS]) {
  for (int i = 0; i < rows; i++)
    for (int k = 0; k < inner; k++) left[i][k] = (DATA_TYPE)((i * k + 1) % rows) / rows;
  for (int k = 0; k < inner; k++)
    for (int j = 0; j < middle; j++) right[k][j] = (DATA_TYPE)(k * (j + 1) % middle) / middle;
  for (int j = 0; j < middle; j++)
    for (int l = 0; l < columns; l++) last[j][l] = (DATA_TYPE)((j * (l + 3) + 1) % columns) / columns;
  for (int i = 0; i < rows; i++)
    for (int l = 0; l < columns; l++) result[i][l] = (DATA_TYPE)(i * (l + 2) % inner) / inner;
}

static void kernel_2mm(int rows, int middle, int inner, int columns, DATA_TYPE alpha, DATA_TYPE beta,
                       DATA_TYPE product[ROWS][MIDDLE], DATA_TYPE left[ROWS][INNER], DATA_TYPE right[INNER][MIDDLE],
                       DATA_TYPE last[MIDDLE][COLUMNS], DATA_TYPE result[ROWS][COLUMNS]) {
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < middle; c++) product[r][c] = SCALAR(0.0);
  for (int r = 0; r < rows; r++)
    for (int k = 0; k < inner; k++) {
      const DATA_TYPE factor = alpha * left[r][k];
      for (int c = 0; c < middle; c++) product[r][c] = product[r][c] + factor * right[k][c];
    }
  for (int c = 0; c < columns; c++)
    for (int r = 0; r < rows; r++) result[r][c] = result[r][c] * beta;
  for (int k = 0; k < middle; k++)
    for (int r = 0; r < rows; r++)
      for (int c = 0; c < columns; c++) result[r][c] = result[r][c] + product[r][k] * last[k][c];
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_2D(product, ROWS, MIDDLE);
  ARRAY_2D(left, ROWS, INNER);
  ARRAY_2D(right, INNER, MIDDLE);
  ARRAY_2D(last, MIDDLE, COLUMNS);
  ARRAY_2D(result, ROWS, COLUMNS);
  init(ROWS, MIDDLE, INNER, COLUMNS, left, right, last, result);
  TIMED(kernel_2mm(ROWS, MIDDLE, INNER, COLUMNS, SCALAR(1.5), SCALAR(1.2), product, left, right, last, result));
  DUMP(outputs, result, ROWS * COLUMNS);
  return pb_finish(&outputs);
}
