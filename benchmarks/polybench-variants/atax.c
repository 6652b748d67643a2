// atax, spelled differently: the product A x in a nest of its own, with its sum in a scalar; then the transposed product.
#include "polybench.h"

#define HEIGHT SIZE(38, 116, 390, 1900, 1800)
#define WIDTH SIZE(42, 124, 410, 2100, 2200)

static void init(int height, int width, DATA_TYPE matrix[HEIGHT][WIDTH], DATA_TYPE vector[WIDTH]) {
  const DATA_TYPE fwidth = (DATA_TYPE)width;
  for (int i = 0; i < width; i++) vector[i] = 1 + (i / fwidth);
  for (int i = 0; i < height; i++)
    for (int j = 0; j < width; j++) matrix[i][j] = (DATA_TYPE)((i + j) % width) / (5 * height);
}

static void kernel_atax(int height, int width, DATA_TYPE matrix[HEIGHT][WIDTH], DATA_TYPE vector[WIDTH],
                        DATA_TYPE result[WIDTH], DATA_TYPE image[HEIGHT]) {
  for (int r = 0; r < height; r++) {
    DATA_TYPE sum = SCALAR(0.0);
    for (int c = 0; c < width; c++) sum += matrix[r][c] * vector[c];
    image[r] = sum;
  }
  for (int c = 0; c < width; c++) result[c] = SCALAR(0.0);
  for (int c = 0; c < width; c++)
    for (int r = 0; r < height; r++) result[c] += matrix[r][c] * image[r];
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_2D(matrix, HEIGHT, WIDTH);
  ARRAY_1D(vector, WIDTH);
  ARRAY_1D(result, WIDTH);
  ARRAY_1D(image, HEIGHT);
  init(HEIGHT, WIDTH, matrix, vector);
  TIMED(kernel_atax(HEIGHT, WIDTH, matrix, vector, result, image));
  DUMP(outputs, result, WIDTH);
  return pb_finish(&outputs);
}
