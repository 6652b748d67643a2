// mvt, spelled differently: the transposed product first and row by row, then the other with its sum in a scalar; the
// matrix is linearized.
#include "polybench.h"

#define SIDE SIZE(40, 120, 400, 2000, 4000)

static void init(int side, DATA_TYPE a[SIDE], DATA_TYPE b[SIDE], DATA_TYPE c[SIDE], DATA_TYPE d[SIDE],
                 DATA_TYPE* matrix) {
  for (int i = 0; i < side; i++) {
    a[i] = (DATA_TYPE)(i % side) / side;
    b[i] = (DATA_TYPE)((i + 1) % side) / side;
    c[i] = (DATA_TYPE)((i + 3) % side) / side;
    d[i] = (DATA_TYPE)((i + 4) % side) / side;
    for (int j = 0; j < side; j++) matrix[i * SIDE + j] = (DATA_TYPE)(i * j % side) / side;
  }
}

static void kernel_mvt(int side, DATA_TYPE a[SIDE], DATA_TYPE b[SIDE], DATA_TYPE c[SIDE], DATA_TYPE d[SIDE],
                       DATA_TYPE* matrix) {
  for (int row = 0; row < side; row++)
    for (int column = 0; column < side; column++) b[column] += matrix[row * SIDE + column] * d[row];
  for (int row = 0; row < side; row++) {
    DATA_TYPE sum = a[row];
    for (int column = 0; column < side; column++) sum += matrix[row * SIDE + column] * c[column];
    a[row] = sum;
  }
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_1D(matrix, SIDE * SIDE);
  ARRAY_1D(a, SIDE);
  ARRAY_1D(b, SIDE);
  ARRAY_1D(c, SIDE);
  ARRAY_1D(d, SIDE);
  init(SIDE, a, b, c, d, matrix);
  TIMED(kernel_mvt(SIDE, a, b, c, d, matrix));
  DUMP(outputs, a, SIDE);
  DUMP(outputs, b, SIDE);
  return pb_finish(&outputs);
}
