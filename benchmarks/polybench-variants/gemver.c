// gemver, spelled differently: the update in two statements and column by column, the products with the row outside or
// the sum in a scalar.
#include "polybench.h"

#define SIDE SIZE(40, 120, 400, 2000, 4000)

static void init(int side, DATA_TYPE matrix[SIDE][SIDE], DATA_TYPE a[SIDE], DATA_TYPE b[SIDE], DATA_TYPE c[SIDE],
                 DATA_TYPE d[SIDE], DATA_TYPE out[SIDE], DATA_TYPE mid[SIDE], DATA_TYPE in[SIDE],
                 DATA_TYPE shift[SIDE]) {
  const DATA_TYPE fside = (DATA_TYPE)side;
  for (int i = 0; i < side; i++) {
    a[i] = i;
    c[i] = ((i + 1) / fside) / SCALAR(2.0);
    b[i] = ((i + 1) / fside) / SCALAR(4.0);
    d[i] = ((i + 1) / fside) / SCALAR(6.0);
    in[i] = ((i + 1) / fside) / SCALAR(8.0);
    shift[i] = ((i + 1) / fside) / SCALAR(9.0);
    mid[i] = SCALAR(0.0);
    out[i] = SCALAR(0.0);
    for (int j = 0; j < side; j++) matrix[i][j] = (DATA_TYPE)(i * j % side) / side;
  }
}

static void kernel_gemver(int side, DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE matrix[SIDE][SIDE], DATA_TYPE a[SIDE],
                          DATA_TYPE b[SIDE], DATA_TYPE c[SIDE], DATA_TYPE d[SIDE], DATA_TYPE out[SIDE],
                          DATA_TYPE mid[SIDE], DATA_TYPE in[SIDE], DATA_TYPE shift[SIDE]) {
  for (int column = 0; column < side; column++)
    for (int row = 0; row < side; row++) {
      matrix[row][column] += a[row] * b[column];
      matrix[row][column] += c[row] * d[column];
    }
  for (int row = 0; row < side; row++)
    for (int column = 0; column < side; column++) mid[column] += beta * matrix[row][column] * in[row];
  for (int k = 0; k < side; k++) mid[k] += shift[k];
  for (int row = 0; row < side; row++) {
    DATA_TYPE sum = out[row];
    for (int column = 0; column < side; column++) sum += alpha * matrix[row][column] * mid[column];
    out[row] = sum;
  }
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_2D(matrix, SIDE, SIDE);
  ARRAY_1D(a, SIDE);
  ARRAY_1D(b, SIDE);
  ARRAY_1D(c, SIDE);
  ARRAY_1D(d, SIDE);
  ARRAY_1D(out, SIDE);
  ARRAY_1D(mid, SIDE);
  ARRAY_1D(in, SIDE);
  ARRAY_1D(shift, SIDE);
  init(SIDE, matrix, a, b, c, d, out, mid, in, shift);
  TIMED(kernel_gemver(SIDE, SCALAR(1.5), SCALAR(1.2), matrix, a, b, c, d, out, mid, in, shift));
  DUMP(outputs, out, SIDE);
  return pb_finish(&outputs);
}
