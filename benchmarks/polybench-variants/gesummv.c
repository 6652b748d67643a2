// gesummv, spelled differently: the two products in two nests, with their sums in scalars, and the combination in a third.
#include "polybench.h"

#define SIDE SIZE(30, 90, 250, 1300, 2800)

static void init(int side, DATA_TYPE first[SIDE][SIDE], DATA_TYPE second[SIDE][SIDE], DATA_TYPE in[SIDE]) {
  for (int i = 0; i < side; i++) {
    in[i] = (DATA_TYPE)(i % side) / side;
    for (int j = 0; j < side; j++) {
      first[i][j] = (DATA_TYPE)((i * j + 1) % side) / side;
      second[i][j] = (DATA_TYPE)((i * j + 2) % side) / side;
    }
  }
}

static void kernel_gesummv(int side, DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE first[SIDE][SIDE],
                           DATA_TYPE second[SIDE][SIDE], DATA_TYPE image[SIDE], DATA_TYPE in[SIDE],
                           DATA_TYPE out[SIDE]) {
  for (int row = 0; row < side; row++) {
    DATA_TYPE sum = SCALAR(0.0);
    for (int column = 0; column < side; column++) sum += first[row][column] * in[column];
    image[row] = sum;
  }
  for (int row = 0; row < side; row++) {
    DATA_TYPE sum = SCALAR(0.0);
    for (int column = 0; column < side; column++) sum += second[row][column] * in[column];
    out[row] = sum;
  }
  for (int row = 0; row < side; row++) {
    const DATA_TYPE scaled = beta * out[row];
    out[row] = alpha * image[row] + scaled;
  }
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_2D(first, SIDE, SIDE);
  ARRAY_2D(second, SIDE, SIDE);
  ARRAY_1D(image, SIDE);
  ARRAY_1D(in, SIDE);
  ARRAY_1D(out, SIDE);
  init(SIDE, first, second, in);
  TIMED(kernel_gesummv(SIDE, SCALAR(1.5), SCALAR(1.2), first, second, image, in, out));
  DUMP(outputs, out, SIDE);
  return pb_finish(&outputs);
}
