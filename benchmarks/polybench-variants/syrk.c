// syrk, spelled differently: linearized arrays, each element's whole sum in a scalar that starts from the scaled element.
#include "polybench.h"

#define DEPTH SIZE(20, 60, 200, 1000, 2000)
#define SIDE SIZE(30, 80, 240, 1200, 2600)

static void init(int side, int depth, DATA_TYPE* result, DATA_TYPE* factor) {
  for (int i = 0; i < side; i++)
    for (int j = 0; j < depth; j++) factor[i * DEPTH + j] = (DATA_TYPE)((i * j + 1) % side) / side;
  for (int i = 0; i < side; i++)
    for (int j = 0; j < side; j++) result[i * SIDE + j] = (DATA_TYPE)((i * j + 2) % depth) / depth;
}

static void kernel_syrk(int side, int depth, DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE* result, DATA_TYPE* factor) {
  for (int row = 0; row < side; row++)
    for (int column = 0; column <= row; column++) {
      DATA_TYPE sum = beta * result[row * SIDE + column];
      for (int k = 0; k < depth; k++) sum += alpha * factor[row * DEPTH + k] * factor[column * DEPTH + k];
      result[row * SIDE + column] = sum;
    }
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_1D(result, SIDE * SIDE);
  ARRAY_1D(factor, SIDE * DEPTH);
  init(SIDE, DEPTH, result, factor);
  TIMED(kernel_syrk(SIDE, DEPTH, SCALAR(1.5), SCALAR(1.2), result, factor));
  DUMP(outputs, result, SIDE * SIDE);
  return pb_finish(&outputs);
}
