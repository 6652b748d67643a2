// floyd-warshall: shortest paths between all pairs of vertices. Computed in int unless told otherwise.
#ifndef DATA_TYPE
#define DATA_TYPE int
#endif
#include "polybench.h"

#define N SIZE(60, 180, 500, 2800, 5600)

static void init(int n, DATA_TYPE path[N][N]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      path[i][j] = i * j % 7 + 1;
      if ((i + j) % 13 == 0 || (i + j) % 7 == 0 || (i + j) % 11 == 0) path[i][j] = 999;
    }
}

static void kernel_floyd_warshall(int n, DATA_TYPE path[N][N]) {
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        path[i][j] = path[i][j] < path[i][k] + path[k][j] ? path[i][j] : path[i][k] + path[k][j];
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  ARRAY_2D(path, N, N);
  init(N, path);
  TIMED(kernel_floyd_warshall(N, path));
  DUMP(outputs, path, N * N);
  return pb_finish(&outputs);
}
