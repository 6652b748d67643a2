// syr2k, spelled differently: the scaling in a nest of its own, the sum over the inner dimension inside, the scaled
// factors as temporaries. (Not the products: C contracts a product and a sum inside one expression only, so that sums of
// temporaries would round once more than the original.)
#include "polybench.h"

#define DEPTH SIZE(20, 60, 200, 1000, 2000)
#define SIDE SIZE(30, 80, 240, 1200, 2600)

static void init(int side, int depth, DATA_TYPE result[SIDE][SIDE], DATA_TYPE left[SIDE][DEPTH],
                 DATA_TYPE right[SIDE][DEPTH]) {
  for (int i = 0; i < side; i++)
    for (int j = 0; j < depth; j++) {
      left[i][j] = (DATA_TYPE)((i * j + 1) % side) / side;
      right[i][j] = (DATA_TYPE)((i * j + 2) % depth) / depth;
    }
  for (int i = 0; i < side; i++)
    for (int j = 0; j < side; j++) result[i][j] = (DATA_TYPE)((i * j + 3) % side) / depth;
}

static void kernel_syr2k(int side, int depth, DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE result[SIDE][SIDE],
                         DATA_TYPE left[SIDE][DEPTH], DATA_TYPE right[SIDE][DEPTH]) {
  for (int row = 0; row < side; row++)
    for (int column = 0; column <= row; column++) result[row][column] = result[row][column] * beta;
  for (int row = 0; row < side; row++)
    for (int column = 0; column <= row; column++)
      for (int k = 0; k < depth; k++) {
        const DATA_TYPE one = left[column][k] * alpha;
        const DATA_TYPE other = right[column][k] * alpha;
        result[row][column] = one * right[row][k] + other * left[row][k] + result[row][column];
      }
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_2D(result, SIDE, SIDE);
  ARRAY_2D(left, SIDE, DEPTH);
  ARRAY_2D(right, SIDE, DEPTH);
  init(SIDE, DEPTH, result, left, right);
  TIMED(kernel_syr2k(SIDE, DEPTH, SCALAR(1.5), SCALAR(1.2), result, left, right));
  DUMP(outputs, result, SIDE * SIDE);
  return pb_finish(&outputs);
}
