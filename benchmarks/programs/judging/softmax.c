// Softmax of each row of a table of scores, and the cross entropy against the classes that are right.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void softmax(float *row, int n) {
  float largest = row[0];
  for (int i = 1; i < n; i++)
    if (row[i] > largest) largest = row[i];
  float total = 0;
  for (int i = 0; i < n; i++) {
    row[i] = expf(row[i] - largest);
    total += row[i];
  }
  for (int i = 0; i < n; i++) row[i] /= total;
}

static void softmax_rows(int rows, int columns, float **table) {
  for (int r = 0; r < rows; r++) softmax(table[r], columns);
}

static double cross_entropy(int rows, float **table, const int *classes) {
  double loss = 0;
  for (int r = 0; r < rows; r++) loss -= log(table[r][classes[r]] + 1e-9);
  return loss / rows;
}

/* What backpropagation starts from: the probabilities, less one where the class is right. */
static void gradient(int rows, int columns, float **table, const int *classes) {
  for (int r = 0; r < rows; r++) {
    table[r][classes[r]] -= 1.0f;
    for (int c = 0; c < columns; c++) table[r][c] /= rows;
  }
}

int main(int argc, char **argv) {
  int rows = argc > 1 ? atoi(argv[1]) : 48000, columns = 1000;
  float **table = malloc(rows * sizeof(float *));
  int *classes = malloc(rows * sizeof(int));
  for (int r = 0; r < rows; r++) {
    table[r] = malloc(columns * sizeof(float));
    classes[r] = (r * 31) % columns;
    for (int c = 0; c < columns; c++) table[r][c] = (float)((r * 17 + c * 29) % 101) / 10 - 5;
  }
  softmax_rows(rows, columns, table);
  double loss = cross_entropy(rows, table, classes);
  gradient(rows, columns, table, classes);
  double sum = 0, absolute = 0;
  for (int r = 0; r < rows; r++) {
    sum += table[r][r % columns];
    absolute += fabs(table[r][(r * 7) % columns]);
  }
  printf("%.12g %.12g %.12g\n", loss, sum * rows, absolute * rows);
  for (int r = 0; r < rows; r++) free(table[r]);
  free(table);
  free(classes);
  return 0;
}
