// nussinov: RNA folding, the largest number of base pairs of every subsequence. Computed in int unless told otherwise.
#ifndef DATA_TYPE
#define DATA_TYPE int
#endif
#include "polybench.h"

#define N SIZE(60, 180, 500, 2500, 5500)

typedef char base;  // 0 to 3; two bases pair where they add up to 3

#define match(b1, b2) (((b1) + (b2)) == 3 ? 1 : 0)
#define max_score(s1, s2) ((s1 >= s2) ? s1 : s2)

static void init(int n, base seq[N], DATA_TYPE table[N][N]) {
  for (int i = 0; i < n; i++) seq[i] = (base)((i + 1) % 4);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) table[i][j] = 0;
}

static void kernel_nussinov(int n, base seq[N], DATA_TYPE table[N][N]) {
  for (int i = n - 1; i >= 0; i--)
    for (int j = i + 1; j < n; j++) {
      if (j - 1 >= 0) table[i][j] = max_score(table[i][j], table[i][j - 1]);
      if (i + 1 < n) table[i][j] = max_score(table[i][j], table[i + 1][j]);
      if (j - 1 >= 0 && i + 1 < n) {
        // Neighbours cannot pair.
        if (i < j - 1)
          table[i][j] = max_score(table[i][j], table[i + 1][j - 1] + match(seq[i], seq[j]));
        else
          table[i][j] = max_score(table[i][j], table[i + 1][j - 1]);
      }
      for (int k = i + 1; k < j; k++) table[i][j] = max_score(table[i][j], table[i][k] + table[k + 1][j]);
    }
}

int main(int argc, char** argv) {
  pb_outputs outputs = pb_arguments(argc, argv);
  base* seq = (base*)pb_allocate(sizeof(base) * N);
  ARRAY_2D(table, N, N);
  init(N, seq, table);
  TIMED(kernel_nussinov(N, seq, table));
  DUMP(outputs, table, N * N);
  return pb_finish(&outputs);
}
